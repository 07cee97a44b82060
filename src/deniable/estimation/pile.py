"""How sure a stack makes a table: its rows' inverses pooled, with their covariances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError
from deniable.estimation.covariance import MOST_DENSE, Curve, made_proper, moment_outside

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.estimation.stack import Stack

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Pile:
    """The dispersion of a stack's pooled inverse: that of its rows' sights, row by row at once.

    Each row adds weight²·(Uᵀ diag(λ) U − ππᵀ)/n, where U[y, x] = ([y = x] − c[x]) / p and
    c = (1 − p)·T.

    Attributes:
        centre: Σ weight·inverse, an axis for each attribute.
        stack: What was seen; it has the whole table.
        factor: weight²/n of each row, with n − 1 for the n people together.
    """

    centre: Array
    stack: Stack
    factor: Array

    @property
    def people(self) -> int:
        """Return how many respondents told of the whole table."""
        return round(float(self.stack.counts.sum()))

    def curve(self) -> Curve:
        """Return Var(t) exactly for the path on which the other cells keep their proportions.

        See ``Dispersion.curve``: one report adds U[Y, x] with second moment t·B + (1 − t)·b.
        """
        proper = made_proper(self.centre)
        truth, lie = self.stack.truth, self.stack.lie
        met = truth + lie
        inside = (met * (1 - lie) ** 2 + (1 - met) * lie**2) / truth**2
        known, even = self._squares(proper), self._squares(np.full_like(proper, 1 / proper.size))
        outside = moment_outside(proper.reshape(-1), inside, known, even)
        shape = self.centre.shape
        return Curve(
            (self.factor @ outside).reshape(shape),
            (self.factor @ (inside - outside)).reshape(shape),
            np.full(shape, -self.factor.sum()),
        )

    def _squares(self, table: Array) -> Array:
        """Return E U[Y, x]² of everybody for each row and cell, where π is ``table``."""
        truth, lie = self.stack.truth, self.stack.lie
        seen = self.stack.see(table)
        result: Array = (
            seen * (1 - lie) ** 2 + (seen.sum(axis=1, keepdims=True) - seen) * lie**2
        ) / truth**2
        return result

    def between(self, weights: Array) -> Array:
        """Return the covariances of linear combinations of cells: W·Σ·Wᵀ, Σ never laid out."""
        flat = weights.reshape(len(weights), -1)
        share = self.factor / self.stack.truth[:, 0] ** 2
        seen = self.stack.see(self.centre)
        came, lied = seen @ flat.T, self.stack.lie @ flat.T
        crossed = (came * share[:, None]).T @ lied
        both = (lied * (share * seen.sum(axis=1))[:, None]).T @ lied
        means = flat @ self.centre.reshape(-1)
        single = (flat * (share @ seen)) @ flat.T
        result: Array = (
            single - crossed - crossed.T + both - self.factor.sum() * np.outer(means, means)
        )
        return result

    def dense(self) -> Array:
        """Return the covariance matrix of the flattened cells."""
        cells = self.centre.size
        if cells > MOST_DENSE:
            problem = "the covariance matrix of so large a table is not laid out"
            raise EstimationError(problem, given=cells, expected=f"at most {MOST_DENSE} cells")
        return self.between(np.eye(cells))


def piled(stack: Stack) -> Pile:
    """Return the weighted mean of a stack's inverses; a row weighs n / noise, as sights do."""
    people = stack.counts.sum(axis=1)
    weight = people / stack.noise
    weight /= weight.sum()
    total = people.sum()
    factor = total / max(total - 1, 1) * weight**2 / people
    return Pile((weight @ stack.inverses).reshape(stack.sizes), stack, factor)
