"""Simulated respondents: real devices, real HTTP, answers that only the simulation knows."""

from __future__ import annotations

import http
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deniable.collection.line import Line, stranger
from deniable.collection.offer import FOLLOWING
from deniable.device import Agreement, Answer, Device, MemoryStorage, submit
from deniable.errors import DeniableError, SubmissionError
from deniable.protocol import block_from_bytes, design_from_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from deniable.protocol import Block, Design

    Advance = Callable[[int], None]

__all__ = ["Line", "Notice", "Outcome", "simulate"]

FRESH_SECONDS = 0.5
PREPARING_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of simulated respondents.

    Attributes:
        arrived: How many reports the server kept.
        refused: What the others were told, by the server or by their own device: how many of
            them each sentence. No sentence holds an answer, as no error does.
        seconds: How long it took.
    """

    arrived: int
    refused: Counter[str]
    seconds: float


class Notice:
    """What a server offers now: read again when it is old, checked against its digests.

    Where channels follow the reports every device reads it anew, as a respondent's would.
    """

    def __init__(self, address: str, survey: str) -> None:
        """Remember which survey of which server."""
        self._line = Line(address)
        self._survey = survey
        self._lock = threading.Lock()
        self._read_at = 0.0
        self._design: Design | None = None
        self._block: Block | None = None

    def read(self) -> tuple[Design, Block]:
        """Return the design and the open block."""
        asked = time.monotonic()
        with self._lock:
            began = time.monotonic()
            if self._design is None or self._block is None or self._is_old(self._design, asked):
                found = self._offered()
                if self._design is None:
                    body = self._line.get(f"/v1/designs/{found['design']}")
                    self._design = design_from_bytes(body, found["design"])
                if self._block is None or self._block.digest != found["block"]:
                    body = self._line.get(f"/v1/blocks/{found['block']}")
                    self._block = block_from_bytes(body, self._design, found["block"])
                self._read_at = began
            return self._design, self._block

    def close(self) -> None:
        """Hang up."""
        self._line.close()

    def _offered(self) -> dict[str, str]:
        """Return what the server offers, waiting while it prepares the next block."""
        deadline = time.monotonic() + PREPARING_SECONDS
        while True:
            found = self._described()
            if found["block"] is not None:
                return found
            if found["state"] != "published":
                raise SubmissionError("the survey is closed", expected="an open one")
            if time.monotonic() > deadline:
                raise SubmissionError("the next block is being prepared", expected="a later call")
            time.sleep(FRESH_SECONDS)

    def _described(self) -> dict[str, Any]:
        """Return what the server says of the survey now."""
        reply = self._line.ask("GET", f"/v1/surveys/{self._survey}")
        found = self._line.read(reply)
        if reply.status == http.HTTPStatus.NOT_FOUND:
            problem = f"no survey of this name is published at {self._line.address}"
            raise SubmissionError(problem, given=self._survey, expected="a survey that it serves")
        if not {"design", "block", "state"} <= set(found):
            raise stranger(self._line.address, reply)
        return found

    def _is_old(self, design: Design, asked: float) -> bool:
        if design.rule.name in FOLLOWING:
            return self._read_at < asked  # one reading serves all who wait for it
        return asked - self._read_at > FRESH_SECONDS


def simulate(
    address: str,
    survey: str,
    answers: Iterable[Sequence[int]],
    *,
    epsilon: float,
    threads: int = 32,
    advance: Callable[[int], None] = lambda _: None,
) -> Outcome:
    """Let one device for each answer respond over HTTP.

    Args:
        address: The server, such as ``http://localhost:8000``.
        survey: The survey's name.
        answers: One cell for each attribute, one sequence for each respondent.
        epsilon: What each respondent agrees to.
        threads: How many respondents are at it at once.
        advance: Told how many respondents are done, as they are.
    """
    with closing(Notice(address, survey)) as notice, ExitStack() as opened:
        notice.read()
        began = time.monotonic()
        own = threading.local()
        url = f"{address.rstrip('/')}/v1/surveys/{survey}/reports"
        agreement = Agreement(epsilon)

        def respond(answer: Sequence[int]) -> str | None:
            if not hasattr(own, "line"):
                own.line = opened.enter_context(closing(Line(address)))
            design, block = notice.read()
            device = Device(MemoryStorage(), agreement)
            try:
                device.respond(design, block, Answer(answer, design.sizes))
                submit(device, url, send=own.line.send)
            except DeniableError as error:
                return str(error)
            finally:
                advance(1)
            return None

        with ThreadPoolExecutor(threads) as pool:
            told = Counter(_in_pieces(pool, respond, answers))
    arrived = told.pop(None, 0)
    refused = Counter({str(sentence): count for sentence, count in told.items()})
    return Outcome(arrived, refused, time.monotonic() - began)


def _in_pieces(
    pool: ThreadPoolExecutor,
    respond: Callable[[Sequence[int]], str | None],
    answers: Iterable[Sequence[int]],
    size: int = 512,
) -> Iterator[str | None]:
    """Respond for all answers without holding them all."""
    piece: list[Sequence[int]] = []
    for answer in answers:
        piece.append(answer)
        if len(piece) == size:
            yield from pool.map(respond, piece)
            piece = []
    yield from pool.map(respond, piece)
