"""A real server process, and devices that send to it whatever happens.

Every report says another cell of one large table, so that a cell counted twice is a
report counted twice, and an acknowledged cell not counted is a report lost.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Self

from deniable.channels import fresh_id
from deniable.collection import Collection, listen, open_store
from deniable.collection.simulating import Line
from deniable.device import reports_body
from deniable.errors import CollectionError
from deniable.protocol import Report, design_for, first_block

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from deniable.schema import Survey

SIDE = 256
LOADERS = 6
DROPPED = 0.1
PATIENCE = 120.0

_ports = itertools.count()

SURVEY = """
deniable = 1
name = "cells"
[privacy]
epsilon = 8
design = "joint"
channel = "k-ary"
block_size = 100
[[pages]]
[[pages.elements]]
type = "text"
inputType = "number"
name = "high"
bins = {bins}
[[pages.elements]]
type = "text"
inputType = "number"
name = "low"
bins = {bins}
"""


def lay_survey(folder: Path) -> Path:
    """Write the survey of many cells."""
    path = folder / "survey.toml"
    path.write_text(SURVEY.format(bins=list(range(SIDE + 1))))
    return path


def free_port() -> int:
    """Return a port that stays free while a server is down.

    It lies below those that systems hand out by themselves, to listeners at port 0 and to
    connections that go out; test processes that run side by side look in different places.
    """
    while True:
        port = 20_000 + (97 * os.getpid() + next(_ports)) % 10_000
        with contextlib.suppress(CollectionError):
            listen("127.0.0.1", port).close()
            return port


class Server:
    """A real server process, with its workers in a group of their own."""

    def __init__(self, survey: Path, where: str, workers: int) -> None:
        """Choose an address; nothing runs yet."""
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._command = [
            *(sys.executable, "-m", "deniable", "serve", str(survey), "--store", where),
            *("--port", str(self.port), "--workers", str(workers)),
        ]
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Start it."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing running, whatever happened."""
        self.kill()

    def start(self) -> None:
        """Start and wait until it answers."""
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(
            self._command, stdout=quiet, stderr=quiet, start_new_session=True
        )
        deadline = time.monotonic() + PATIENCE
        while not self.answers():
            assert time.monotonic() < deadline, "the server did not start"
            assert self._process.poll() is None, "the server ended"
            time.sleep(0.05)

    def answers(self) -> bool:
        """Tell whether it is healthy."""
        with contextlib.closing(Line(self.address)) as line:
            return line.send(self.address + "/v1/health", b"").status == 405

    @property
    def pid(self) -> int:
        """Return the number of the process that was started."""
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """End it and its workers at once, with no chance to tidy up."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


class Load:
    """Devices that send, lose some of the answers, and send the same bytes again."""

    def __init__(self, address: str, survey: Survey) -> None:
        """Prepare; nobody sends yet."""
        design = design_for(survey)
        self._design, self._block = design.digest, first_block(design).digest
        self._url = f"{address}/v1/surveys/{survey.name}/reports"
        self._address = address
        self._lock = threading.Lock()
        self._next = 0
        self._ended = threading.Event()
        self._given_up = threading.Event()
        self.acknowledged: set[int] = set()
        self.lost: set[int] = set()  # acknowledged to nobody: the answer got lost
        self._put_off: Counter[int] = Counter()
        self._threads = [threading.Thread(target=self._send_on) for _ in range(LOADERS)]

    def __enter__(self) -> Self:
        """Let everybody send."""
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Let nobody go on, whatever happened."""
        self._given_up.set()
        self.end()

    def wait_for(self, more: int) -> None:
        """Wait until so many more reports were acknowledged."""
        wanted = len(self.acknowledged) + more
        self._wait(lambda: len(self.acknowledged) >= wanted)

    def wait_until_all_are_put_off(self, times: int) -> None:
        """Wait until every sender was told so often to come later."""
        before = self._put_off.copy()
        numbers = [thread.ident or 0 for thread in self._threads]
        self._wait(lambda: all(self._put_off[n] >= before[n] + times for n in numbers))

    def end(self) -> None:
        """Let everybody deliver what they hold, and stop."""
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _wait(self, is_done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not is_done():
            assert time.monotonic() < deadline, "it never comes to that"
            assert all(thread.is_alive() for thread in self._threads)
            time.sleep(0.005)

    def _send_on(self) -> None:
        chance = random.Random(threading.get_ident())  # noqa: S311 -- which answers are lost
        with contextlib.closing(Line(self._address)) as line:
            self._send(line, chance)

    def _send(self, line: Line, chance: random.Random) -> None:
        while not self._ended.is_set():
            with self._lock:
                cell = self._next
                self._next += 1
            report = Report(self._design, self._block, fresh_id(), 0, ((cell,),))
            body = reports_body([report])
            while not self._given_up.is_set():
                reply = line.send(self._url, body)
                assert reply.status in {200, 503}, reply.body
                if reply.status == 503:
                    self._put_off[threading.get_ident()] += 1
                    time.sleep(0.02)
                    continue
                arrives = chance.random() >= DROPPED
                with self._lock:
                    (self.acknowledged if arrives else self.lost).add(cell)
                if arrives:
                    break


def check_counts(where: str, acknowledged: set[int], *, block_size: int = 100) -> None:
    """Assert that nothing acknowledged was lost, nothing counts twice, and no block has a gap."""
    store = open_store(where)
    try:
        check_collection(Collection(store), acknowledged, block_size=block_size)
    finally:
        store.close()


def check_collection(
    collection: Collection, acknowledged: set[int], *, block_size: int = 100
) -> None:
    """Assert the same of a collection; a ``block_size`` of 0 leaves the blocks' sizes open."""
    tally = collection.tally("cells")
    with collection.store.reading() as reading:
        row = reading.survey("cells")
        assert row is not None
        blocks = reading.blocks(row.key)
    counts: Counter[int] = Counter()
    for stratum, seen in tally.counts.items():
        assert stratum.view == 0
        for (cell,), count in seen.items():
            counts[cell] += count
    assert {cell for cell, count in counts.items() if count != 1} == set()
    assert acknowledged <= set(counts)
    assert [block.number for block in blocks] == list(range(len(blocks)))
    closed = [block.count for block in blocks if not block.is_open]
    assert not block_size or set(closed) <= {block_size}
