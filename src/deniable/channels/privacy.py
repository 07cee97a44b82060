"""The true worst-case ε of a channel: the number a device checks before any coin is tossed."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.channels.coin import WORD
from deniable.channels.exact import log_ratio
from deniable.channels.k_ary import KAry
from deniable.channels.subset import SubsetSelection
from deniable.channels.two_coin import TwoCoin, least_weight

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deniable.channels.contract import Channel


def epsilon_of(channel: Channel) -> float:
    """Return ε = ln max P(y|x)/P(y|x'), exact and rounded up; infinite if unbounded.

    >>> from deniable.channels import k_ary
    >>> 0.999999 < epsilon_of(k_ary(1.0, 16)) <= 1.0
    True
    """
    return log_ratio(*channel.worst_ratio())


def epsilon_of_all(channels: Iterable[Channel]) -> float:
    """Return the ε of several channels answered together: the sum, rounded up once."""
    numerator, denominator = 1, 1
    for channel in channels:
        high, low = channel.worst_ratio()
        numerator *= high
        denominator *= low
    return log_ratio(numerator, denominator)


def keeps_floor(channel: Channel, floor: float) -> bool:
    """Tell whether a channel's fake distribution keeps min T ≥ floor / m.

    Only two-coin channels have a fake distribution that somebody may choose; the even
    one of a k-ary channel keeps every floor, and other channels are judged by ε alone.
    """
    if not isinstance(channel, TwoCoin):
        return True
    return min(channel.fake) >= least_weight(floor, channel.size)


def total_variation_of(channel: Channel) -> Fraction:
    """Return the largest total variation between the reports of any two answers.

    It is the advantage of the best guess between two answers; for two coins exactly p.
    Other channels are enumerated, so ask it of small ones.
    """
    if isinstance(channel, TwoCoin | KAry):
        return Fraction(channel.head, WORD)
    if isinstance(channel, SubsetSelection):
        share = Fraction(channel.head, WORD)
        others = (channel.chosen - share) / (channel.size - 1)
        return abs(share - others)
    reports = list(channel.reports())
    rows = [[channel.probability(y, x) for y in reports] for x in range(channel.size)]
    return max(
        sum((abs(a - b) for a, b in zip(one, two, strict=True)), Fraction(0)) / 2
        for one in rows
        for two in rows
    )
