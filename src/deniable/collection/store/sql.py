"""Opening a store on a database: SQLite in one file, or PostgreSQL for several workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from sqlalchemy import URL, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from deniable.channels.coin import fresh_id
from deniable.collection.store import queries
from deniable.collection.store.database import as_storage_errors
from deniable.collection.store.postgresql import PostgresqlStore, set_up_postgresql
from deniable.collection.store.sqlite import SqliteStore, set_up_sqlite
from deniable.collection.store.tables import fresh, metadata
from deniable.errors import StorageError
from deniable.protocol import encode_bytes

if TYPE_CHECKING:
    from sqlalchemy import Engine

SqlStore: TypeAlias = SqliteStore | PostgresqlStore

KINDS: Final = ("sqlite", "postgresql")


def open_store(where: str) -> SqlStore:
    """Open a store, making its tables if need be.

    Args:
        where: ``sqlite:///reports.db``, a bare file name, or ``postgresql://…``.
    """
    url = _url(where)
    engine = create_engine(url, pool_size=8, max_overflow=16, pool_use_lifo=True, **_options(url))
    if url.get_backend_name() == "sqlite":
        event.listen(engine, "connect", set_up_sqlite)
        store: SqlStore = SqliteStore(engine)
    else:
        event.listen(engine, "connect", set_up_postgresql)
        store = PostgresqlStore(engine)
    try:
        with as_storage_errors():
            _lay_tables(engine)
    except StorageError as error:
        raise _unopened(url, error) from error
    return store


def is_shared(where: str) -> bool:
    """Tell from a store's address, without opening it, whether several processes may use it.

    >>> is_shared("reports.db"), is_shared("postgresql://db.example/surveys")
    (False, True)
    """
    return _url(where).get_backend_name() == "postgresql"


def _unopened(url: URL, error: StorageError) -> StorageError:
    """Say which store cannot be opened; of its address nothing that could be a secret."""
    if url.get_backend_name() == "postgresql":
        problem = f"no database can be opened at {url.host or 'this machine'}, {url.database!r}"
        expected = "a PostgreSQL server that runs, a database that is there, a name that may enter"
    else:
        problem = f"the file {url.database!r} cannot be opened as a store"
        expected = "a folder that is there and may be written to, and a file of this program's own"
    return StorageError(problem, given=error.given, expected=expected)


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


def _lay_tables(engine: Engine) -> None:
    """Make what is missing; several workers may try at once."""
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql(queries.SQLITE_BEGIN["writing"])
            metadata.create_all(connection)
            connection.exec_driver_sql(queries.LAY_VIEW)
        else:
            connection.execute(queries.ONE_AT_A_TIME)
            tables = [table for table in metadata.sorted_tables if table is not fresh]
            metadata.create_all(connection, tables)
        if connection.execute(queries.SERVER_NAME).first() is None:
            connection.execute(queries.NAME_SERVER, {"random": encode_bytes(fresh_id())})
        connection.commit()
