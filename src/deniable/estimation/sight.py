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

from deniable.estimation.axes import gathered, settled, widened
from deniable.estimation.bump import Bump, along
from deniable.estimation.lens import RowLens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.lens import Lens

    Array = NDArray[np.float64]

Map: TypeAlias = Literal["see", "trace", "invert", "spread"]


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
        return widened(self._settled(self._apply("trace", weights)), self.order, shape)

    def invert(self, weights: Array) -> Array:
        """Return Uᵀw, axis by axis (castell)."""
        return self._settled(self._apply("invert", weights))

    def moment(self, weights: Array, order: int) -> Array:
        """Return (Uᵀ)^order·w, axis by axis."""
        return self._settled(applied([lens.power(order) for lens in self.lenses], weights))

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
        return self._settled(result)

    def _gathered(self, table: Array) -> Array:
        return gathered(table, self.order).reshape([lens.cells for lens in self.lenses])

    def _settled(self, part: Array) -> Array:
        return settled(part, self.order, self.sizes)

    def _apply(self, name: Map, table: Array) -> Array:
        return applied([getattr(lens, name) for lens in self.lenses], table)


def applied(maps: Sequence[Bump | Array], table: Array) -> Array:
    """Apply one map along each axis."""
    for axis, matrix in enumerate(maps):
        if not isinstance(matrix, Bump):
            table = np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)
    bumps = [matrix if isinstance(matrix, Bump) else None for matrix in maps]
    return along(table, bumps)


def squares_at(sight: Sight, table: Array) -> Array | None:
    """Return E U[Y, x]² for every cell where π is ``table``; None if only reports tell."""
    maps = [lens.squares for lens in sight.lenses]
    known = [one for one in maps if one is not None]
    if len(known) < len(maps):
        return None
    part = gathered(table, sight.order).reshape([lens.cells for lens in sight.lenses])
    return settled(applied(known, part), sight.order, sight.sizes)


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
