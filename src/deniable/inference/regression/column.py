"""A column of the linear predictor: what one coefficient multiplies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

INTERCEPT = "(intercept)"


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The product of a function of the randomized predictors and one of the covariates.

    Attributes:
        label: What the coefficient is called: ``"sex=female"``.
        term: The term it belongs to: ``"sex"``.
        cells: Its value in each cell of the randomized predictors.
        rows: Its value in each different row of plain covariates.
    """

    label: str
    term: str
    cells: Array
    rows: Array

    @property
    def reach(self) -> float:
        """Return the difference of its largest and its smallest value; 1 if it is constant."""
        corners = np.outer([self.cells.min(), self.cells.max()], [self.rows.min(), self.rows.max()])
        return float(corners.max() - corners.min()) or 1.0

    def times(self, other: Column) -> Column:
        """Return the interaction of two columns."""
        return Column(
            f"{self.label}:{other.label}",
            f"{self.term}:{other.term}",
            self.cells * other.cells,
            self.rows * other.rows,
        )


def intercept(cells: int, rows: int) -> Column:
    """Return the column of ones."""
    return Column(INTERCEPT, INTERCEPT, np.ones(cells), np.ones(rows))


def product(factors: Sequence[Sequence[Column]]) -> list[Column]:
    """Return the columns of an interaction: one of each factor, in every combination."""
    (first, *rest) = factors
    found = list(first)
    for factor in rest:
        found = [one.times(other) for one in found for other in factor]
    return found
