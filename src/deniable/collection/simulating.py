"""Simulated respondents: real devices, real HTTP, answers that only the simulation knows."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from deniable.collection.offer import FOLLOWING
from deniable.device import Agreement, Answer, Device, MemoryStorage, Reply, submit
from deniable.errors import DeniableError, SubmissionError
from deniable.protocol import block_from_bytes, design_from_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from deniable.protocol import Block, Design

    Advance = Callable[[int], None]

FRESH_SECONDS = 0.5
TIMEOUT_SECONDS = 30.0
PREPARING_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of simulated respondents: how many arrived, and what the others were told."""

    arrived: int
    refused: Counter[str]
    seconds: float


class Line:
    """A connection that is kept open: what a device sends with, many times over."""

    def __init__(self, address: str) -> None:
        """Remember where to call; the connection opens when first used."""
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            problem = "this is no address of a server"
            raise SubmissionError(problem, given=address, expected="such as http://localhost:8000")
        kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
        self._connection = kinds[parts.scheme](parts.hostname, parts.port, timeout=TIMEOUT_SECONDS)

    def close(self) -> None:
        """Hang up; the next call opens the connection again."""
        self._connection.close()

    def get(self, path: str, token: str = "") -> bytes:
        """Return what stands at a path; some of it needs a token."""
        reply = self._ask("GET", path, b"", token)
        if reply.status != http.HTTPStatus.OK:
            problem = "the server does not offer this survey"
            raise SubmissionError(problem, given=reply.status, expected="a published survey")
        return reply.body

    def post_tally(self, url: str, body: bytes, token: str) -> str:
        """Send a tally into a server; return whether it was new there."""
        reply = self._ask("POST", urlsplit(url).path, body, token)
        found = json.loads(reply.body or b"{}")
        if reply.status not in {200, 201}:
            given = found.get("detail", reply.status)
            raise SubmissionError("the server did not take the tally", given=given)
        return str(found["status"])

    def send(self, url: str, body: bytes) -> Reply:
        """Post a body, as ``deniable.device.submit`` asks; unreachable is status 503."""
        return self._ask("POST", urlsplit(url).path, body)

    def _ask(self, method: str, path: str, body: bytes, token: str = "") -> Reply:
        headers = {"Content-Type": "application/json"} if body else {}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            self._connection.request(method, path, body or None, headers)
            answer = self._connection.getresponse()
            text = answer.getheader("Retry-After")
            wait = float(text) if text and text.isdigit() else None
            return Reply(answer.status, answer.read(), wait)
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return Reply(503)


class Notice:
    """What a server offers now: read again when it is old, checked against its digests.

    Where channels follow the reports every device reads it anew, as a respondent's would.
    """

    def __init__(self, address: str, survey: str) -> None:
        """Remember which survey of which server."""
        self._line = Line(address)
        self._path = f"/v1/surveys/{survey}"
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
            found: dict[str, str] = json.loads(self._line.get(self._path))
            if found["block"] is not None:
                return found
            if found["state"] != "published":
                raise SubmissionError("the survey is closed", expected="an open one")
            if time.monotonic() > deadline:
                raise SubmissionError("the next block is being prepared", expected="a later call")
            time.sleep(FRESH_SECONDS)

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
    notice = Notice(address, survey)
    notice.read()
    began = time.monotonic()
    opened: list[Line] = []
    own = threading.local()
    url = f"{address.rstrip('/')}/v1/surveys/{survey}/reports"
    agreement = Agreement(epsilon)

    def respond(answer: Sequence[int]) -> str | None:
        if not hasattr(own, "line"):
            own.line = Line(address)
            opened.append(own.line)
        design, block = notice.read()
        device = Device(MemoryStorage(), agreement)
        try:
            device.respond(design, block, Answer(answer, design.sizes))
            submit(device, url, send=own.line.send)
        except DeniableError as error:
            return error.code
        finally:
            advance(1)
        return None

    with ThreadPoolExecutor(threads) as pool:
        told = Counter(_in_pieces(pool, respond, answers))
    notice.close()
    for line in opened:
        line.close()
    arrived = told.pop(None, 0)
    return Outcome(arrived, Counter({str(k): n for k, n in told.items()}), time.monotonic() - began)


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
