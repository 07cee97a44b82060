"""The tables. Nothing here keeps an address, a time of arrival or an order of arrival."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    column,
    table,
)

metadata = MetaData()

# Bytewise order on every database, so that paging by id means the same everywhere.
_TEXT = Text().with_variant(String(collation="C"), "postgresql")

server = Table(
    "server",
    metadata,
    Column("place", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    # A random name of what the fresh reports are now; another after every change of them.
    Column("mark", Text, nullable=False),
)

survey = Table(
    "survey",
    metadata,
    Column("key", Integer, primary_key=True),
    Column("name", _TEXT, nullable=False, unique=True),
    Column("document", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("invited", Boolean, nullable=False),
    Column("design", Text),
    Column("block_seconds", Integer, nullable=False),
)


def _survey_key(*, primary_key: bool = True) -> Column[int]:
    reference = ForeignKey("survey.key", ondelete="CASCADE")
    return Column("survey", Integer, reference, primary_key=primary_key, autoincrement=False)


design = Table(
    "design",
    metadata,
    Column("digest", _TEXT, primary_key=True),
    Column("body", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

block = Table(
    "block",
    metadata,
    _survey_key(),
    Column("number", Integer, primary_key=True, autoincrement=False),
    # Two surveys never share a block: the survey's name is in the design, and its digest here.
    Column("digest", _TEXT, nullable=False, index=True),
    Column("body", LargeBinary, nullable=False),
    Column("size", Integer, nullable=False),
    Column("count", Integer, nullable=False),
    Column("closes_at", Integer),
    Column("tally", LargeBinary),
    UniqueConstraint("survey", "digest"),
    sqlite_with_rowid=False,
)

# Keyed by the random id alone: without a row number SQLite lays the rows down in that order.
report = Table(
    "report",
    metadata,
    _survey_key(),
    Column("id", _TEXT, primary_key=True),
    Column("block", Integer, nullable=False),
    Column("view", Integer, nullable=False),
    Column("values", Text, nullable=False),
    Column("late", Boolean, nullable=False),
    sqlite_with_rowid=False,
)

# Reports that SQLite has not yet laid into the table above; PostgreSQL never needs it.
fresh = Table(
    "fresh",
    metadata,
    _survey_key(),
    Column("part", _TEXT, primary_key=True),
    Column("key", _TEXT, primary_key=True),
    Column("block", Integer, nullable=False),
    Column("view", Integer, nullable=False),
    Column("values", Text, nullable=False),
    Column("late", Boolean, nullable=False),
    Column("ids", Text, nullable=False),
    sqlite_with_rowid=False,
)

# On SQLite, a view of both.
every_report = table(
    "every_report",
    column("survey", Integer),
    column("id", Text),
    column("block", Integer),
    column("view", Integer),
    column("values", Text),
    column("late", Boolean),
)

refusal = Table(
    "refusal",
    metadata,
    _survey_key(),
    Column("reason", _TEXT, primary_key=True),
    Column("count", Integer, nullable=False),
    sqlite_with_rowid=False,
)

# No key, time or order joins an invitation to a report.
invitation = Table(
    "invitation",
    metadata,
    _survey_key(),
    Column("code", _TEXT, primary_key=True),
    Column("redeemed", Boolean, nullable=False),
    sqlite_with_rowid=False,
)

merged = Table(
    "merged",
    metadata,
    _survey_key(),
    Column("digest", _TEXT, primary_key=True),
    Column("body", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

token = Table(
    "token",
    metadata,
    Column("hash", _TEXT, primary_key=True),
    Column("scope", Text, nullable=False),
    Column("survey", Text, nullable=False),
    Column("expires", Integer, nullable=False),
    sqlite_with_rowid=False,
)
