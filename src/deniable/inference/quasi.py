"""Quasi-scores: the unbiased estimate against its covariance under the hypothesis.

What the reports say about π is kept in π̂ = Uᵀĉ, whose covariance
V(π) = (E_π[U·Uᵀ] − ππᵀ)/n is known without listing all reports. The quasi-score
V⁻¹(π̂ − π) (Wedderburn 1974) takes the score's place, V⁻¹ the information's. Where a
report is one cell the two are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.covariance import Dispersion
from deniable.estimation.lens import RowLens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.echo import Echo
    from deniable.estimation.lens import Lens
    from deniable.estimation.sight import Sight

    Array = NDArray[np.float64]

FLAT = 1e-10
"""Share of the variances below which a combination of estimated cells is certain."""


@dataclass(frozen=True, slots=True, eq=False)
class Glance:
    """What a sight says of the cells of the axes it covers, in their ascending order.

    Attributes:
        axes: Those axes, ascending.
        estimate: π̂ over them.
        sight: The sight, its axes renumbered from 0.
    """

    axes: tuple[int, ...]
    estimate: Array
    sight: Sight

    @property
    def people(self) -> float:
        """Return the number of respondents."""
        return self.sight.people

    def margin(self, table: Array) -> Array:
        """Return the cells of a table that are estimated here, flat."""
        others = tuple(axis for axis in range(table.ndim) if axis not in self.axes)
        result: Array = table.sum(axis=others).reshape(-1)
        return result

    def weight(self, table: Array) -> Array:
        """Return V⁻¹ at the proper table next to one."""
        proper = self.margin(np.maximum(table, 0))
        proper = proper / proper.sum()
        (lens, *others) = self.sight.lenses
        if not others and isinstance(lens, RowLens) and lens.echo is not None:
            # E[U·Uᵀ] treats all cells alike: their order does not matter.
            return inverse_at(lens.echo, proper) * self.people
        covariance = covariance_at(self.sight, proper.reshape(self.estimate.shape))
        flat = np.ones(len(covariance))
        if flat @ covariance @ flat < FLAT * np.trace(covariance):
            covariance = covariance + np.trace(covariance) / len(covariance)  # Σπ̂ is certain
        return np.asarray(np.linalg.pinv(covariance, hermitian=True), np.float64)

    def moments(self, table: Array, directions: Array) -> tuple[Array, Array]:
        """Return D·V⁻¹(π̂ − π) and D·V⁻¹·Dᵀ."""
        wide = directions.reshape(len(directions), *table.shape)
        others = tuple(axis + 1 for axis in range(table.ndim) if axis not in self.axes)
        slopes = wide.sum(axis=others).reshape(len(directions), -1)
        pull = slopes @ self.weight(table)
        return pull @ (self.estimate.reshape(-1) - self.margin(table)), pull @ slopes.T


def glance(sight: Sight) -> Glance:
    """Return the estimate that a sight makes of the axes it covers."""
    axes = tuple(sorted(sight.order))
    ranks = tuple(axes.index(axis) for axis in sight.order)
    estimate = sight.invert(sight.counts / sight.people)
    renumbered: Sight = replace(sight, order=ranks)  # type: ignore[type-var]  # both are records
    return Glance(axes, estimate, renumbered)


def inverse_at(echo: Echo, share: Array) -> Array:
    """Return the inverse of E[U·Uᵀ] − ππᵀ for one group, by Woodbury's formula.

    Off the diagonal the moment is a + b·(π_z + π_w): a diagonal matrix and one of rank 2.
    """
    slope = echo.crossed - echo.apart
    spread = echo.other - echo.apart + (echo.own - echo.other - 2 * slope) * share
    ends = np.stack([np.ones_like(share), share], axis=1)
    middle = np.array([[echo.apart, slope], [slope, -1.0]])
    inside = ends.T @ (ends / spread[:, None])
    total = float(np.sum(spread) + np.sum(ends, axis=0) @ middle @ np.sum(ends, axis=0))
    trace = float(np.sum(spread + np.einsum("zi,ij,zj->z", ends, middle, ends)))
    if total < FLAT * trace:
        middle[0, 0] += trace / len(share)  # Σπ̂ is certain
    scaled = ends / spread[:, None]
    core = np.linalg.solve(np.eye(2) + middle @ inside, middle)
    result: Array = np.diag(1 / spread) - scaled @ core @ scaled.T
    return result


def covariance_at(sight: Sight, table: Array) -> Array:
    """Return the covariance of the flattened π̂ if π were this table."""
    if not all(_is_known(lens) for lens in sight.lenses):
        loss = (sight.people - 1) / sight.people  # nothing is estimated here
        found: Array = loss * Dispersion(table, ((1.0, sight),)).dense()
        return found
    wide = table.transpose(sight.order).reshape([lens.cells for lens in sight.lenses])
    moment = _moment(sight.lenses, wide)
    places = np.arange(table.size).reshape(table.shape).transpose(sight.order).reshape(-1)
    settled = np.empty_like(moment)
    settled[np.ix_(places, places)] = moment
    flat = table.reshape(-1)
    result: Array = (settled - np.outer(flat, flat)) / sight.people
    return result


def _is_known(lens: Lens) -> bool:
    return isinstance(lens, RowLens) and lens.echo is not None


def _moment(lenses: Sequence[Lens], wide: Array) -> Array:
    """Return E[U·Uᵀ], the groups one after another: a group's own moments, axis by axis."""
    echoes = [lens.echo for lens in lenses if isinstance(lens, RowLens) and lens.echo is not None]
    if len(echoes) == 1:
        moment: Array = echoes[0].moment(wide)
        return moment
    table = wide
    for echo, lens in zip(echoes, lenses, strict=True):
        pairs = echo.tensor(lens.cells).reshape(lens.cells, -1)
        table = np.tensordot(table, pairs, axes=(0, 0))
    sizes = [lens.cells for lens in lenses]
    split = table.reshape([size for size in sizes for _ in range(2)])
    firsts = list(range(0, 2 * len(sizes), 2))
    cells = reduce(lambda a, b: a * b, sizes)
    result: Array = split.transpose(firsts + [axis + 1 for axis in firsts]).reshape(cells, cells)
    return result
