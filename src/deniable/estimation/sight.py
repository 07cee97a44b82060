"""A sight: how respondents of one block and view saw the cells of a table.

Two forms with the same maps. A lattice counts report values on a grid, one axis for
each group, and every map is applied axis by axis (Kikuchi's castell). A roll keeps the
distinct reports one by one; it serves where the grid would be larger than the reports.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from deniable.estimation.bump import Bump, along
from deniable.estimation.lens import RowLens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.lens import Lens

    Array = NDArray[np.float64]

Map: TypeAlias = Literal["see", "trace", "invert", "spread"]
Chosen: TypeAlias = "tuple[Array, NDArray[np.int64]]"
"""A group's map by report value, and which value each report has."""

CHUNK = 2**20
"""Numbers that are laid out at once where a map goes report by report."""

MOST_MET = 2**24
"""Numbers that are laid out for one group's values met with a whole table: 128 MiB."""


class Sight(Protocol):
    """What one block and view tell about a table of ``shape``."""

    @property
    def block(self) -> int:
        """Return the block's number."""

    @property
    def view(self) -> int:
        """Return the view's number."""

    @property
    def order(self) -> tuple[int, ...]:
        """Return the table's axes that were asked, in the order of the groups."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return their numbers of cells, in that order."""

    @property
    def lenses(self) -> tuple[Lens, ...]:
        """Return one lens for each group."""

    @property
    def counts(self) -> Array:
        """Return how often each report value came."""

    @property
    def people(self) -> float:
        """Return the number of respondents."""

    @property
    def effort(self) -> int:
        """Return about how many numbers a map works out."""

    def recounted(self, counts: Array) -> Sight:
        """Return the same sight of other reports."""

    def among(self, axes: Sequence[int]) -> Sight:
        """Return the same sight of the smaller table that has only these axes."""

    def see(self, table: Array) -> Array:
        """Return λ, the expected share of each report value, from π."""

    def trace(self, weights: Array, shape: Sequence[int]) -> Array:
        """Return Σ_y w[y]·L[y, x] for every cell of a table of ``shape``."""

    def invert(self, weights: Array) -> Array:
        """Return Σ_y w[y]·U[y, x] over the axes that were asked, ascending."""

    def moment(self, weights: Array, order: int) -> Array:
        """Return Σ_y w[y]·U[y, x]^order over the axes that were asked, ascending."""

    def spread(self, table: Array) -> Array:
        """Return Σ_x U[y, x]·table[x] for every report value."""

    def inside(self, seen: Array) -> Array:
        """Return E[U[Y, x]² | answer x] for every cell, where λ is ``seen``."""


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """Counts on a grid of report values, one axis for each group."""

    block: int
    view: int
    order: tuple[int, ...]
    sizes: tuple[int, ...]
    lenses: tuple[Lens, ...]
    counts: Array

    @property
    def people(self) -> float:
        """Return the number of respondents."""
        return float(self.counts.sum())

    @property
    def effort(self) -> int:
        """Return how many numbers a map works out, each from all of an axis if it is no bump."""
        wide = [lens.cells for lens in self.lenses if isinstance(lens, RowLens)]
        cells = max(self.counts.size, math.prod(self.sizes))
        return cells * (len(self.lenses) - len(wide) + sum(wide))

    def recounted(self, counts: Array) -> Lattice:
        """Return the same sight of other reports."""
        return replace(self, counts=counts)

    def among(self, axes: Sequence[int]) -> Lattice:
        """Return the same sight of the smaller table that has only these axes."""
        return replace(self, order=tuple(axes.index(axis) for axis in self.order))

    def see(self, table: Array) -> Array:
        """Return λ, axis by axis."""
        return self._apply("see", self._gathered(table))

    def trace(self, weights: Array, shape: Sequence[int]) -> Array:
        """Return Lᵀw, axis by axis."""
        return _widened(_settled(self._apply("trace", weights), self), self.order, shape)

    def invert(self, weights: Array) -> Array:
        """Return Uᵀw, axis by axis (castell)."""
        return _settled(self._apply("invert", weights), self)

    def moment(self, weights: Array, order: int) -> Array:
        """Return (Uᵀ)^order·w, axis by axis."""
        return _settled(self._along([lens.power(order) for lens in self.lenses], weights), self)

    def spread(self, table: Array) -> Array:
        """Return U·table, axis by axis."""
        return self._apply("spread", self._gathered(table))

    def inside(self, seen: Array) -> Array:
        """Return the product of the lenses' own second moments."""
        result = np.ones(())
        for axis, lens in enumerate(self.lenses):
            moment = lens.inside
            if moment is None:
                others = tuple(other for other in range(seen.ndim) if other != axis)
                share = self.counts.sum(axis=others) / seen.sum(axis=others)
                odds = lens.likelihood * share[:, None]
                moment = np.sum(odds * lens.inverse**2, axis=0) / odds.sum(axis=0)
            result = np.multiply.outer(result, moment)
        return _settled(result, self)

    def _gathered(self, table: Array) -> Array:
        return _gathered(table, self.order).reshape([lens.cells for lens in self.lenses])

    def _apply(self, name: Map, table: Array) -> Array:
        return self._along([getattr(lens, name) for lens in self.lenses], table)

    def _along(self, maps: Sequence[Bump | Array], table: Array) -> Array:
        """Apply one map along each axis."""
        for axis, matrix in enumerate(maps):
            if not isinstance(matrix, Bump):
                table = np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)
        bumps = [matrix if isinstance(matrix, Bump) else None for matrix in maps]
        return along(table, bumps)


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
        return _widened(part, self.order, shape)

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
        turned = _gathered(table, self.order).reshape(cells)
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
        return _settled(result.reshape(-1), self)


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


def merged(sights: Sequence[Sight]) -> list[Sight]:
    """Return the sights with those through the very same lenses counted as one."""
    kept: dict[tuple[object, ...], Sight] = {}
    for number, sight in enumerate(sights):
        alike = isinstance(sight, Lattice) and all(lens.complete for lens in sight.lenses)
        key = (sight.order, *map(id, sight.lenses)) if alike else (number,)
        before = kept.get(key)
        kept[key] = sight if before is None else before.recounted(before.counts + sight.counts)
    return list(kept.values())


def noise_of(sight: Sight) -> float:
    """Return E Σ_x U[Y, x]² at even π, the product over the groups."""
    return math.prod(lens.noise for lens in sight.lenses)


def shares_of(sight: Sight, table: Array) -> Array:
    """Return how reports fall: λ of a table where it is known for all reports, else as counted."""
    if all(lens.complete for lens in sight.lenses):
        return sight.see(table)
    return sight.counts / sight.people


def _gathered(table: Array, order: Sequence[int]) -> Array:
    """Sum a table over the axes that were not asked and order the others by the groups."""
    dropped = tuple(axis for axis in range(table.ndim) if axis not in order)
    kept = sorted(order)
    result: Array = table.sum(axis=dropped) if dropped else table
    return np.ascontiguousarray(result.transpose([kept.index(axis) for axis in order]))


def _settled(part: Array, sight: Lattice | Roll) -> Array:
    """Give a map's result one axis for each asked axis of the table, ascending."""
    ascending = sorted(sight.order)
    return part.reshape(sight.sizes).transpose([sight.order.index(axis) for axis in ascending])


def _widened(part: Array, order: Sequence[int], shape: Sequence[int]) -> Array:
    """Repeat a result along the axes that were not asked."""
    wide = [size if axis in order else 1 for axis, size in enumerate(shape)]
    return np.broadcast_to(part.reshape(wide), tuple(shape))
