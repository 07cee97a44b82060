"""A server killed at any moment has lost nothing it acknowledged and counts nothing twice.

Every report says another cell of one large table, so that a cell counted twice is a
report counted twice, and an acknowledged cell not counted is a report lost.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from deniable.channels import fresh_id
from deniable.collection.service import Collection
from deniable.collection.serving import listen
from deniable.collection.simulating import Line
from deniable.collection.store import open_store
from deniable.device import reports_body
from deniable.protocol import Report, design_for, first_block
from deniable.schema import Survey

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SIDE = 256
LOADERS = 6
DROPPED = 0.1

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


class Server:
    """A real server process, with its workers in a group of their own."""

    def __init__(self, survey: Path, where: str, workers: int) -> None:
        """Choose an address; nothing runs yet."""
        free = listen("127.0.0.1", 0)
        self.port = free.getsockname()[1]
        free.close()
        self.address = f"http://127.0.0.1:{self.port}"
        self._command = [
            *(sys.executable, "-m", "deniable", "serve", str(survey), "--store", where),
            *("--port", str(self.port), "--workers", str(workers)),
        ]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start and wait until it answers."""
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(
            self._command, stdout=quiet, stderr=quiet, start_new_session=True
        )
        deadline = time.monotonic() + 60
        while not self.answers():
            assert time.monotonic() < deadline, "the server did not start"
            assert self._process.poll() is None, "the server ended"
            time.sleep(0.05)

    def answers(self) -> bool:
        """Tell whether it is healthy."""
        with contextlib.closing(Line(self.address)) as line:
            return line.send(self.address + "/v1/health", b"").status == 405

    def kill(self) -> None:
        """End it and its workers at once, with no chance to tidy up."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


class Load:
    """Devices that send, lose some of the answers, and send the same bytes again."""

    def __init__(self, server: Server, survey: Survey) -> None:
        """Prepare; nobody sends yet."""
        design = design_for(survey)
        self._design, self._block = design.digest, first_block(design).digest
        self._url = f"{server.address}/v1/surveys/{survey.name}/reports"
        self._server = server
        self._lock = threading.Lock()
        self._next = 0
        self._ended = threading.Event()
        self.acknowledged: set[int] = set()
        self._threads = [threading.Thread(target=self._send_on) for _ in range(LOADERS)]

    def start(self) -> None:
        """Let everybody send."""
        for thread in self._threads:
            thread.start()

    def wait_for(self, more: int) -> None:
        """Wait until so many more reports were acknowledged."""
        wanted, deadline = len(self.acknowledged) + more, time.monotonic() + 120
        while len(self.acknowledged) < wanted:
            assert time.monotonic() < deadline, "nothing is acknowledged any more"
            assert all(thread.is_alive() for thread in self._threads)
            time.sleep(0.005)

    def end(self) -> None:
        """Let everybody deliver what they hold, and stop."""
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _send_on(self) -> None:
        chance = random.Random(threading.get_ident())  # noqa: S311 -- which answers are lost
        with contextlib.closing(Line(self._server.address)) as line:
            self._send(line, chance)

    def _send(self, line: Line, chance: random.Random) -> None:
        while not self._ended.is_set():
            with self._lock:
                cell = self._next
                self._next += 1
            report = Report(self._design, self._block, fresh_id(), 0, ((cell,),))
            body = reports_body([report])
            while True:
                reply = line.send(self._url, body)
                if reply.status == 200 and chance.random() >= DROPPED:
                    break
                assert reply.status in {200, 503}, reply.body
                if reply.status == 503:
                    time.sleep(0.02)
            with self._lock:
                self.acknowledged.add(cell)


def kill_under_load(
    folder: Path, where: str, *, workers: int, kills: int, between: tuple[int, int]
) -> int:
    """Kill a server after so many acknowledgements, again and again; return how many came."""
    path = folder / "survey.toml"
    path.write_text(SURVEY.format(bins=list(range(SIDE + 1))))
    survey = Survey.load(path)
    server = Server(path, where, workers)
    server.start()
    load = Load(server, survey)
    load.start()
    chance = random.Random(4)  # noqa: S311 -- when to kill
    for _ in range(kills):
        load.wait_for(chance.randint(*between))
        time.sleep(chance.uniform(0, 0.05))
        server.kill()
        server.start()
    load.end()
    server.kill()
    store = open_store(where)
    tally = Collection(store).tally("cells")
    with store.reading() as reading:
        row = reading.survey("cells")
        assert row is not None
        blocks = reading.blocks(row.key)
    store.close()
    counts: dict[int, int] = {}
    for stratum, seen in tally.counts.items():
        for (cell,), count in seen.items():
            counts[cell] = counts.get(cell, 0) + count
        assert stratum.view == 0
    assert {cell for cell, count in counts.items() if count != 1} == set()
    assert load.acknowledged <= set(counts)
    assert [block.number for block in blocks] == list(range(len(blocks)))
    assert all(block.count == 100 for block in blocks if not block.is_open)
    return len(load.acknowledged)


def test_a_killed_server_on_sqlite_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    """Three kills under load: nothing lost, nothing twice, blocks without gaps."""
    where = str(tmp_path / "reports.db")
    assert kill_under_load(tmp_path, where, workers=1, kills=3, between=(5, 250)) > 15


def test_four_killed_workers_on_postgresql_keep_what_they_acknowledged(
    tmp_path: Path, postgresql: Callable[[], str]
) -> None:
    """One kill of four workers under load: the same."""
    where = postgresql()
    assert kill_under_load(tmp_path, where, workers=4, kills=1, between=(5, 100)) > 5


@pytest.mark.prove
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_hundred_kills_lose_nothing(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A hundred kills at random moments, on either database."""
    if kind == "sqlite":
        where, workers = str(tmp_path / "reports.db"), 1
    else:
        where, workers = request.getfixturevalue("postgresql")(), 4
    done = kill_under_load(tmp_path, where, workers=workers, kills=100, between=(1, 300))
    assert done > 1_000
