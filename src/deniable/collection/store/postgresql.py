"""The store on PostgreSQL, which many workers share."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import IntegrityError

from deniable.collection.store import queries
from deniable.collection.store.contract import ReportRow
from deniable.collection.store.database import DatabaseStore
from deniable.collection.store.session import SqlSession
from deniable.errors import ConflictError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class PostgresqlStore(DatabaseStore):
    """Surveys, reports and tallies in a database of PostgreSQL."""

    @contextmanager
    def reading(self) -> Iterator[PostgresqlSession]:
        """Open a transaction that sees one state and changes nothing."""
        with self._connected() as connection:
            connection.execution_options(isolation_level="REPEATABLE READ")
            yield PostgresqlSession(connection)

    @contextmanager
    def writing(self) -> Iterator[PostgresqlSession]:
        """Open a transaction that is durable when its ``with`` block has ended."""
        with self._connected() as connection:
            yield PostgresqlSession(connection)
            connection.commit()

    @contextmanager
    def preparing(self, name: str) -> Iterator[bool]:
        """Yield whether no other worker prepares it; the lock goes with the connection."""
        with self._connected() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            values = {"name": name}
            is_mine: bool = connection.execute(queries.TRY_TO_PREPARE, values).scalar_one()
            try:
                yield is_mine
            finally:
                if is_mine:
                    connection.execute(queries.PREPARED, values)

    def tidy(self, *, thoroughly: bool = False) -> None:
        """Remove from pages what was overwritten."""
        with self._connected() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            rewrite = queries.POSTGRESQL_REWRITE if thoroughly else queries.POSTGRESQL_TIDY
            connection.exec_driver_sql(rewrite)


class PostgresqlSession(SqlSession):
    """The steps of ``contract.Writing`` on PostgreSQL."""

    __slots__ = ()

    def kept(self, survey: int, ids: Sequence[str]) -> dict[str, ReportRow]:
        """Return those of the reports that are kept already."""
        rows = self._do(queries.KEPT_POSTGRESQL, of=survey, ids=list(ids))
        return {row[0]: ReportRow(*row) for row in rows}

    def add_reports(self, survey: int, reports: Sequence[ReportRow]) -> None:
        """Keep reports that are not kept yet, or give up."""
        if not reports:
            return
        ids, blocks, views, answers, late = map(list, zip(*reports, strict=True))
        try:
            self._do(
                queries.ADD_REPORTS_POSTGRESQL,
                of=survey,
                ids=ids,
                blocks=blocks,
                views=views,
                answers=answers,
                late=late,
            )
        except IntegrityError as error:
            raise ConflictError("a report of this id is kept already") from error

    def close_block(self, survey: int, number: int, tally: bytes) -> None:
        """Close a block for good, and efface the order in which its reports came."""
        super().close_block(survey, number, tally)
        self._do(queries.LAY_ANEW_POSTGRESQL, of=survey, nr=number)

    def forget_pairs(self, survey: int) -> None:
        """Let nothing tell which report came with which invitation, while a block is open, too."""
        self._do(queries.FORGET_PAIRS, of=survey)


def set_up_postgresql(connection: Any, record: object) -> None:  # noqa: ANN401 - the driver's
    """Prepare a new connection."""
    del record
    with connection.cursor() as cursor:
        cursor.execute(queries.POSTGRESQL_DURABLE)
    connection.commit()
