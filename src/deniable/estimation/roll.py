"""A roll: a sight that keeps distinct reports one by one, where a grid would be larger.

One group, the one of most cells, is met with the table once for each of its values; only
the rest of the table is then gone through report by report.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from deniable.estimation.axes import gathered, settled, widened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.lens import Lens

    Array = NDArray[np.float64]

Chosen: TypeAlias = "tuple[Array, NDArray[np.int64]]"
"""A group's map by report value, and which value each report has."""

CHUNK = 2**20
"""Numbers that are laid out at once where a map goes report by report."""

MOST_MET = 2**24
"""Numbers that are laid out for one group's values met with a whole table: 128 MiB."""


@dataclass(frozen=True, slots=True, eq=False)
class Roll:
    """Distinct reports one by one: for each group, the place of its value behind the lens."""

    block: int
    view: int
    order: tuple[int, ...]
    sizes: tuple[int, ...]
    lenses: tuple[Lens, ...]
    places: tuple[NDArray[np.int64], ...]
    counts: Array

    @property
    def people(self) -> float:
        """Return the number of respondents."""
        return float(self.counts.sum())

    def recounted(self, counts: Array) -> Roll:
        """Return the same sight of other reports."""
        return replace(self, counts=counts)

    def among(self, axes: Sequence[int]) -> Roll:
        """Return the same sight of the smaller table that has only these axes."""
        return replace(self, order=tuple(axes.index(axis) for axis in self.order))

    def see(self, table: Array) -> Array:
        """Return λ for each distinct report."""
        return self._fold([lens.likelihood for lens in self.lenses], table)

    def trace(self, weights: Array, shape: Sequence[int]) -> Array:
        """Return Lᵀw, report by report."""
        part = self._unfold([lens.likelihood for lens in self.lenses], weights)
        return widened(part, self.order, shape)

    def invert(self, weights: Array) -> Array:
        """Return Uᵀw, report by report."""
        return self.moment(weights, 1)

    def moment(self, weights: Array, order: int) -> Array:
        """Return (Uᵀ)^order·w, report by report."""
        return self._unfold([lens.inverse**order for lens in self.lenses], weights)

    def spread(self, table: Array) -> Array:
        """Return U·table for each distinct report."""
        return self._fold([lens.inverse for lens in self.lenses], table)

    def inside(self, seen: Array) -> Array:
        """Estimate the second moments by weighing each report with L[y, x] / λ[y]."""
        share = self.counts / (self.people * seen)
        odds = [lens.likelihood for lens in self.lenses]
        squares = [lens.likelihood * lens.inverse**2 for lens in self.lenses]
        result: Array = self._unfold(squares, share) / self._unfold(odds, share)
        return result

    @property
    def effort(self) -> int:
        """Return how many numbers ``see`` or ``trace`` works out."""
        cells = math.prod(self.sizes)
        first = self._first
        if first is None:
            return cells * len(self.counts)
        lens = self.lenses[first]
        return cells * lens.values + len(self.counts) * (cells // lens.cells)

    @property
    def _first(self) -> int | None:
        """Return the group whose values are met with the table once, not report by report.

        It is the one of most cells; none if that would take too much memory.
        """
        first = max(range(len(self.lenses)), key=lambda place: self.lenses[place].cells)
        rest = math.prod(self.sizes) // self.lenses[first].cells
        return first if self.lenses[first].values * rest <= MOST_MET else None

    def _divided(self, maps: Sequence[Array]) -> tuple[Array, NDArray[np.int64], list[Chosen]]:
        """Return the first group's map and the reports' places in it, and all others'."""
        pairs = list(zip(maps, self.places, strict=True))
        first = self._first
        if first is None:
            return np.ones((1, 1)), np.zeros(len(self.counts), np.int64), pairs
        matrix, places = pairs.pop(first)
        return matrix, places, pairs

    def _fold(self, maps: Sequence[Array], table: Array) -> Array:
        """Return Σ_x π[x]·Π_g M_g[y_g, x_g] for each report y."""
        matrix, places, others = self._divided(maps)
        cells = [lens.cells for lens in self.lenses]
        turned = gathered(table, self.order).reshape(cells)
        turned = turned if self._first is None else np.moveaxis(turned, self._first, 0)
        met = matrix @ turned.reshape(matrix.shape[1], -1)
        parts = [
            np.einsum("ij,ij->i", met[places[rows]], _product(others, rows))
            for rows in _chunks(len(places), met.shape[1])
        ]
        return np.concatenate(parts)

    def _unfold(self, maps: Sequence[Array], weights: Array) -> Array:
        """Return Σ_y w[y]·Π_g M_g[y_g, x_g] for each cell x, one axis for each asked."""
        matrix, places, others = self._divided(maps)
        rest = math.prod(self.sizes) // matrix.shape[1]
        met = np.zeros((len(matrix), rest))
        for rows in _chunks(len(places), rest):
            chosen = places[rows]
            belongs = csr_array(
                (weights[rows], (chosen, np.arange(len(chosen)))), (len(matrix), len(chosen))
            )
            met += belongs @ _product(others, rows)
        result = matrix.T @ met
        if self._first is not None:
            cells = [lens.cells for lens in self.lenses]
            shape = (cells.pop(self._first), *cells)
            result = np.moveaxis(result.reshape(shape), 0, self._first)
        return settled(result.reshape(-1), self.order, self.sizes)


def _chunks(rows: int, width: int) -> list[slice]:
    step = max(1, CHUNK // width)
    return [slice(start, start + step) for start in range(0, rows, step)]


def _product(chosen: Sequence[Chosen], rows: slice) -> Array:
    """Return, for some reports, the product of the groups' rows over all their cells."""
    result: Array | None = None
    for matrix, places in chosen:
        factor = matrix[places[rows]]
        if result is None:
            result = factor
        else:
            result = (result[:, :, None] * factor[:, None, :]).reshape(len(factor), -1)
    return np.ones((1, 1)) if result is None else result
