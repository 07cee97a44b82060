"""What the stores on a database have in common: an engine, and errors that tell no row."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from deniable.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine


class DatabaseStore:
    """Surveys, reports and tallies in a database."""

    def __init__(self, engine: Engine) -> None:
        """Use an engine whose tables exist."""
        self._engine = engine

    def close(self) -> None:
        """Let go of files and connections."""
        self._engine.dispose()

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        with as_storage_errors(), self._engine.connect() as connection:
            yield connection


@contextmanager
def as_storage_errors() -> Iterator[None]:
    """Turn the database's errors into ours, without what it says about our rows."""
    try:
        yield
    except SQLAlchemyError as error:
        cause = type(getattr(error, "orig", None) or error).__name__
        reason = "the disk is full" if "disk is full" in str(error) else "a later try"
        problem = "the store could not keep or find something"
        raise StorageError(problem, given=cause, expected=reason) from error
