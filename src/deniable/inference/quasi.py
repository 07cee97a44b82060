"""Quasi-scores: the unbiased estimate against its covariance under the hypothesis.

For reported sets, bits and hashes far more different reports are possible than came, and
an information counted on those that came makes a test too eager. What the reports say
about π is kept in π̂ = Uᵀĉ, whose covariance V(π) = (E_π[U·Uᵀ] − ππᵀ)/n is known without
them. The quasi-score V⁻¹(π̂ − π) (Wedderburn 1974) takes the score's place, V⁻¹ the
information's. Where a report is one cell the two are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.covariance import Dispersion
from deniable.estimation.lens import RowLens
from deniable.inference.scoring import solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.lens import Lens
    from deniable.estimation.sight import Sight
    from deniable.inference.independence import Independence

    Array = NDArray[np.float64]

MOST_STEPS = 20
CLOSE = 1e-10
"""A decrement below this: 1e-5 standard errors are left. The statistic is no minimum at the
root, so what is left changes it in the first order."""

CLOSE_ENOUGH = 1.0
"""A decrement that may be left far from the hypothesis, where scoring is slow: less than a
standard error. It is taken off the statistic (Neyman 1959, C(α))."""

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

    def margin(self, table: Array) -> Array:
        """Return the cells of a table that are estimated here, flat."""
        others = tuple(axis for axis in range(table.ndim) if axis not in self.axes)
        result: Array = table.sum(axis=others).reshape(-1)
        return result

    def weight(self, table: Array) -> Array:
        """Return V⁻¹ at a proper table."""
        proper = self.margin(np.maximum(table, 0))
        proper = proper / proper.sum()
        covariance = covariance_at(self.sight, proper.reshape(self.estimate.shape))
        flat = np.ones(len(covariance))
        if flat @ covariance @ flat < FLAT * np.trace(covariance):
            covariance = covariance + np.trace(covariance) / len(covariance)  # Σπ̂ is certain
        return np.asarray(np.linalg.pinv(covariance, hermitian=True), np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class QuasiFit:
    """A hypothesis fitted by quasi-scores.

    Attributes:
        table: π under the hypothesis.
        weights: V⁻¹ of each glance there.
        left: The decrement left: what a further step would take off the statistic.
    """

    table: Array
    weights: tuple[Array, ...]
    left: float

    @property
    def converged(self) -> bool:
        """Tell whether the scoring came to rest."""
        return self.left < CLOSE_ENOUGH


def glance(sight: Sight) -> Glance:
    """Return the estimate that a sight makes of the axes it covers."""
    axes = tuple(sorted(sight.order))
    ranks = tuple(axes.index(axis) for axis in sight.order)
    estimate = sight.invert(sight.counts / sight.people)
    return Glance(axes, estimate, _renumbered(sight, ranks))


def starting_table(glances: Sequence[Glance], shape: tuple[int, ...]) -> Array:
    """Return the mean of the estimates of the whole table, proper, by numbers of people."""
    whole = [seen for seen in glances if len(seen.axes) == len(shape)]
    people = np.array([seen.sight.people for seen in whole])
    mean = sum(n * seen.estimate for n, seen in zip(people, whole, strict=True)) / people.sum()
    lifted = np.maximum(mean, 1e-3 / mean.size)
    proper: Array = lifted / lifted.sum()
    return proper


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


def fit_quasi(glances: Sequence[Glance], hypothesis: Independence, start: Array) -> QuasiFit:
    """Return the root of the hypothesis's quasi-score, from a table near it."""
    factors = hypothesis.factors(start)
    table = hypothesis.table(factors)
    weights = _weights(glances, table)
    left = np.inf
    for _ in range(MOST_STEPS):
        directions = np.stack([d.reshape(-1) for d in hypothesis.directions(factors)])
        score, information = quasi_moments(glances, table, weights, directions)
        step = solve(information, score)
        left = float(score @ step)
        if left < CLOSE:
            break
        factors = hypothesis.moved(factors, step)
        table = hypothesis.table(factors)
        weights = _weights(glances, table)
    return QuasiFit(table, weights, left)


def quasi_moments(
    glances: Sequence[Glance], table: Array, weights: Sequence[Array], directions: Array
) -> tuple[Array, Array]:
    """Return the quasi-score and its information along directions, one flat row each."""
    rank = len(directions)
    score, information = np.zeros(rank), np.zeros((rank, rank))
    wide = directions.reshape(rank, *table.shape)
    for seen, weight in zip(glances, weights, strict=True):
        slope = np.stack([seen.margin(direction) for direction in wide])
        pull = slope @ weight
        score += pull @ (seen.estimate.reshape(-1) - seen.margin(table))
        information += pull @ slope.T
    return score, information


def _weights(glances: Sequence[Glance], table: Array) -> tuple[Array, ...]:
    return tuple(seen.weight(table) for seen in glances)


def _renumbered(sight: Sight, ranks: tuple[int, ...]) -> Sight:
    result: Sight = replace(sight, order=ranks)  # type: ignore[type-var]  # both are records
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
