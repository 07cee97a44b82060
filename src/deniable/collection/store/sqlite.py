"""The store on SQLite, in one file: one writer at a time, and reports in bundles first."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deniable.collection.store import queries
from deniable.collection.store.contract import ReportRow
from deniable.collection.store.database import DatabaseStore
from deniable.collection.store.fresh import LOOSE, Bundle, Fresh
from deniable.collection.store.session import SqlSession
from deniable.errors import ConflictError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection, Engine


class SqliteStore(DatabaseStore):
    """Surveys, reports and tallies in a file."""

    def __init__(self, engine: Engine) -> None:
        """Use an engine whose tables exist."""
        super().__init__(engine)
        self._fresh = Fresh()
        self._alone = threading.Lock()

    @contextmanager
    def reading(self) -> Iterator[SqliteSession]:
        """Open a transaction that sees one state and changes nothing."""
        with self._connected() as connection:
            connection.exec_driver_sql(queries.SQLITE_BEGIN["reading"])
            yield SqliteSession(connection, Fresh())

    @contextmanager
    def writing(self) -> Iterator[SqliteSession]:
        """Open a transaction that is durable when its ``with`` block has ended."""
        with self._alone, self._connected() as connection:
            connection.exec_driver_sql(queries.SQLITE_BEGIN["writing"])
            session = SqliteSession(connection, self._fresh)
            try:
                yield session
                session.end()
                connection.commit()
            except BaseException:
                session.give_up()
                raise

    @contextmanager
    def preparing(self, name: str) -> Iterator[bool]:
        """Yield yes: one process serves a file."""
        del name
        yield True

    def tidy(self, *, thoroughly: bool = False) -> None:
        """Lay fresh reports among the others, and remove from the log what was overwritten.

        What is busy stays for next time.
        """
        while self._lay_some():
            pass
        with self._connected() as connection:
            if thoroughly:
                connection.exec_driver_sql(queries.SQLITE_REWRITE)
            for statement in queries.SQLITE_CUT_LOG:
                connection.exec_driver_sql(statement)

    def _lay_some(self) -> bool:
        """Lay one part: whoever wants to write meanwhile waits for no more than that."""
        with self.writing() as session:
            return session.lay_some()


class SqliteSession(SqlSession):
    """The steps of ``contract.Writing`` on SQLite."""

    __slots__ = ("_changes", "_remembered")

    where_reports_are = queries.IN_TABLE_AND_BUNDLES

    def __init__(self, connection: Connection, fresh: Fresh) -> None:
        """Work inside the connection's transaction, with what is known of the fresh reports."""
        super().__init__(connection)
        self._remembered = fresh
        self._changes = False

    def kept(self, survey: int, ids: Sequence[str]) -> dict[str, ReportRow]:
        """Return those of the reports that are kept already."""
        rows = self._do(queries.KEPT_SQLITE, of=survey, ids=json.dumps(ids))
        found = {row[0]: ReportRow(row[0], row[1], row[2], row[3], bool(row[4])) for row in rows}
        return found | {row.id: row for row in self._fresh().find(survey, ids)}

    def add_reports(self, survey: int, reports: Sequence[ReportRow]) -> None:
        """Keep reports that are not kept yet, or give up."""
        if not reports:
            return
        ids = [row.id for row in reports]
        if len(set(ids)) < len(ids) or self.kept(survey, ids):
            raise ConflictError("a report of this id is kept already")
        fresh = self._fresh()
        self._changes = True
        self._bundle(fresh.add(survey, reports))
        parts = fresh.sort(survey)
        if parts:
            self._run(queries.REMOVE_PART, (survey, LOOSE))
            self._bundle(parts)
        while (part := fresh.release()) is not None:
            self._lay(*part)

    def lay_some(self) -> bool:
        """Lay a part of the fresh reports into the large table; return whether there was one."""
        part = self._fresh().release_any()
        if part is not None:
            self._changes = True
            self._lay(*part)
        return part is not None

    def remove_survey(self, survey: int) -> None:
        """Forget a survey and everything collected for it."""
        self._fresh().remove(survey)
        self._changes = True
        super().remove_survey(survey)

    def forget_pairs(self, survey: int) -> None:
        """Nothing pairs them: rows lie in the order of their random keys."""

    def end(self) -> None:
        """Say in the store that its fresh reports changed, before all is committed."""
        if self._changes:
            self._do(queries.SET_MARK, to=self._remembered.renew())

    def give_up(self) -> None:
        """Remember nothing that the store does not keep."""
        if self._changes:
            self._remembered.forget()

    def _fresh(self) -> Fresh:
        """Return what is known of the fresh reports, read anew if another changed them."""
        mark: str = self._do(queries.MARK).scalar_one()
        if self._remembered.mark != mark and not self._changes:
            self._remembered.read(mark, map(Bundle._make, self._do(queries.BUNDLES)))
        return self._remembered

    def _bundle(self, bundles: list[Bundle]) -> None:
        self._connection.exec_driver_sql(queries.ADD_BUNDLE, list(map(tuple, bundles)))

    def _lay(self, survey: int, part: str) -> None:
        self._run(queries.LAY_PART, (survey, part))
        self._run(queries.REMOVE_PART, (survey, part))

    def _run(self, statement: str, values: tuple[int, str]) -> None:
        self._connection.exec_driver_sql(statement, values)


def set_up_sqlite(connection: Any, record: object) -> None:  # noqa: ANN401 - the driver's
    """Prepare a new connection."""
    del record
    for setting in queries.SQLITE_SETTINGS:
        connection.execute(setting)
