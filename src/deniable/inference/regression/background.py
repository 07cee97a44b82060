"""Backgrounds: how the predictors that were randomized are distributed themselves.

Nobody saw them, so their distribution is estimated together with the coefficients. Alone
it is any table; beside plain covariates it is a multinomial logit of their cells on these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from deniable.inference.regression import logit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class Background(Protocol):
    """The distribution of the randomized predictors, with free parameters γ."""

    @property
    def size(self) -> int:
        """Return the number of parameters."""

    def start(self) -> Array:
        """Return the γ of equal shares."""

    def shares(self, gamma: Array, rows: slice) -> Array:
        """Return f[u, x]."""

    def slopes(self, gamma: Array, rows: slice) -> Array:
        """Return ∂f[u, x]/∂γ, with the axes (u, x, parameter)."""

    def bend(self, gamma: Array, weights: Array, rows: slice) -> Array:
        """Return Σ w[u, x]·∂²f[u, x]/∂γ∂γ."""


@dataclass(frozen=True, slots=True)
class AnyTable:
    """Any shares, the same for everybody; they may leave the simplex a little.

    Attributes:
        cells: The number of cells of the randomized predictors, 1 if there is none.
    """

    cells: int

    @property
    def size(self) -> int:
        """Return all but one of the shares."""
        return self.cells - 1

    def start(self) -> Array:
        """Return equal shares."""
        return np.full(self.size, 1 / self.cells)

    def shares(self, gamma: Array, rows: slice) -> Array:
        """Return the shares; the last one is what the others leave."""
        del rows
        return np.append(gamma, 1 - gamma.sum())[None, :]

    def slopes(self, gamma: Array, rows: slice) -> Array:
        """Return one cell up, the last one down."""
        del gamma, rows
        return np.vstack([np.eye(self.size), -np.ones((1, self.size))])[None, :, :]

    def bend(self, gamma: Array, weights: Array, rows: slice) -> Array:
        """Return nothing: the shares are straight in γ."""
        del gamma, weights, rows
        return np.zeros((self.size, self.size))


@dataclass(frozen=True, slots=True, eq=False)
class Dependent:
    """A multinomial logit of the cells on plain covariates.

    Attributes:
        cells: The number of cells of the randomized predictors.
        design: One row for each different covariate row, the first column 1.
    """

    cells: int
    design: Array

    @property
    def size(self) -> int:
        """Return a coefficient for each column and each cell but the first."""
        return (self.cells - 1) * int(self.design.shape[1])

    def start(self) -> Array:
        """Return zeros."""
        return np.zeros(self.size)

    def shares(self, gamma: Array, rows: slice) -> Array:
        """Return the logit's chances."""
        return logit.chances(self.design[rows] @ self._matrix(gamma).T)

    def slopes(self, gamma: Array, rows: slice) -> Array:
        """Return ∂f/∂η times the row of the design."""
        turn = logit.slopes(self.shares(gamma, rows))
        wide = turn[..., None] * self.design[rows][:, None, None, :]
        return wide.reshape(*turn.shape[:2], self.size)

    def bend(self, gamma: Array, weights: Array, rows: slice) -> Array:
        """Return Σ w·∂²f/∂η∂η times the products of the design's columns."""
        curved = logit.bend(self.shares(gamma, rows), weights)
        design = self.design[rows]
        wide: Array = np.einsum("ukl,ui,uj->kilj", curved, design, design, optimize=True)
        return wide.reshape(self.size, self.size)

    def _matrix(self, gamma: Array) -> Array:
        return gamma.reshape(self.cells - 1, self.design.shape[1])
