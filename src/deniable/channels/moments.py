"""The inverse and the variance of a channel, exactly.

For every channel but the bare matrix there is an event "the report supports cell x"
with P(support of x) = slope·π(x) + offset(x); so π̂(x) = (share(x) − offset(x)) / slope
is unbiased (Imran eq. 4, Domingo eq. 2, Wang eq. 17, Kikuchi eq. 5). A matrix is inverted.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.channels.coin import WORD
from deniable.channels.k_ary import KAry
from deniable.channels.local_hash import LocalHash
from deniable.channels.matrix import Matrix
from deniable.channels.subset import SubsetSelection
from deniable.channels.two_coin import TwoCoin
from deniable.channels.unary import BITS, Unary
from deniable.errors import ChannelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.channels.contract import Channel, Value


@dataclass(frozen=True, slots=True)
class Support:
    """P(report supports x) = slope·π(x) + offsets(x)."""

    slope: Fraction
    offsets: tuple[Fraction, ...]


def support_of(channel: Channel) -> Support:
    """Return slope and offsets of the channel's supporting event."""
    size = channel.size
    match channel:
        case TwoCoin(head=head, fake=fake):
            lie = Fraction(WORD - head, WORD * WORD)
            return Support(Fraction(head, WORD), tuple(lie * weight for weight in fake))
        case KAry(head=head):
            lie = Fraction(WORD - head, WORD * WORD)
            offsets = tuple(lie * channel.fake_weight(cell) for cell in range(size))
            return Support(Fraction(head, WORD), offsets)
        case SubsetSelection(head=head, chosen=chosen):
            inside = Fraction(head, WORD)
            other = (chosen - inside) / (size - 1)
        case Unary(keep=keep, flip=flip):
            inside, other = Fraction(keep, WORD), Fraction(flip, WORD)
        case LocalHash():
            inside, other = _hash_support(channel)
        case _:
            problem = "this channel has no supporting event"
            raise ChannelError(problem, given=channel.kind, expected="the inverse of its matrix")
    return Support(inside - other, (other,) * size)


def _hash_support(channel: LocalHash) -> tuple[Fraction, Fraction]:
    """Return P(y = bucket of x) for the answer and, averaged over hashes, for another cell."""
    inner = channel.inner
    shares = [channel.bucket_share(bucket) for bucket in range(channel.buckets)]
    truth = Fraction(channel.head, WORD)
    fake = [inner.probability((b,), (b + 1) % channel.buckets) for b in range(channel.buckets)]
    inside = sum((w * (truth + f) for w, f in zip(shares, fake, strict=True)), Fraction(0))
    # Two different cells fall into buckets independently (the family is pairwise independent).
    same = sum((w * w for w in shares), Fraction(0))
    lied = sum((w * f for w, f in zip(shares, fake, strict=True)), Fraction(0))
    return inside, truth * same + lied


def supports(channel: Channel, report: Value, cell: int) -> bool:
    """Tell whether a report supports a cell."""
    match channel:
        case Unary():
            return bool(report[cell // BITS] >> cell % BITS & 1)
        case LocalHash():
            factor, shift, bucket = report
            return channel.bucket(factor, shift, cell) == bucket
        case _:
            return cell in report


def estimate(channel: Channel, reports: Sequence[Value]) -> tuple[Fraction, ...]:
    """Return the unbiased estimate of π from reports, exactly. Cells may be negative.

    A reference for small data; ``deniable.estimation`` does the same fast.
    """
    if not reports:
        problem = "no report to estimate from"
        raise ChannelError(problem, expected="at least one report")
    if isinstance(channel, Matrix):
        shares = [Fraction(0)] * len(channel.rows[0])
        for (column,) in reports:
            shares[column] += Fraction(1, len(reports))
        return solve_left(channel, shares)
    support = support_of(channel)
    counts = [sum(supports(channel, y, x) for y in reports) for x in range(channel.size)]
    shares = [Fraction(count, len(reports)) for count in counts]
    return tuple((s - o) / support.slope for s, o in zip(shares, support.offsets, strict=True))


def variances(channel: Channel, truth: Sequence[Fraction | float]) -> tuple[Fraction, ...]:
    """Return the variance of each estimated cell, per respondent, at the true distribution."""
    if len(truth) != channel.size:
        problem = "a distribution does not fit the channel"
        raise ChannelError(problem, given=f"{len(truth)} cells", expected=f"{channel.size}")
    shares = [Fraction(share) for share in truth]
    if isinstance(channel, Matrix):
        return _matrix_variances(channel, shares)
    support = support_of(channel)
    seen = [support.slope * pi + o for pi, o in zip(shares, support.offsets, strict=True)]
    return tuple(share * (1 - share) / support.slope**2 for share in seen)


def _matrix_variances(channel: Matrix, truth: Sequence[Fraction]) -> tuple[Fraction, ...]:
    columns = range(len(channel.rows[0]))
    seen = [
        sum((pi * row[y] for pi, row in zip(truth, channel.rows, strict=True)), Fraction(0)) / WORD
        for y in columns
    ]
    totals = [Fraction(0)] * channel.size
    for y in columns:
        unit = [Fraction(int(column == y)) for column in columns]
        for cell, weight in enumerate(solve_left(channel, unit)):
            totals[cell] += seen[y] * weight**2
    return tuple(total - pi**2 for total, pi in zip(totals, truth, strict=True))


def solve_left(channel: Matrix, shares: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Solve Pᵀπ = λ exactly for a square matrix channel."""
    size = channel.size
    if len(shares) != size:
        problem = "only a square channel matrix has an inverse"
        given = f"{size} answers, {len(shares)} reports"
        raise ChannelError(problem, given=given, expected="an estimate by likelihood")
    rows = [
        [Fraction(channel.rows[x][y], WORD) for x in range(size)] + [shares[y]] for y in range(size)
    ]
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        if not rows[pivot][column]:
            problem = "the channel has no inverse: different answers give the same reports"
            raise ChannelError(problem, expected="a channel with epsilon above 0")
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [entry / rows[column][column] for entry in rows[column]]
        for row in range(size):
            if row != column and rows[row][column]:
                factor = rows[row][column]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column], strict=True)]
    return tuple(row[size] for row in rows)
