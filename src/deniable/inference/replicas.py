"""Replicas: unprojected estimates of a table, as other reports through the same channels give.

Where every possible report is listed, reports are drawn through the recorded channels and
inverted as the real ones were. Elsewhere the estimates are drawn from the normal
distribution of their covariance, which a mean over thousands of reports has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from deniable.estimation.covariance import Dispersion
from deniable.estimation.sight import Lattice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.covariance import Covariance
    from deniable.estimation.sight import Sight

    Array = NDArray[np.float64]

MOST_LISTED = 2**22
"""Report values times cells up to which an inverse is laid out."""

MOST_DRAWN = 2**24
"""Report values times replicas that are held at once."""


class Replicas(Protocol):
    """A way to draw estimates."""

    @property
    def exact(self) -> bool:
        """Tell whether reports are drawn, not only estimates."""

    def draw(self, table: Array, number: int, rng: np.random.Generator) -> Array:
        """Return so many flattened estimates, if the truth were ``table``."""


@dataclass(frozen=True, slots=True, eq=False)
class _Source:
    """One sight: how many people, how its reports fall, and what each adds to the estimate."""

    people: int
    sight: Sight
    added: Array


@dataclass(frozen=True, slots=True, eq=False)
class ByReports:
    """Reports drawn through the recorded channels."""

    sources: tuple[_Source, ...]

    @property
    def exact(self) -> bool:
        """Return true."""
        return True

    def draw(self, table: Array, number: int, rng: np.random.Generator) -> Array:
        """Return estimates from freshly drawn reports."""
        result = np.zeros((number, table.size))
        for source in self.sources:
            seen = np.maximum(source.sight.see(table).reshape(-1), 0)
            share = seen / seen.sum()
            step = max(1, MOST_DRAWN // share.size)
            for start in range(0, number, step):
                rows = min(step, number - start)
                counts = rng.multinomial(source.people, share, size=rows)
                result[start : start + rows] += counts @ source.added
        return result


@dataclass(frozen=True, slots=True, eq=False)
class ByNormal:
    """Estimates drawn from a normal distribution; ``root``·``root``ᵀ is their covariance."""

    root: Array

    @property
    def exact(self) -> bool:
        """Return false."""
        return False

    def draw(self, table: Array, number: int, rng: np.random.Generator) -> Array:
        """Return estimates around the table."""
        noise = rng.standard_normal((number, self.root.shape[1]))
        result: Array = table.reshape(-1) + noise @ self.root.T
        return result


def replicas_of(covariance: Covariance) -> Replicas:
    """Return the best way to draw estimates with this covariance."""
    if isinstance(covariance, Dispersion) and all(
        _is_listed(sight, covariance.centre.size) for _, sight in covariance.parts
    ):
        return ByReports(tuple(_source(weight, sight) for weight, sight in covariance.parts))
    return ByNormal(root_of(covariance.dense()))


def root_of(matrix: Array) -> Array:
    """Return R with R·Rᵀ the matrix: a column for each direction in which there is variance."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > 1e-12 * max(values[-1], 0)
    result: Array = vectors[:, kept] * np.sqrt(values[kept])
    return result


def nearest_proper_each(rows: Array) -> Array:
    """Return, for each row, the distribution nearest to it by Euclidean distance.

    >>> nearest_proper_each(np.array([[0.9, 0.3, -0.2], [0.5, 0.5, 0.0]])).round(3).tolist()
    [[0.8, 0.2, 0.0], [0.5, 0.5, 0.0]]
    """
    falling = -np.sort(-rows, axis=1)
    excess = np.cumsum(falling, axis=1) - 1
    ranks = np.arange(1, rows.shape[1] + 1)
    last = np.sum(falling * ranks > excess, axis=1) - 1
    level = excess[np.arange(len(rows)), last] / (last + 1)
    result: Array = np.maximum(rows - level[:, None], 0)
    return result


def _is_listed(sight: Sight, cells: int) -> bool:
    complete = all(lens.complete for lens in sight.lenses)
    return isinstance(sight, Lattice) and complete and sight.counts.size * cells <= MOST_LISTED


def _source(weight: float, sight: Sight) -> _Source:
    people = round(sight.people)
    return _Source(people, sight, weight / people * _inverse(sight))


def _inverse(sight: Sight) -> Array:
    """Return U, report values × cells, the cells in the table's order."""
    sizes: Sequence[int] = sight.invert(sight.counts).shape
    cells = int(np.prod(sizes))
    units = np.eye(cells).reshape(cells, *sizes)
    return np.stack([sight.spread(unit).reshape(-1) for unit in units], axis=1)
