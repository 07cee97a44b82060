"""How sure a table is: variances, covariances, and how the variance moves with the truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Protocol

import numpy as np

from deniable.errors import EstimationError
from deniable.estimation.lens import PointLens
from deniable.estimation.sight import Sight, shares_of, squares_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

MOST_DENSE = 4096
"""Most cells of a covariance matrix that is laid out: 128 MiB."""

MOST_WORK = 2**31
"""Most numbers that are handled to find covariances one by one."""

CERTAIN = 0.02
"""If all other cells together hold less, what they do is taken from the cell itself."""

TINY = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Var(t) = constant + linear·t + square·t² for each cell, if its true share were t."""

    constant: Array
    linear: Array
    square: Array

    def at(self, share: Array) -> Array:
        """Return the variances if the true shares were these."""
        result: Array = self.constant + self.linear * share + self.square * share**2
        return result


class Covariance(Protocol):
    """The sampling distribution of a table's unprojected estimate, ``centre``."""

    @property
    def centre(self) -> Array:
        """Return the unprojected estimate."""

    @property
    def people(self) -> int:
        """Return how many respondents told of the whole table."""

    def curve(self) -> Curve:
        """Return how each cell's variance depends on its true share."""

    def between(self, weights: Array) -> Array:
        """Return the covariance matrix of Σ_x weights[k, x]·π̂[x], one k for each row."""

    def dense(self) -> Array:
        """Return the covariance matrix of the flattened cells."""


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """A covariance matrix that is known as such.

    Attributes:
        centre: The estimate whose covariance it is.
        matrix: Over the flattened cells.
        people: n; how the variance moves with the truth is then as for plain answers, t(1 − t)/n.
        bend: How it moves, where that is known better.
    """

    centre: Array
    matrix: Array
    people: int
    bend: Curve | None = None

    def curve(self) -> Curve:
        """Return the variance found, moved with the truth as that of plain answers moves."""
        if self.bend is not None:
            return self.bend
        found = np.maximum(np.diag(self.matrix).reshape(self.centre.shape), 0)
        share = np.clip(self.centre, 0, 1)
        answers = share * (1 - share) / self.people
        beyond = np.maximum(found - answers, 0)  # what randomization adds
        ones = np.ones_like(found)
        return Curve(beyond, ones / self.people, -ones / self.people)

    def between(self, weights: Array) -> Array:
        """Return W·Σ·Wᵀ."""
        flat = weights.reshape(len(weights), -1)
        result: Array = flat @ self.matrix @ flat.T
        return result

    def dense(self) -> Array:
        """Return the matrix."""
        return self.matrix


@dataclass(frozen=True, slots=True, eq=False)
class Dispersion:
    """The dispersion of a weighted sum of unbiased inverses; nothing square is kept.

    Each part adds weight²·(Uᵀ diag(λ) U − ππᵀ)/n (Domingo after eq. 2, Kikuchi eq. 5).

    Attributes:
        centre: The sum itself.
        parts: Each sight of the whole table and its weight.
    """

    centre: Array
    parts: tuple[tuple[float, Sight], ...]

    @property
    def people(self) -> int:
        """Return how many respondents told of the whole table."""
        return round(sum(sight.people for _, sight in self.parts))

    def _factors(self) -> list[tuple[float, Sight]]:
        """Return weight²/n of each part, with n − 1 for the n people together."""
        people = sum(sight.people for _, sight in self.parts)
        loss = people / max(people - 1, 1)
        return [(loss * weight**2 / sight.people, sight) for weight, sight in self.parts]

    def curve(self) -> Curve:
        """Return Var(t) exactly for the path on which the other cells keep their proportions.

        One report adds U[Y, x] with second moment t·B + (1 − t)·b, where B is the moment
        among those in the cell and b among the others; b follows from the moment of all.
        """
        shape = self.centre.shape
        constant, linear, square = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        proper = made_proper(self.centre)
        for factor, sight in self._factors():
            inside = sight.inside(sight.see(proper))
            outside = self._outside(sight, proper, inside)
            constant += factor * outside
            linear += factor * (inside - outside)
            square -= factor
        return Curve(constant, linear, square)

    def _outside(self, sight: Sight, proper: Array, inside: Array) -> Array:
        """Return b, E[U[Y, x]² | an answer other than x], for each cell.

        Where channels alone tell it, it is that of a proper table: noise puts the centre far
        outside, and a line through moments found there may lead to half the variance.
        """
        known = squares_at(sight, proper)
        even = squares_at(sight, np.full_like(proper, 1 / proper.size))
        if known is not None and even is not None:
            return moment_outside(proper, inside, known, even)
        # Not clipped: a low estimate comes with a second moment found too low; on the line
        # through both, the moment at a share of 0 is right.
        share = self.centre
        every = np.maximum(sight.moment(shares_of(sight, share), 2), share**2)
        outside = np.maximum((every - share * inside) / np.maximum(1 - share, CERTAIN), 0)
        return np.where(1 - share < CERTAIN, np.minimum(outside, inside), outside)

    def between(self, weights: Array) -> Array:
        """Return the covariances of linear combinations of cells."""
        if self.centre.size <= MOST_DENSE:
            flat = weights.reshape(len(weights), -1)
            result: Array = flat @ self.dense() @ flat.T
            return result
        rows = len(weights)
        if rows * self.centre.size * len(self.parts) > MOST_WORK:
            problem = "so many covariances of so large a table would take too long"
            raise EstimationError(problem, expected="the smaller table, estimated by itself")
        result = np.zeros((rows, rows))
        means = np.array([float(np.vdot(row, self.centre)) for row in weights])
        for factor, sight in self._factors():
            added = np.stack([sight.spread(row).reshape(-1) for row in weights])
            seen = shares_of(sight, self.centre).reshape(-1)
            result += factor * ((added * seen) @ added.T - np.outer(means, means))
        return result

    def dense(self) -> Array:
        """Return the covariance matrix of the flattened cells."""
        cells = self.centre.size
        if cells > MOST_DENSE:
            problem = "the covariance matrix of so large a table is not laid out"
            raise EstimationError(problem, given=cells, expected=f"at most {MOST_DENSE} cells")
        result = np.zeros((cells, cells))
        flat = self.centre.reshape(-1)
        for factor, sight in self._factors():
            seen = shares_of(sight, self.centre)
            result += factor * (_second_moment(sight, seen) - np.outer(flat, flat))
        return result


def made_proper(centre: Array) -> Array:
    """Return an estimate's shares without those below 0, summing to 1."""
    kept = np.clip(centre, 0, 1)
    result: Array = kept / kept.sum()
    return result


def moment_outside(proper: Array, inside: Array, known: Array, even: Array) -> Array:
    """Return b, E[U[Y, x]² | an answer other than x], for each cell of a proper table.

    Args:
        proper: π.
        inside: B, the moment among those in the cell.
        known: The moment of all at π.
        even: The moment of all at even shares: where a cell has everything, the others are
            taken to be spread evenly.
    """
    taken = np.where(1 - proper < CERTAIN, CERTAIN, 0.0)
    share = (1 - taken) * proper + taken / proper.size
    every = (1 - taken) * known + taken * even
    result: Array = np.maximum((every - share * inside) / np.maximum(1 - share, TINY), 0)
    return result


def _second_moment(sight: Sight, seen: Array) -> Array:
    """Return Uᵀ diag(λ) U over the cells of a sight of the whole table."""
    lenses = sight.lenses
    cells = sight.moment(seen, 2).size
    if len(lenses) == 1 and isinstance(lenses[0], PointLens):
        lens, share = lenses[0], seen.reshape(-1)
        crossed = np.outer(share, lens.lie)
        moment = np.diag(share) - crossed - crossed.T + share.sum() * np.outer(lens.lie, lens.lie)
        moment = moment / lens.truth**2
    elif len(lenses) == 1 and seen.ndim == 1 and seen.size == lenses[0].values:
        inverse = lenses[0].inverse
        moment = (inverse * seen[:, None]).T @ inverse
    elif seen.ndim == len(lenses):
        moment = _grid_moment([lens.inverse for lens in lenses], seen)
    else:
        units = np.eye(cells).reshape(cells, *sight.invert(seen).shape)
        added = np.stack([sight.spread(unit).reshape(-1) for unit in units])
        return np.asarray((added * seen.reshape(-1)) @ added.T)
    return _ordered(moment, sight)


def _grid_moment(inverses: list[Array], seen: Array) -> Array:
    """Contract λ with U[y, x]·U[y, z] axis by axis: d⁴ numbers for an axis, never R × M."""
    table = seen
    for inverse in inverses:
        pairs = (inverse[:, :, None] * inverse[:, None, :]).reshape(len(inverse), -1)
        table = np.tensordot(table, pairs, axes=(0, 0))
    sizes = [inverse.shape[1] for inverse in inverses]
    cells = reduce(lambda a, b: a * b, sizes)
    split = table.reshape([size for size in sizes for _ in range(2)])
    firsts = list(range(0, 2 * len(sizes), 2))
    result: Array = split.transpose(firsts + [axis + 1 for axis in firsts]).reshape(cells, cells)
    return result


def _ordered(moment: Array, sight: Sight) -> Array:
    """Bring rows and columns from the groups' order of axes to the table's."""
    sizes, order = sight.sizes, sight.order
    number = np.arange(len(moment)).reshape(sizes)
    settled = number.transpose([order.index(axis) for axis in sorted(order)]).reshape(-1)
    result: Array = moment[np.ix_(settled, settled)]
    return result
