"""A lens: one group's channel, reduced to those of its attributes that a table has.

Through a lens a distribution π over the table's cells is seen as λ over report values,
λ[y] = Σ_x π[x]·L[y, x]. Four linear maps follow from L and from its inverse U, where
U[y, ·] is what one report y adds to the unbiased estimate (Imran eq. 4, Domingo eq. 2,
Wang eq. 17, Kikuchi eq. 5): Σ_y λ[y]·U[y, x] = π[x].

Reducing loses nothing that the table needs: two coins over a group are, for some of its
attributes, two coins whose fake distribution is summed; for reported sets and bits only
the number of supported cells in each slice matters, because the channel treats the cells
of a slice alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from deniable.errors import EstimationError
from deniable.estimation.bump import Bump

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.estimation.echo import Echo

    Array = NDArray[np.float64]


class Lens(Protocol):
    """What a table looks like through one group's channel."""

    @property
    def cells(self) -> int:
        """Return the number of cells of the table's part."""

    @property
    def values(self) -> int:
        """Return the number of report values told apart."""

    @property
    def see(self) -> Bump | Array:
        """Return L, cells to values."""

    @property
    def trace(self) -> Bump | Array:
        """Return Lᵀ, values to cells."""

    @property
    def invert(self) -> Bump | Array:
        """Return Uᵀ, values to cells."""

    def power(self, order: int) -> Bump | Array:
        """Return Uᵀ with each entry raised to a power, values to cells."""

    @property
    def spread(self) -> Bump | Array:
        """Return U, cells to values."""

    @property
    def likelihood(self) -> Array:
        """Return L as a matrix, values × cells; a row may be scaled by any constant."""

    @property
    def inverse(self) -> Array:
        """Return U as a matrix, values × cells."""

    @property
    def inside(self) -> Array | None:
        """Return E[U[Y, x]² | answer x] for each cell x, where it is known in closed form."""

    @property
    def squares(self) -> Bump | Array | None:
        """Return E[U[Y, x]² | answer z], from cells z to cells x, where it is known."""

    @property
    def noise(self) -> float:
        """Return E Σ_x U[Y, x]² at even π: what one report's estimate is worth."""

    @property
    def complete(self) -> bool:
        """Tell whether L has a row for every possible report, so that λ sums to Σπ."""


@dataclass(frozen=True, slots=True, eq=False)
class PointLens:
    """Two coins: P(y|x) = p·[y = x] + (1 − p)·T[y]. Nothing larger than a vector is made."""

    truth: float
    fake: Array

    @property
    def cells(self) -> int:
        """Return the number of cells."""
        return self.fake.size

    @property
    def values(self) -> int:
        """Return the number of cells: a report is one."""
        return self.fake.size

    @property
    def lie(self) -> Array:
        """Return (1 − p)·T."""
        return (1 - self.truth) * self.fake

    @property
    def _ones(self) -> Array:
        return np.ones(self.fake.size)

    @property
    def see(self) -> Bump:
        """Return L: λ = p·π + (1 − p)·T·Σπ (Imran's protocol)."""
        return Bump(self.truth * self._ones, self.lie, self._ones)

    @property
    def trace(self) -> Bump:
        """Return Lᵀ."""
        return Bump(self.truth * self._ones, self._ones, self.lie)

    @property
    def invert(self) -> Bump:
        """Return Uᵀ: π = (λ − (1 − p)·T·Σλ) / p (Imran eq. 4)."""
        return Bump(self._ones / self.truth, -self.lie / self.truth, self._ones)

    def power(self, order: int) -> Bump:
        """Return the powers of U[y, x] = ([y = x] − c[x]) / p, c = (1 − p)·T, transposed."""
        elsewhere = (-self.lie / self.truth) ** order
        return Bump(((1 - self.lie) / self.truth) ** order - elsewhere, elsewhere, self._ones)

    @property
    def spread(self) -> Bump:
        """Return U."""
        return Bump(self._ones / self.truth, -self._ones / self.truth, self.lie)

    @property
    def likelihood(self) -> Array:
        """Return L as a matrix."""
        return self.see.dense()

    @property
    def inverse(self) -> Array:
        """Return U as a matrix."""
        return self.spread.dense()

    @property
    def inside(self) -> Array:
        """Return E[U[Y, x]² | x] = ((p + c)(1 − c)² + (1 − p − c)·c²) / p²."""
        lie, truth = self.lie, self.truth
        seen = truth + lie
        result: Array = (seen * (1 - lie) ** 2 + (1 - seen) * lie**2) / truth**2
        return result

    @property
    def squares(self) -> Bump:
        """Return E[U[Y, x]² | z]: where z ≠ x a report of x is a lie, c(1 − c)/p²."""
        other = self.lie * (1 - self.lie) / self.truth**2
        return Bump(self.inside - other, other, self._ones)

    @property
    def noise(self) -> float:
        """Return E Σ_x U[Y, x]² at even π."""
        seen = self.truth / self.cells + self.lie
        return float(np.sum(seen * (1 - 2 * self.lie) + self.lie**2) / self.truth**2)

    @property
    def complete(self) -> bool:
        """Return true."""
        return True


@dataclass(frozen=True, slots=True, eq=False)
class RowLens:
    """Any channel, one row for each report value that came.

    Attributes:
        likelihood: L, values × cells; a row may be scaled by any constant.
        inverse: U, values × cells.
        noise: E Σ_x U[Y, x]² at even π.
        inside: E[U[Y, x]² | x] where it is known.
        complete: Whether there is a row for every possible report.
        echo: All second moments of U given the answer, where they are known without all rows.
    """

    likelihood: Array
    inverse: Array
    noise: float
    inside: Array | None = None
    complete: bool = False
    echo: Echo | None = None

    def __post_init__(self) -> None:
        """Refuse rows that no answer explains."""
        if not np.all(np.isfinite(self.inverse)):
            problem = "the channel has no inverse: different answers give the same reports"
            raise EstimationError(problem, expected="a channel with epsilon above 0")

    @property
    def cells(self) -> int:
        """Return the number of columns."""
        return int(self.likelihood.shape[1])

    @property
    def values(self) -> int:
        """Return the number of rows."""
        return int(self.likelihood.shape[0])

    @property
    def squares(self) -> Array | None:
        """Return E[U[Y, x]² | z], by the echo or over all rows."""
        if self.echo is not None:
            beyond = (self.echo.own - self.echo.other) * np.eye(self.cells)
            return np.asarray(self.echo.other + beyond)
        return (self.inverse**2).T @ self.likelihood if self.complete else None

    @property
    def see(self) -> Array:
        """Return L."""
        return self.likelihood

    @property
    def trace(self) -> Array:
        """Return Lᵀ."""
        return self.likelihood.T

    @property
    def invert(self) -> Array:
        """Return Uᵀ."""
        return self.inverse.T

    def power(self, order: int) -> Array:
        """Return Uᵀ with each entry raised to a power."""
        result: Array = self.inverse.T**order
        return result

    @property
    def spread(self) -> Array:
        """Return U."""
        return self.inverse
