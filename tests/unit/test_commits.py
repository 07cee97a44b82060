"""Group commit: what is written together, and who hears of it."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import pytest

from deniable.collection.arrival import ACCEPTED, Arrival
from deniable.collection.commits import GroupCommit
from deniable.errors import BusyError, StorageError

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Coroutine, Iterator, Sequence

    from deniable.collection.arrival import Fate


Told = TypeVar("Told")


class Notebook:
    """Keeps nothing, and remembers how many arrivals came together."""

    def __init__(self) -> None:
        self.groups: list[int] = []
        self.refused: list[dict[int, Counter[str]]] = []
        self.failing = False

    def keep(
        self, arrivals: Sequence[Arrival], refusals: dict[int, Counter[str]]
    ) -> Sequence[Fate]:
        """Remember a group."""
        if self.failing:
            raise OSError
        self.groups.append(len(arrivals))
        self.refused.append(refusals)
        return [ACCEPTED] * len(arrivals)


@pytest.fixture
def notebook() -> Notebook:
    """Return an empty one."""
    return Notebook()


@pytest.fixture
def commits(notebook: Notebook) -> Iterator[GroupCommit]:
    """Start the writing thread, and end it."""
    found = GroupCommit(notebook.keep)
    yield found
    found.stop()


def run(coroutine: Coroutine[object, object, Told]) -> Told:
    """Run in a thread of its own: a browser test before may have left its loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def arrival(name: str = "a") -> Arrival:
    """Return a report that arrived."""
    return Arrival(1, name, 0, 0, "[[0]]", "")


def test_reports_that_come_in_one_round_of_the_loop_are_one_group(
    commits: GroupCommit, notebook: Notebook
) -> None:
    """The first of them is not written by itself: that would be a turn of the disk for one."""

    async def come() -> list[Sequence[Fate]]:
        return await asyncio.gather(*(commits.put([arrival(str(n))]) for n in range(50)))

    assert run(come()) == [[ACCEPTED]] * 50
    assert notebook.groups == [50]


def test_a_group_is_given_another_round_while_it_grows(
    commits: GroupCommit, notebook: Notebook
) -> None:
    """Reports that come in the very next rounds belong to it; it does not wait for ever."""

    async def later(rounds: int) -> Sequence[Fate]:
        for _ in range(rounds):
            time.sleep(0.0005)  # noqa: ASYNC251 -- lets the writing thread have the interpreter
            await asyncio.sleep(0)
        return await commits.put([arrival(str(rounds))])

    async def come(count: int) -> None:
        await asyncio.gather(*(later(rounds) for rounds in range(count)))

    run(come(5))
    assert notebook.groups == [5]
    notebook.groups.clear()
    run(come(40))
    assert sum(notebook.groups) == 40
    assert len(notebook.groups) > 1


def test_a_lone_report_is_answered(commits: GroupCommit, notebook: Notebook) -> None:
    """One after another, and by another event loop than the first one's, which is gone."""
    for _ in range(3):
        assert run(commits.put([arrival()])) == [ACCEPTED]
    assert notebook.groups == [1, 1, 1]


def test_a_loop_that_ends_before_it_hands_over_holds_nobody_up(
    commits: GroupCommit, notebook: Notebook
) -> None:
    """A request whose loop is torn down with its report in the queue does not stop the others."""

    def tear() -> None:
        loop = asyncio.new_event_loop()
        task = loop.create_task(commits.put([arrival("torn")]))
        loop.call_soon(loop.stop)
        loop.run_forever()  # the report is queued, and nobody was told
        loop._ready.clear()  # type: ignore[attr-defined]  # noqa: SLF001 -- as if it crashed here
        task.cancel()
        loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
        loop.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(tear).result()
    assert run(commits.put([arrival("next")])) == [ACCEPTED]
    assert sum(notebook.groups) == 2


def test_refusals_are_written_when_due_and_with_the_next_group(
    commits: GroupCommit, notebook: Notebook
) -> None:
    """A flush writes them alone; without one they wait for a report."""
    written = threading.Event()
    keep = notebook.keep

    def noticed(arrivals: Sequence[Arrival], refusals: dict[int, Counter[str]]) -> Sequence[Fate]:
        done = keep(arrivals, refusals)
        written.set()
        return done

    commits._keep = noticed  # noqa: SLF001 -- to see when
    commits.refuse(1, "bad-report")
    commits.flush()
    assert written.wait(60)
    commits.refuse(1, "bad-report")
    run(commits.put([arrival()]))
    assert [sum(one[1].values()) for one in notebook.refused] == [1, 1]
    assert notebook.groups == [0, 1]


def test_a_failure_is_told_to_everybody_and_the_next_group_goes_on(
    commits: GroupCommit, notebook: Notebook
) -> None:
    """Nothing is acknowledged that was not kept."""
    notebook.failing = True
    with pytest.raises(StorageError):
        run(commits.put([arrival()]))
    notebook.failing = False
    assert run(commits.put([arrival()])) == [ACCEPTED]


def test_after_the_end_a_report_had_better_come_later(notebook: Notebook) -> None:
    """What comes too late is refused, and not lost in a queue that nobody reads."""
    commits = GroupCommit(notebook.keep)
    commits.stop()
    with pytest.raises(BusyError):
        run(commits.put([arrival()]))
