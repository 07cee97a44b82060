"""Any row-stochastic matrix in exact integers, and the rounded Laplace that Wang compares with."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from deniable.channels.coin import WORD
from deniable.channels.exact import (
    asked_epsilon,
    bounds_of,
    cell_of,
    check_size,
    check_weights,
    is_list,
    log_ratio,
    weights_from,
)
from deniable.channels.k_ary import check_cell
from deniable.errors import ChannelError, EpsilonError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deniable.channels.coin import Coin
    from deniable.channels.contract import Value


@dataclass(frozen=True, slots=True)
class Matrix:
    """P(y|x) = rows[x][y] / 2³². Reports may be more or fewer than answers."""

    kind: ClassVar[str] = "matrix"

    rows: tuple[tuple[int, ...], ...]
    bounds: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse what is not a channel."""
        for number, row in enumerate(self.rows):
            check_weights(row, f"row {number} of a channel matrix")
        check_size(len(self.rows))
        if len({len(row) for row in self.rows}) != 1:
            problem = "the rows of a channel matrix differ in length"
            raise ChannelError(problem, expected="one column for each possible report")
        object.__setattr__(self, "bounds", tuple(bounds_of(row) for row in self.rows))

    @property
    def size(self) -> int:
        """Return the number of rows: cells an answer may take."""
        return len(self.rows)

    @property
    def width(self) -> int:
        """Return 1: a report is one column."""
        return 1

    def randomize(self, answer: int, coin: Coin) -> Value:
        """Draw a column from the answer's row."""
        return (coin.pick(self.bounds[cell_of(answer, self.size)]),)

    def probability(self, report: Value, answer: int) -> Fraction:
        """Return P(report | answer) exactly."""
        (column,) = report
        return Fraction(self.rows[answer][column], WORD)

    def reports(self) -> Iterator[Value]:
        """Yield every column that can occur."""
        columns = range(len(self.rows[0]))
        return ((column,) for column in columns if any(row[column] for row in self.rows))

    def check(self, report: Value) -> None:
        """Raise ``ReportError`` unless the report is one column."""
        check_cell(report, len(self.rows[0]))

    def worst_ratio(self) -> tuple[int, int]:
        """Return max over columns of largest / smallest entry (Domingo eq. 4, Wang Result 3)."""
        extremes = [(max(column), min(column)) for column in zip(*self.rows, strict=True)]
        if any(high and not low for high, low in extremes):
            return 1, 0
        return max((pair for pair in extremes if pair[0]), key=lambda pair: Fraction(*pair))


def matrix(probabilities: Sequence[Sequence[float]]) -> Matrix:
    """Return the channel whose rows are the given probabilities, to within 2⁻³².

    >>> matrix([[0.75, 0.25], [0.25, 0.75]]).size
    2
    """
    if not is_list(probabilities):
        problem = "a channel matrix must be a list of rows"
        given = type(probabilities).__name__
        raise ChannelError(problem, given=given, expected="such as [[0.75, 0.25], [0.25, 0.75]]")
    return Matrix(tuple(weights_from(row) for row in probabilities))


def rounded_laplace(epsilon: float, size: int) -> Matrix:
    """Return Laplace noise of scale (t − 1)/ε on an ordinal answer, rounded and clamped.

    Wang eq. 11 and 21, with thresholds c_u = u + ½. Rounded to integers so that the
    certified ε does not exceed the asked one.
    """
    check_size(size)
    allowed = float(asked_epsilon(epsilon))
    for attempt in range(40):
        shrunk = allowed * (1 - (2.0**attempt - 1) * 2.0**-36)
        channel = matrix(_laplace_rows(shrunk, size))
        if 0 < log_ratio(*channel.worst_ratio()) <= allowed:
            return channel
    problem = "rounded Laplace cannot be expressed in 32 bits at this epsilon and size"
    raise EpsilonError(problem, given=epsilon, expected="another epsilon or fewer cells")


def _laplace_rows(epsilon: float, size: int) -> list[list[float]]:
    scale = (size - 1) / epsilon

    def below(threshold: float) -> float:
        if threshold < 0:
            return 0.5 * math.exp(threshold / scale)
        return 1 - 0.5 * math.exp(-threshold / scale)

    rows = []
    for answer in range(size):
        cuts = [below(u + 0.5 - answer) for u in range(size - 1)]
        rows.append(
            [max(high - low, 0.0) for low, high in zip([0.0, *cuts], [*cuts, 1.0], strict=True)]
        )
    return rows
