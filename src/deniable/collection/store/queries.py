"""Every statement that a database ever gets from us, named. No other module speaks SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import BindParameter, bindparam, delete, func, insert, select, text, update

from deniable.collection.store.tables import (
    block,
    design,
    every_report,
    invitation,
    merged,
    refusal,
    report,
    server,
    survey,
    token,
)

if TYPE_CHECKING:
    from sqlalchemy import FromClause, Select

# The survey under treatment, and other values that a statement is called with.
SURVEY: BindParameter[int] = bindparam("of")
NUMBER: BindParameter[int] = bindparam("nr")

SERVER_NAME = select(server.c.name)
NAME_SERVER = insert(server).values(place=1, name=bindparam("random"), mark=bindparam("random"))
MARK = select(server.c.mark)
SET_MARK = update(server).values(mark=bindparam("to"))

SURVEYS = select(survey).order_by(survey.c.name)
SURVEY_NAMED = select(survey).where(survey.c.name == bindparam("named"))
# FOR UPDATE is left out by SQLite's dialect, where a writing transaction is alone anyway.
LOCK_SURVEY = select(survey).where(survey.c.key == SURVEY).with_for_update()
ADD_SURVEY = insert(survey)
CHANGE_SURVEY = update(survey).where(survey.c.key == SURVEY)
REMOVE_SURVEY = delete(survey).where(survey.c.key == SURVEY)

DESIGN_BODY = select(design.c.body).where(design.c.digest == bindparam("wanted"))
ADD_DESIGN = insert(design)

BLOCK_BODY = select(block.c.body).where(block.c.digest == bindparam("wanted")).limit(1)
BLOCKS = (
    select(block)
    .where(block.c.survey == SURVEY, block.c.number >= bindparam("since"))
    .order_by(block.c.number)
)
OPEN_BLOCK = select(block).where(block.c.survey == SURVEY, block.c.tally.is_(None))
ADD_BLOCK = insert(block)
COUNT_TO_BLOCK = (
    update(block)
    .where(block.c.survey == SURVEY, block.c.number == NUMBER, block.c.tally.is_(None))
    .values(count=block.c.count + bindparam("more"))
)
POSTPONE_BLOCK = update(block).where(
    block.c.survey == SURVEY, block.c.number == NUMBER, block.c.tally.is_(None)
)
# The condition on the tally is what closes a block exactly once.
CLOSE_BLOCK = update(block).where(
    block.c.survey == SURVEY, block.c.number == NUMBER, block.c.tally.is_(None)
)


@dataclass(frozen=True, slots=True)
class ReportQueries:
    """The questions about many reports, which are not everywhere in one table."""

    counts: Select[Any]
    counts_of_block: Select[Any]
    page: Select[Any]


def _questions_to(source: FromClause) -> ReportQueries:
    row = source.c
    said = (row.block, row.late, row.view, row["values"])
    counts = select(*said, func.count()).where(row.survey == SURVEY).group_by(*said)
    page = (
        select(row.id, row.block, row.view, row["values"], row.late)
        .where(row.survey == SURVEY, row.id > bindparam("after"))
        .order_by(row.id)
        .limit(bindparam("most"))
    )
    return ReportQueries(counts, counts.where(row.block == NUMBER), page)


IN_TABLE = _questions_to(report)
IN_TABLE_AND_BUNDLES = _questions_to(every_report)

REFUSALS = select(refusal.c.reason, refusal.c.count).where(refusal.c.survey == SURVEY)
ADD_TO_REFUSAL = (
    update(refusal)
    .where(refusal.c.survey == SURVEY, refusal.c.reason == bindparam("why"))
    .values(count=refusal.c.count + bindparam("more"))
)
ADD_REFUSAL = insert(refusal)

INVITATIONS = select(invitation.c.code, invitation.c.redeemed).where(
    invitation.c.survey == SURVEY, invitation.c.code.in_(bindparam("codes", expanding=True))
)
INVITATION_TOTALS = (
    select(invitation.c.redeemed, func.count())
    .where(invitation.c.survey == SURVEY)
    .group_by(invitation.c.redeemed)
)
ADD_INVITATION = insert(invitation)
REDEEM = (
    update(invitation)
    .where(invitation.c.survey == SURVEY, invitation.c.code.in_(bindparam("codes", expanding=True)))
    .values(redeemed=True)
)

# The used invitations, too, are laid anew by one transaction: see LAY_ANEW_POSTGRESQL.
FORGET_PAIRS = text(
    "WITH gone AS (DELETE FROM invitation WHERE survey = :of AND redeemed RETURNING *)"
    " INSERT INTO invitation SELECT * FROM gone ORDER BY code"
)

MERGED = select(merged.c.body).where(merged.c.survey == SURVEY).order_by(merged.c.digest)
ADD_MERGED = insert(merged)

TOKEN = select(token).where(token.c.hash == bindparam("wanted"))
ADD_TOKEN = insert(token)
REMOVE_TOKEN = delete(token).where(token.c.hash == bindparam("wanted"))
REMOVE_EXPIRED_TOKENS = delete(token).where(token.c.expires <= bindparam("now"))

# The statements of the hot path are written for each database.
# One parameter however many ids: an IN of a thousand is spelled out anew each time.
KEPT_SQLITE = text(
    'SELECT id, block, view, "values", late FROM report'
    " WHERE survey = :of AND id IN (SELECT value FROM json_each(:ids))"
)
KEPT_POSTGRESQL = text(
    'SELECT id, block, view, "values", late FROM report'
    " WHERE survey = :of AND id = ANY(CAST(:ids AS text[]))"
)
ADD_REPORTS_POSTGRESQL = text(
    'INSERT INTO report (survey, id, block, view, "values", late)'
    " SELECT :of, * FROM unnest(CAST(:ids AS text[]), CAST(:blocks AS int[]),"
    " CAST(:views AS int[]), CAST(:answers AS text[]), CAST(:late AS boolean[]))"
)

# SQLite's bundles: see deniable.collection.store.fresh.
BUNDLES = text('SELECT survey, part, key, block, view, "values", late, ids FROM fresh')
ADD_BUNDLE = (
    'INSERT INTO fresh (survey, part, key, block, view, "values", late, ids)'
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
REMOVE_PART = "DELETE FROM fresh WHERE survey = ? AND part = ?"
LAY_PART = (
    'INSERT INTO report (survey, id, block, view, "values", late)'
    ' SELECT survey, one.value, block, view, "values", late FROM fresh, json_each(ids) AS one'
    " WHERE survey = ? AND part = ? ORDER BY one.value"
)
LAY_VIEW = (
    "CREATE VIEW IF NOT EXISTS every_report AS"
    ' SELECT survey, id, block, view, "values", late FROM report UNION ALL'
    ' SELECT survey, one.value, block, view, "values", late FROM fresh, json_each(ids) AS one'
)

# PostgreSQL writes into every row which transaction made it, and keeps rows as they came:
# whoever reads the files could tell which report came with which invitation. So a closed
# block's reports are laid anew, all by one transaction and in the order of their random ids.
LAY_ANEW_POSTGRESQL = text(
    "WITH taken AS (DELETE FROM report WHERE survey = :of AND (block = :nr OR late)"
    ' RETURNING survey, id, block, view, "values", late)'
    ' INSERT INTO report (survey, id, block, view, "values", late)'
    ' SELECT survey, id, block, view, "values", late FROM taken ORDER BY id'
)

SQLITE_SETTINGS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",  # the log is on the disk before a commit returns
    "PRAGMA foreign_keys = ON",
    "PRAGMA busy_timeout = 10000",
    "PRAGMA cache_size = -131072",  # 128 MiB
    # Reports touch many pages: copied back seldom, each is copied once for many changes.
    "PRAGMA wal_autocheckpoint = 16384",  # 64 MiB
)
SQLITE_BEGIN = {"reading": "BEGIN", "writing": "BEGIN IMMEDIATE"}

# The write-ahead log holds every change in its order until it is cut off.
# Whoever reads it is not waited for, because everybody who writes would have to wait, too.
SQLITE_CUT_LOG = (
    "PRAGMA busy_timeout = 0",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA busy_timeout = 10000",
)
# Within a page SQLite lays rows down as they come; a rewrite lays them down by id.
SQLITE_REWRITE = "VACUUM"
POSTGRESQL_TIDY = "VACUUM report, invitation"
# A plain vacuum leaves the bytes of old rows on their pages, marks and all; this lays files anew.
POSTGRESQL_REWRITE = "VACUUM FULL report, invitation"

# A database may be set to acknowledge what a power failure takes back. Not to us.
POSTGRESQL_DURABLE = (
    "SELECT set_config('synchronous_commit', 'on', false)"
    " WHERE current_setting('synchronous_commit') = 'off'"
)

# Workers that start together lay the tables one after another.
ONE_AT_A_TIME = text("SELECT pg_advisory_xact_lock(7238145)")
# A worker holds this lock while it prepares a survey's next block, and no transaction.
TRY_TO_PREPARE = text("SELECT pg_try_advisory_lock(7238146, hashtext(:name))")
PREPARED = text("SELECT pg_advisory_unlock(7238146, hashtext(:name))")
