"""A hypothesis about a table: what every test needs to know of it, and the two extremes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from deniable.errors import EstimationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class Hypothesis(Protocol):
    """A set of tables, described by factors that may be moved freely."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the table's numbers of cells."""

    @property
    def freedom(self) -> int:
        """Return how many dimensions the hypothesis takes from the full table."""

    def start(self) -> list[Array]:
        """Return factors to begin a fit from."""

    def factors(self, table: Array) -> list[Array]:
        """Return the factors of the member that has the margins of a table."""

    def table(self, factors: Sequence[Array]) -> Array:
        """Return π from its factors, its axes in the table's order."""

    def directions(self, factors: Sequence[Array]) -> Iterator[Array]:
        """Yield ∂π for each free coordinate."""

    def moved(self, factors: Sequence[Array], step: Array) -> list[Array]:
        """Return the factors after a step along the directions, in their order."""

    def nearest(self, table: Array) -> Array:
        """Return the maximum-likelihood fit to a proper table of plain counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """The table is this one, and nothing is left to fit: goodness of fit.

    Attributes:
        shares: The distribution that the truth is said to have.
    """

    shares: Array

    def __post_init__(self) -> None:
        """Refuse what is no distribution."""
        proper = np.all(np.isfinite(self.shares)) and np.all(self.shares >= 0)
        if not proper or abs(float(self.shares.sum()) - 1) > 1e-6:  # noqa: PLR2004
            problem = "goodness of fit needs the shares of every cell, at least 0 and together 1"
            raise EstimationError(problem, given=f"{float(self.shares.sum()):.6g} together")

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the table's numbers of cells."""
        return self.shares.shape

    @property
    def freedom(self) -> int:
        """Return all dimensions of the table."""
        return self.shares.size - 1

    def start(self) -> list[Array]:
        """Return the table."""
        return [self.shares]

    def factors(self, table: Array) -> list[Array]:
        """Return the table given, whatever the other one."""
        del table
        return [self.shares]

    def table(self, factors: Sequence[Array]) -> Array:
        """Return the table."""
        return factors[0]

    def directions(self, factors: Sequence[Array]) -> Iterator[Array]:
        """Yield nothing: there is nothing to fit."""
        del factors
        return iter(())

    def moved(self, factors: Sequence[Array], step: Array) -> list[Array]:
        """Return the same factors."""
        del step
        return list(factors)

    def nearest(self, table: Array) -> Array:
        """Return the table given, whatever the other one."""
        del table
        return self.shares


@dataclass(frozen=True, slots=True)
class Anything:
    """Every table is possible: what two groups have in common if nothing else is known."""

    shape: tuple[int, ...]

    @property
    def freedom(self) -> int:
        """Return 0: nothing is taken from the full table."""
        return 0

    def start(self) -> list[Array]:
        """Return the even table."""
        cells = math.prod(self.shape)
        return [np.full(self.shape, 1 / cells)]

    def factors(self, table: Array) -> list[Array]:
        """Return the table itself."""
        return [table]

    def table(self, factors: Sequence[Array]) -> Array:
        """Return the table."""
        return factors[0]

    def directions(self, factors: Sequence[Array]) -> Iterator[Array]:
        """Yield all directions of the full table."""
        del factors
        return every_direction(self.shape)

    def moved(self, factors: Sequence[Array], step: Array) -> list[Array]:
        """Return the table after a step."""
        flat = np.append(step, -step.sum())
        return [factors[0] + flat.reshape(self.shape)]

    def nearest(self, table: Array) -> Array:
        """Return the table."""
        return table


def every_direction(shape: Sequence[int]) -> Iterator[Array]:
    """Yield all directions of the full table: one cell up, the last one down."""
    cells = math.prod(shape)
    for cell in range(cells - 1):
        direction = np.zeros(cells)
        direction[cell], direction[-1] = 1, -1
        yield direction.reshape(tuple(shape))
