"""Group commit: one thread writes, and whatever waits meanwhile is written together next.

A commit costs a turn of the disk, however many reports are in it, and while it lasts two
threads want the one interpreter. So a group is handed over when the event loop brought no
more reports in a round. Under load the groups grow by themselves; a lone report waits for
nobody.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import Counter, deque
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from deniable.errors import BusyError, DeniableError, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deniable.collection.arrival import Arrival, Fate

    Refusals: TypeAlias = dict[int, Counter[str]]
    Keep: TypeAlias = Callable[[Sequence[Arrival], Refusals], Sequence[Fate]]

LARGEST_GROUP = 20_000
LARGEST_QUEUE = 200_000
MOST_ROUNDS = 8
"""So often a group that still grows is given another round of the event loop."""


class _Waiting(NamedTuple):
    """A request's arrivals and where its fates are awaited."""

    arrivals: Sequence[Arrival]
    future: asyncio.Future[Sequence[Fate]]
    loop: asyncio.AbstractEventLoop


class GroupCommit:
    """Takes arrivals from many requests and gives each request its fates after a commit."""

    def __init__(self, keep: Keep) -> None:
        """Start the writing thread.

        Args:
            keep: Keeps arrivals and counts refusals, by survey and reason, in one durable
                transaction, and returns the fates.
        """
        self._keep = keep
        self._queue: deque[_Waiting] = deque()
        self._refusals: Refusals = {}
        self._changed = threading.Condition()
        self._is_due = False
        self._gathering: asyncio.AbstractEventLoop | None = None
        self._is_ready = False
        self._stopped = False
        self.waiting = 0
        self._thread = threading.Thread(target=self._run, name="group-commit", daemon=True)
        self._thread.start()

    async def put(self, arrivals: Sequence[Arrival]) -> Sequence[Fate]:
        """Return the fates of arrivals once they are durable.

        Raises:
            BusyError: So many reports wait that another one had better come later.
            StorageError: Nothing of these arrivals was kept, as far as is known.
        """
        loop = asyncio.get_running_loop()
        waiting = _Waiting(arrivals, loop.create_future(), loop)
        with self._changed:
            if self._stopped or self.waiting > LARGEST_QUEUE:
                raise BusyError("too many reports wait to be kept", expected="a later try")
            self._queue.append(waiting)
            self.waiting += len(arrivals)
            is_gathering, self._gathering = self._gathering is loop, loop
        if not is_gathering:
            loop.call_soon(self._hand_over, loop, 0, MOST_ROUNDS)
        return await waiting.future

    def _hand_over(self, loop: asyncio.AbstractEventLoop, before: int, rounds: int) -> None:
        """Let the group be written, unless this round of the loop brought more for it."""
        if self.waiting > before and rounds:
            loop.call_soon(self._hand_over, loop, self.waiting, rounds - 1)
            return
        with self._changed:
            self._gathering = None
            self._is_ready = True
            self._changed.notify()

    def refuse(self, survey: int, reason: str) -> None:
        """Count a refused report; it is written with the next group or flush."""
        with self._changed:
            self._refusals.setdefault(survey, Counter())[reason] += 1

    def flush(self) -> None:
        """Write the counted refusals even if no report comes."""
        with self._changed:
            self._is_due = bool(self._refusals)
            self._changed.notify()

    def stop(self) -> None:
        """Write what waits, and end."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not (self._is_ready or self._is_due or self._stopped):
                    self._changed.wait()
                group = self._take()
                refusals, self._refusals = self._refusals, {}
                self._is_ready, self._is_due = bool(self._queue), False
                if self._stopped and not group and not refusals:
                    return
            if group or refusals:
                self._write(group, refusals)

    def _take(self) -> list[_Waiting]:
        group: list[_Waiting] = []
        size = 0
        while self._queue and (not group or size + len(self._queue[0].arrivals) <= LARGEST_GROUP):
            group.append(self._queue.popleft())
            size += len(group[-1].arrivals)
        self.waiting -= size
        return group

    def _write(self, group: list[_Waiting], refusals: Refusals) -> None:
        arrivals = [arrival for waiting in group for arrival in waiting.arrivals]
        try:
            fates = self._keep(arrivals, refusals)
        except DeniableError as error:
            self._fail(group, refusals, error)
        except Exception as error:  # noqa: BLE001 - whoever waits must hear that nothing was kept
            failure = StorageError("the store failed", given=type(error).__name__)
            self._fail(group, refusals, failure)
        else:
            answers: list[Sequence[Fate]] = []
            start = 0
            for waiting in group:
                answers.append(fates[start : start + len(waiting.arrivals)])
                start += len(waiting.arrivals)
            _tell(group, answers)

    def _fail(self, group: list[_Waiting], refusals: Refusals, error: DeniableError) -> None:
        """Tell everybody; the refusals are counted another time, unless the server stops."""
        with self._changed:
            if not self._stopped:
                for survey, reasons in refusals.items():
                    self._refusals.setdefault(survey, Counter()).update(reasons)
        _tell(group, [error] * len(group))


def _tell(group: list[_Waiting], answers: Sequence[Sequence[Fate] | DeniableError]) -> None:
    """Answer all requests of each event loop in one call."""
    by_loop: dict[asyncio.AbstractEventLoop, list[int]] = {}
    for place, waiting in enumerate(group):
        by_loop.setdefault(waiting.loop, []).append(place)
    for loop, places in by_loop.items():
        with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody waits there
            loop.call_soon_threadsafe(_answer, [(group[p].future, answers[p]) for p in places])


def _answer(
    results: list[tuple[asyncio.Future[Sequence[Fate]], Sequence[Fate] | DeniableError]],
) -> None:
    for future, result in results:
        if future.done():
            continue  # the client has gone
        if isinstance(result, DeniableError):
            future.set_exception(result)
        else:
            future.set_result(result)
