"""Where surveys, reports and tallies are kept: SQLite, PostgreSQL, or memory for tests."""

from deniable.collection.store.contract import (
    CLOSED,
    DRAFT,
    PUBLISHED,
    BlockRow,
    Count,
    Reading,
    ReportRow,
    State,
    Store,
    SurveyRow,
    TokenRow,
    Writing,
    pages_of_reports,
)
from deniable.collection.store.memory import MemoryStore
from deniable.collection.store.sql import SqlStore, is_shared, open_store

__all__ = [
    "CLOSED",
    "DRAFT",
    "PUBLISHED",
    "BlockRow",
    "Count",
    "MemoryStore",
    "Reading",
    "ReportRow",
    "SqlStore",
    "State",
    "Store",
    "SurveyRow",
    "TokenRow",
    "Writing",
    "is_shared",
    "open_store",
    "pages_of_reports",
]
