"""A regression model: shares of (outcome, predictors) as a function of its parameters.

π_u[y, x] = f_u(x; γ)·μ_u(y | x; β): f is the background, μ the logit of the outcome with
the linear predictors η_k = Σ_j β_kj·z_j(x, u). The parameters are β, category by category,
then γ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.inference.regression import logit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.inference.regression.background import Background
    from deniable.inference.regression.column import Column

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """The model at some parameters, for some covariate rows.

    Attributes:
        table: π, with the axes (u, y, x).
        slopes: ∂π/∂θ, with one axis more.
    """

    table: Array
    slopes: Array


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A logistic or multinomial regression.

    Attributes:
        categories: The number of the outcome's categories; the reference is the first axis
            position of μ, whatever its place in the attribute.
        reference: The place of the reference category in the attribute.
        columns: What stands in the linear predictor.
        background: The distribution of the randomized predictors.
    """

    categories: int
    reference: int
    columns: tuple[Column, ...]
    background: Background

    @property
    def others(self) -> list[int]:
        """Return the places of the outcome's categories without the reference."""
        return [place for place in range(self.categories) if place != self.reference]

    @property
    def coefficients(self) -> int:
        """Return the number of β."""
        return (self.categories - 1) * len(self.columns)

    @property
    def size(self) -> int:
        """Return the number of parameters."""
        return self.coefficients + self.background.size

    def start(self) -> Array:
        """Return parameters with even chances everywhere."""
        return np.concatenate([np.zeros(self.coefficients), self.background.start()])

    def keeping(self, kept: Sequence[int]) -> Model:
        """Return the model with some of its columns only."""
        return replace(self, columns=tuple(self.columns[place] for place in kept))

    def design(self, rows: slice) -> Array:
        """Return z_j(x, u), with the axes (u, x, j)."""
        return np.stack(
            [column.rows[rows, None] * column.cells[None, :] for column in self.columns], axis=-1
        )

    def predictors(self, theta: Array, rows: slice) -> Array:
        """Return η, with the axes (u, x, k)."""
        return np.asarray(self.design(rows) @ self._beta(theta).T)

    def chances(self, theta: Array, rows: slice) -> Array:
        """Return μ with the reference first, and the axes (u, x, k)."""
        return logit.chances(self.predictors(theta, rows))

    def table(self, theta: Array, rows: slice) -> Array:
        """Return π."""
        shares = self.background.shares(self._gamma(theta), rows)
        return self._placed(shares[..., None] * self.chances(theta, rows))

    def shares(self, theta: Array, rows: slice) -> Shares:
        """Return π and its slopes."""
        gamma = self._gamma(theta)
        chance = self.chances(theta, rows)
        shares = self.background.shares(gamma, rows)
        turn = shares[..., None, None] * logit.slopes(chance)
        design = self.design(rows)
        of_beta = (turn[..., :, :, None] * design[..., None, None, :]).reshape(
            *chance.shape, self.coefficients
        )
        of_gamma = self.background.slopes(gamma, rows)[..., None, :] * chance[..., None]
        slopes = np.concatenate([of_beta, of_gamma], axis=-1)
        return Shares(self._placed(shares[..., None] * chance), self._placed(slopes))

    def bend(self, theta: Array, weights: Array, rows: slice) -> Array:
        """Return Σ w[u, y, x]·∂²π[u, y, x]/∂θ∂θ."""
        gamma = self._gamma(theta)
        chance, design = self.chances(theta, rows), self.design(rows)
        shares, turn = self.background.shares(gamma, rows), self.background.slopes(gamma, rows)
        order = [self.reference, *self.others]
        laid = np.moveaxis(weights[:, order, :], 1, 2)
        curved = shares[..., None, None] * logit.bend(chance, laid)
        result = np.empty((self.size, self.size))
        n = self.coefficients
        result[:n, :n] = np.einsum(
            "uxkl,uxi,uxj->kilj", curved, design, design, optimize=True
        ).reshape(n, n)
        pulled = logit.pull(chance, laid)[..., :, None] * design[..., None, :]
        wide = np.broadcast_to(turn, (*chance.shape[:2], self.background.size))
        size = pulled.shape[0] * pulled.shape[1]
        flat = pulled.reshape(size, n).T @ wide.reshape(size, self.background.size)
        result[:n, n:], result[n:, :n] = flat, flat.T
        result[n:, n:] = self.background.bend(gamma, np.sum(laid * chance, axis=-1), rows)
        return result

    def _beta(self, theta: Array) -> Array:
        return theta[: self.coefficients].reshape(self.categories - 1, len(self.columns))

    def _gamma(self, theta: Array) -> Array:
        return theta[self.coefficients :]

    def _placed(self, found: Array) -> Array:
        """Bring (u, x, k, …) with the reference first to (u, y, x, …) in the attribute's order."""
        order = np.argsort([self.reference, *self.others])
        return np.ascontiguousarray(np.moveaxis(found[:, :, order], 2, 1))
