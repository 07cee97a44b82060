"""Stores to hold to the contract: memory, SQLite in a file, a real PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deniable.collection.store import MemoryStore, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from deniable.collection.store import Store


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
