"""Secure sum: tables of counts that nobody sees anybody's part of."""

from deniable.sharing.aggregator import Aggregator, agreed_on, combine, shares_for
from deniable.sharing.party import Party, digest_of, sum_of, sum_together
from deniable.sharing.post import HttpPost, LocalPost, Message, Post, take_part
from deniable.sharing.shares import split
from deniable.sharing.sheet import Sheet, sheet_of_pairs

__all__ = [
    "Aggregator",
    "HttpPost",
    "LocalPost",
    "Message",
    "Party",
    "Post",
    "Sheet",
    "agreed_on",
    "combine",
    "digest_of",
    "shares_for",
    "sheet_of_pairs",
    "split",
    "sum_of",
    "sum_together",
    "take_part",
]
