"""Secure sum: tables of counts that nobody sees anybody's part of."""

from deniable.sharing.adding import Adding, gather, send_shares
from deniable.sharing.aggregator import Aggregator, agreed_on, combine, shares_for
from deniable.sharing.desk import Desk
from deniable.sharing.kind import Kind, kind_of
from deniable.sharing.party import Party, digest_of, sum_of, sum_together
from deniable.sharing.post import HttpPost, LocalPost, Message, Post, take_part
from deniable.sharing.remote import RemoteAggregator
from deniable.sharing.shares import split
from deniable.sharing.sheet import Sheet, sheet_of_pairs, sheet_of_survey

__all__ = [
    "Adding",
    "Aggregator",
    "Desk",
    "HttpPost",
    "Kind",
    "LocalPost",
    "Message",
    "Party",
    "Post",
    "RemoteAggregator",
    "Sheet",
    "agreed_on",
    "combine",
    "digest_of",
    "gather",
    "kind_of",
    "send_shares",
    "shares_for",
    "sheet_of_pairs",
    "sheet_of_survey",
    "split",
    "sum_of",
    "sum_together",
    "take_part",
]
