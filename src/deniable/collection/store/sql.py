"""The store on a database: SQLite in one file, or PostgreSQL for several workers."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from deniable.channels.coin import fresh_id
from deniable.collection.store import queries
from deniable.collection.store.session import SqlSession
from deniable.collection.store.tables import metadata
from deniable.errors import StorageError
from deniable.protocol import encode_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

KINDS = ("sqlite", "postgresql")


class SqlStore:
    """Surveys, reports and tallies in a database."""

    def __init__(self, engine: Engine) -> None:
        """Use an engine whose tables exist."""
        self._engine = engine

    @property
    def shared(self) -> bool:
        """Whether several processes may use it at once: PostgreSQL, not SQLite."""
        return self._engine.dialect.name == "postgresql"

    @contextmanager
    def reading(self) -> Iterator[SqlSession]:
        """Open a transaction that sees one state and changes nothing."""
        with _as_storage_errors(), self._engine.connect() as connection:
            if self.shared:
                connection.execution_options(isolation_level="REPEATABLE READ")
            _begin(connection, "reading")
            yield SqlSession(connection)

    @contextmanager
    def writing(self) -> Iterator[SqlSession]:
        """Open a transaction that is durable when its ``with`` block has ended."""
        with _as_storage_errors(), self._engine.connect() as connection:
            _begin(connection, "writing")
            yield SqlSession(connection)
            connection.commit()

    def tidy(self, *, thoroughly: bool = False) -> None:
        """Remove from logs and pages what was overwritten; what is busy stays for next time."""
        with _as_storage_errors(), self._engine.connect() as connection:
            if self.shared:
                connection.execution_options(isolation_level="AUTOCOMMIT")
                rewrite = queries.POSTGRESQL_REWRITE if thoroughly else queries.POSTGRESQL_TIDY
                connection.exec_driver_sql(rewrite)
                return
            if thoroughly:
                connection.exec_driver_sql(queries.SQLITE_REWRITE)
            for statement in queries.SQLITE_CUT_LOG:
                connection.exec_driver_sql(statement)

    def close(self) -> None:
        """Let go of files and connections."""
        self._engine.dispose()


def open_store(where: str) -> SqlStore:
    """Open a store, making its tables if need be.

    Args:
        where: ``sqlite:///reports.db``, a bare file name, or ``postgresql://…``.
    """
    url = _url(where)
    engine = create_engine(url, pool_size=8, max_overflow=16, pool_use_lifo=True, **_options(url))
    sqlite = url.get_backend_name() == "sqlite"
    event.listen(engine, "connect", _set_up_sqlite if sqlite else _set_up_postgresql)
    store = SqlStore(engine)
    with _as_storage_errors():
        _lay_tables(engine)
    return store


def _url(where: str) -> URL:
    try:
        url = make_url(where if "://" in where else f"sqlite:///{where}")
    except ArgumentError as error:
        problem = "this is no address of a store"
        raise StorageError(problem, expected="a file name or postgresql://…") from error
    if url.get_backend_name() not in KINDS:
        problem = "there is no store of this kind"
        raise StorageError(problem, given=url.get_backend_name(), expected=" or ".join(KINDS))
    if url.get_backend_name() == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    return url


def _options(url: URL) -> dict[str, Any]:
    if url.get_backend_name() == "postgresql":
        return {"pool_recycle": 1800}
    # Our own BEGIN decides what kind of transaction it is, not the driver's guess.
    return {"connect_args": {"isolation_level": None, "check_same_thread": False}}


def _set_up_sqlite(connection: Any, record: object) -> None:  # noqa: ANN401 - the driver's
    del record
    for setting in queries.SQLITE_SETTINGS:
        connection.execute(setting)


def _set_up_postgresql(connection: Any, record: object) -> None:  # noqa: ANN401 - the driver's
    del record
    with connection.cursor() as cursor:
        cursor.execute(queries.POSTGRESQL_DURABLE)
    connection.commit()


def _begin(connection: Connection, purpose: str) -> None:
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(queries.SQLITE_BEGIN[purpose])


def _lay_tables(engine: Engine) -> None:
    """Make what is missing; several workers may try at once."""
    with engine.connect() as connection:
        _begin(connection, "writing")
        if engine.dialect.name == "postgresql":
            connection.execute(queries.ONE_AT_A_TIME)
        metadata.create_all(connection)
        if connection.execute(queries.SERVER_NAME).first() is None:
            connection.execute(queries.NAME_SERVER, {"name": encode_bytes(fresh_id())})
        connection.commit()


@contextmanager
def _as_storage_errors() -> Iterator[None]:
    """Turn the database's errors into ours, without what it says about our rows."""
    try:
        yield
    except SQLAlchemyError as error:
        cause = type(getattr(error, "orig", None) or error).__name__
        reason = "the disk is full" if "disk is full" in str(error) else "try again later"
        problem = "the store could not keep or find something"
        raise StorageError(problem, given=cause, expected=reason) from error
