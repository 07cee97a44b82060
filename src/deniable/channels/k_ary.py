"""k-ary randomized response: two coins with an even fake distribution (Warner's for m = 2)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from deniable.channels.coin import WORD
from deniable.channels.exact import (
    cell_of,
    check_head,
    check_size,
    fraction_of,
    is_share,
    truth_out_of,
)
from deniable.errors import ChannelError, ReportError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deniable.channels.coin import Coin
    from deniable.channels.contract import Value


@dataclass(frozen=True, slots=True)
class KAry:
    """Truth with p = head / 2³², else one of all cells, as even as 2³² allows.

    Where ``size`` does not divide 2³² this is exactly the two-coin channel with the
    slightly uneven T of ``exact.even_weights``; its ε and inverse are stated for that T.
    """

    kind: ClassVar[str] = "k-ary"

    head: int
    size: int

    def __post_init__(self) -> None:
        """Refuse what is not a channel."""
        check_head(self.head)
        check_size(self.size)

    @property
    def width(self) -> int:
        """Return 1: a report is one cell."""
        return 1

    def fake_weight(self, cell: int) -> int:
        """Return the weight of ``cell`` in the even fake distribution."""
        weight, longer = divmod(WORD, self.size)
        return weight + (cell < longer)

    def randomize(self, answer: int, coin: Coin) -> Value:
        """Toss both coins, always, and return the cell they decide."""
        answer = cell_of(answer, self.size)
        truth = coin.heads(self.head)
        fake = coin.even(self.size)
        return (answer if truth else fake,)

    def probability(self, report: Value, answer: int) -> Fraction:
        """Return P(report | answer) exactly."""
        (cell,) = report
        truth = WORD * self.head if cell == answer else 0
        return Fraction(truth + (WORD - self.head) * self.fake_weight(cell), WORD * WORD)

    def reports(self) -> Iterator[Value]:
        """Yield every cell."""
        return ((cell,) for cell in range(self.size))

    def check(self, report: Value) -> None:
        """Raise ``ReportError`` unless the report is one cell of the group."""
        check_cell(report, self.size)

    def worst_ratio(self) -> tuple[int, int]:
        """Return 1 + p / ((1 − p)·min T) as a ratio of integers."""
        lie = (WORD - self.head) * (WORD // self.size)
        return WORD * self.head + lie, lie


def k_ary(epsilon: float, size: int) -> KAry:
    """Return the k-ary channel of at most ``epsilon``: p = (e^ε − 1)/(e^ε + m − 1).

    >>> k_ary(1.0, 4).size
    4
    """
    check_size(size)
    return KAry(truth_out_of(epsilon, WORD // size), size)


def warner(honesty: float) -> KAry:
    """Return Warner's binary channel that reports the true cell with ``honesty`` > 1/2.

    >>> float(warner(0.75).probability((0,), 0))
    0.75
    """
    if not is_share(honesty) or not 0.5 < honesty < 1:  # noqa: PLR2004
        problem = "Warner's channel tells the truth with a probability above 1/2 and below 1"
        raise ChannelError(problem, given=honesty, expected="a probability such as 0.75")
    return KAry(int((2 * fraction_of(honesty) - 1) * WORD), 2)


def check_cell(report: Value, size: int) -> None:
    """Refuse a report that is not one integer below ``size``."""
    if len(report) != 1:
        problem = "a report of this channel is one cell"
        raise ReportError(problem, given=f"{len(report)} numbers", expected="1 number")
    check_cells(report, size)


def check_cells(report: Value, size: int) -> None:
    """Refuse a report holding anything but integers below ``size``."""
    for cell in report:
        if isinstance(cell, bool) or not isinstance(cell, int) or not 0 <= cell < size:
            problem = "a reported number is out of range"
            raise ReportError(problem, given=cell, expected=f"an integer from 0 to {size - 1}")
