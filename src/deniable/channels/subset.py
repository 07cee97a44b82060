"""Subset selection: the report is a set of s cells that holds the truth with higher odds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, ClassVar

from deniable.channels.coin import WORD
from deniable.channels.exact import asked_epsilon, cell_of, check_head, check_size, odds_out_of
from deniable.channels.k_ary import check_cells
from deniable.errors import ChannelError, ReportError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deniable.channels.coin import Coin
    from deniable.channels.contract import Value


@dataclass(frozen=True, slots=True)
class SubsetSelection:
    """With p = head / 2³² the truth is in; the other cells are a uniform sample without return."""

    kind: ClassVar[str] = "subset"

    head: int
    size: int
    chosen: int

    def __post_init__(self) -> None:
        """Refuse what is not a channel."""
        check_head(self.head)
        check_size(self.size)
        chosen = self.chosen
        if isinstance(chosen, bool) or not isinstance(chosen, int) or not 0 < chosen < self.size:
            problem = "a subset must leave at least one cell out and hold at least one"
            raise ChannelError(problem, given=chosen, expected=f"1 to {self.size - 1}")
        if self.head * (self.size - chosen) <= (WORD - self.head) * chosen:
            problem = "a subset must hold the truth with higher odds than another cell"
            raise ChannelError(problem, given=self.head, expected="a larger head")

    @property
    def width(self) -> int:
        """Return s: a report is s cells in ascending order."""
        return self.chosen

    def randomize(self, answer: int, coin: Coin) -> Value:
        """Decide whether the truth is in, then fill up from the other cells (Floyd's sample)."""
        answer = cell_of(answer, self.size)
        inside = coin.heads(self.head)
        wanted = self.chosen - inside
        others = self.size - 1
        sample: set[int] = set()
        for last in range(others - wanted, others):
            cell = coin.below(last + 1)
            sample.add(last if cell in sample else cell)
        report = [cell + (cell >= answer) for cell in sample]
        if inside:
            report.append(answer)
        return tuple(sorted(report))

    def probability(self, report: Value, answer: int) -> Fraction:
        """Return P(report | answer) exactly."""
        others = self.size - 1
        if answer in report:
            return Fraction(self.head, WORD) / math.comb(others, self.chosen - 1)
        return Fraction(WORD - self.head, WORD) / math.comb(others, self.chosen)

    def reports(self) -> Iterator[Value]:
        """Yield every subset."""
        return combinations(range(self.size), self.chosen)

    def check(self, report: Value) -> None:
        """Raise ``ReportError`` unless the report is s ascending cells."""
        if len(report) != self.chosen:
            problem = "a report of this channel is a set of fixed size"
            given = f"{len(report)} numbers"
            raise ReportError(problem, given=given, expected=f"{self.chosen} numbers")
        check_cells(report, self.size)
        if any(low >= high for low, high in pairwise(report)):
            problem = "the cells of a reported set must ascend"
            raise ReportError(problem, expected="each cell once, in ascending order")

    def worst_ratio(self) -> tuple[int, int]:
        """Return p·(m − s) / ((1 − p)·s) as a ratio of integers."""
        inside = self.head * (self.size - self.chosen)
        outside = (WORD - self.head) * self.chosen
        return inside, outside


def subset(epsilon: float, size: int, chosen: int | None = None) -> SubsetSelection:
    """Return subset selection of at most ``epsilon``; s defaults to about m / (1 + e^ε).

    >>> subset(1.0, 16).chosen
    4
    """
    check_size(size)
    if chosen is None:
        chosen = best_subset(epsilon, size)
    if not 0 < chosen < size:
        problem = "a subset must leave at least one cell out and hold at least one"
        raise ChannelError(problem, given=chosen, expected=f"1 to {size - 1}")
    return SubsetSelection(odds_out_of(epsilon, chosen, size - chosen), size, chosen)


def best_subset(epsilon: float, size: int) -> int:
    """Return the subset size of least total variance among the neighbours of m / (1 + e^ε)."""
    odds = math.exp(asked_epsilon(epsilon))
    near = int(size / (1 + odds))
    sizes = {min(max(s, 1), size - 1) for s in (near, near + 1)}
    return min(sorted(sizes), key=lambda s: _total_variance(odds, size, s))


def _total_variance(odds: float, size: int, chosen: int) -> float:
    """Return the summed variance of the estimated cells, per respondent, at even π."""
    inside = odds * chosen / (odds * chosen + size - chosen)
    other = (chosen - inside) / (size - 1)
    seen = chosen / size
    return size * seen * (1 - seen) / (inside - other) ** 2
