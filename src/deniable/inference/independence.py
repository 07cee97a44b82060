"""The hypothesis of independence: of parts of a table, given others or outright.

π(c, x₁, x₂, …) = θ(c) · φ₁(x₁|c) · φ₂(x₂|c) · …, where c runs over the conditioning
attributes and each x over the attributes of one part. θ and each φ(·|c) sum to one but
may be a little negative: the truth stays inside, and a fit that may not step outside
would make tests of small margins too eager.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Independence:
    """Parts of the table's axes that are independent of each other, given some axes.

    Attributes:
        shape: The table's numbers of cells.
        parts: At least two sets of axes.
        given: The axes conditioned on; together with the parts, every axis once.
    """

    shape: tuple[int, ...]
    parts: tuple[tuple[int, ...], ...]
    given: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse parts that overlap or leave an axis out."""
        axes = sorted(chain(self.given, *self.parts))
        if axes != list(range(len(self.shape))) or len(self.parts) < 2 or not all(self.parts):  # noqa: PLR2004
            problem = "independence needs at least two parts that hold every attribute once"
            raise EstimationError(problem, given=(self.parts, self.given))

    @property
    def order(self) -> tuple[int, ...]:
        """Return the axes: those conditioned on, then part by part."""
        return (*self.given, *chain(*self.parts))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the cells conditioned on, then those of each part."""
        return tuple(self._cells(axes) for axes in (self.given, *self.parts))

    @property
    def is_mutual(self) -> bool:
        """Tell whether every attribute is independent of all others, nothing given."""
        return not self.given and all(len(part) == 1 for part in self.parts)

    @property
    def freedom(self) -> int:
        """Return how many dimensions the hypothesis takes from the full table."""
        strata, *parts = self.sizes
        free = strata - 1 + strata * sum(size - 1 for size in parts)
        return math.prod(self.shape) - 1 - free

    def start(self) -> list[Array]:
        """Return even factors: θ, then one φ for each part."""
        strata, *parts = self.sizes
        return [np.full(strata, 1 / strata), *(np.full((strata, s), 1 / s) for s in parts)]

    def table(self, factors: Sequence[Array]) -> Array:
        """Return π from its factors, its axes in the table's order."""
        return self._settled(self._product(factors))

    def directions(self, factors: Sequence[Array]) -> Iterator[Array]:
        """Yield ∂π for each free coordinate: its own cell up, the last cell of its sum down."""
        strata, *parts = self.sizes
        theta = factors[0]
        for cell in range(strata - 1):
            moved = np.zeros_like(theta)
            moved[cell], moved[-1] = 1, -1
            yield self._settled(self._product([moved, *factors[1:]]))
        for place, size in enumerate(parts, start=1):
            for stratum in range(strata):
                for cell in range(size - 1):
                    moved = np.zeros_like(factors[place])
                    moved[stratum, cell], moved[stratum, -1] = 1, -1
                    changed = [*factors[:place], moved, *factors[place + 1 :]]
                    yield self._settled(self._product(changed))

    def moved(self, factors: Sequence[Array], step: Array) -> list[Array]:
        """Return the factors after a step along the directions, in their order."""
        strata, *parts = self.sizes
        taken = strata - 1
        theta = factors[0] + np.append(step[:taken], -step[:taken].sum())
        result = [theta]
        for factor, size in zip(factors[1:], parts, strict=True):
            free = step[taken : taken + strata * (size - 1)].reshape(strata, size - 1)
            taken += free.size
            result.append(factor + np.hstack([free, -free.sum(axis=1, keepdims=True)]))
        return result

    def factors(self, table: Array) -> list[Array]:
        """Return the margins of a table as factors; even where nobody is conditioned on."""
        strata, *parts = self.sizes
        wide = table.transpose(self.order).reshape(strata, *parts)
        theta = wide.reshape(strata, -1).sum(axis=1)
        factors = [theta]
        for place, size in enumerate(parts, start=1):
            others = tuple(axis for axis in range(1, wide.ndim) if axis != place)
            margin = wide.sum(axis=others)
            even = np.full_like(margin, 1 / size)
            factors.append(np.divide(margin, theta[:, None], out=even, where=theta[:, None] > 0))
        return factors

    def nearest(self, table: Array) -> Array:
        """Return the member of the hypothesis with the margins of a proper table.

        It is the maximum-likelihood fit to a table of plain counts.
        """
        return self.table(self.factors(table))

    def _cells(self, axes: Sequence[int]) -> int:
        return math.prod(self.shape[axis] for axis in axes)

    def _product(self, factors: Sequence[Array]) -> Array:
        result = factors[0]
        for place, factor in enumerate(factors[1:], start=1):
            wide = (factor.shape[0], *(1,) * (place - 1), factor.shape[1])
            result = result[..., None] * factor.reshape(wide)
        return result

    def _settled(self, product: Array) -> Array:
        order = self.order
        wide = product.reshape([self.shape[axis] for axis in order])
        return wide.transpose([order.index(axis) for axis in range(len(order))])


def mutual(shape: Sequence[int]) -> Independence:
    """Return the hypothesis that every attribute is independent of all others.

    >>> mutual((2, 3)).freedom, mutual((2, 2, 2)).freedom
    (2, 4)
    """
    return Independence(tuple(shape), tuple((axis,) for axis in range(len(shape))))
