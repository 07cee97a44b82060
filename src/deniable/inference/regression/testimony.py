"""Testimony: what reports say about a model's shares, with and without plain covariates.

λ = L·π is the chance of a report; Σ c·ln λ is maximized. The score is Σ c·(L·∂π)/λ, its
outer products Σ c·s·sᵀ, and w[u, y, x] = Σ c·L/λ is what weighs the second derivatives:
the observed information is Σ c·s·sᵀ − Σ w·∂²π.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.sight import Sight

    Array = NDArray[np.float64]
    Places = NDArray[np.int64]

CHUNK = 2**21
"""Numbers that are laid out at once."""

SMALL = 2**18
"""Numbers up to which the likelihoods of reports are laid out as one matrix."""


class Said(NamedTuple):
    """What some reports say at some parameters."""

    score: Array
    outer: Array
    weights: Array


class Testimony(Protocol):
    """Reports of respondents whose plain covariates are some rows."""

    @property
    def rows(self) -> slice:
        """Return the covariate rows."""

    def likelihood(self, table: Array) -> float:
        """Return Σ c·ln λ, minus infinity where a λ is not positive."""

    def said(self, table: Array, slopes: Array) -> Said:
        """Return the score, the sum of its outer products, and the weights of the bend."""


@dataclass(frozen=True, slots=True, eq=False)
class Sighted:
    """Reports without plain covariates: counts, seen as any table is.

    Attributes:
        sights: One for each block, view and set of groups; their first axis is the outcome.
        shape: Of the table: the outcome's categories, then those of the predictors.
    """

    sights: tuple[Sight, ...]
    shape: tuple[int, ...]

    @property
    def rows(self) -> slice:
        """Return the one row that stands for everybody."""
        return slice(None)

    def likelihood(self, table: Array) -> float:
        """Return Σ c·ln λ over all sights."""
        laid = table.reshape(self.shape)
        total = 0.0
        for sight in self.sights:
            seen = sight.see(laid)
            if np.any(seen <= 0):
                return -np.inf
            total += float(np.sum(sight.counts * np.log(seen)))
        return total

    def said(self, table: Array, slopes: Array) -> Said:
        """Return what the reports say, through the sights' own maps."""
        laid = table.reshape(self.shape)
        directions = np.moveaxis(slopes.reshape(*self.shape, -1), -1, 0)
        size = len(directions)
        score, outer, weights = np.zeros(size), np.zeros((size, size)), np.zeros(self.shape)
        for sight in self.sights:
            odds = sight.counts / sight.see(laid)
            weights += sight.trace(odds, self.shape)
            came = sight.counts.reshape(-1) > 0
            seen = np.stack([sight.see(one).reshape(-1)[came] for one in directions])
            flat = odds.reshape(-1)[came]
            score += seen @ flat
            outer += (seen * (flat**2 / sight.counts.reshape(-1)[came])) @ seen.T
        return Said(score, outer, weights.reshape(table.shape))


@dataclass(frozen=True, slots=True, eq=False)
class Tabled:
    """Reports without plain covariates whose likelihoods fit into one matrix.

    Attributes:
        likelihoods: L: one row for each kind of report, one column for each cell (y, x).
        counts: How many of each kind came.
    """

    likelihoods: Array
    counts: Array

    @property
    def rows(self) -> slice:
        """Return the one row that stands for everybody."""
        return slice(None)

    def likelihood(self, table: Array) -> float:
        """Return Σ c·ln λ."""
        seen = self.likelihoods @ table.reshape(-1)
        return -np.inf if np.any(seen <= 0) else float(self.counts @ np.log(seen))

    def said(self, table: Array, slopes: Array) -> Said:
        """Return what the reports say."""
        odds = self.counts / (self.likelihoods @ table.reshape(-1))
        came = self.counts > 0
        each = self.likelihoods[came] @ slopes.reshape(-1, slopes.shape[-1])
        weights = odds @ self.likelihoods
        heavy = each * (odds[came] ** 2 / self.counts[came])[:, None]
        return Said(odds[came] @ each, heavy.T @ each, weights.reshape(table.shape))


def sighted(sights: Sequence[Sight], shape: tuple[int, ...]) -> Sighted | Tabled:
    """Return reports without plain covariates, laid out as a matrix if that is small."""
    cells = math.prod(shape)
    if cells * sum(sight.counts.size for sight in sights) > SMALL:
        return Sighted(tuple(sights), shape)
    units = np.eye(cells).reshape(cells, *shape)
    rows = [np.stack([sight.see(one).reshape(-1) for one in units], axis=1) for sight in sights]
    counts = [sight.counts.reshape(-1) for sight in sights]
    return Tabled(np.concatenate(rows), np.concatenate(counts))


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """Reports beside plain covariates, one by one.

    Attributes:
        rows: The covariate rows they have.
        likelihoods: L: one row for each different report, one column for each cell (y, x).
        report: Which report each respondent sent.
        row: Which covariate row each has, counted from the first of ``rows``; ascending.
        counts: How many respondents are alike.
    """

    rows: slice
    likelihoods: Array
    report: Places
    row: Places
    counts: Array

    def likelihood(self, table: Array) -> float:
        """Return Σ c·ln λ."""
        seen = self._seen(table)
        return -np.inf if np.any(seen <= 0) else float(self.counts @ np.log(seen))

    def said(self, table: Array, slopes: Array) -> Said:
        """Return what the reports say, one by one."""
        laid = self.likelihoods[self.report]
        seen = self._seen(table)
        flat = slopes.reshape(len(slopes), -1, slopes.shape[-1])
        each = np.einsum("nc,ncp->np", laid, flat[self.row]) / seen[:, None]
        heavy = each * self.counts[:, None]
        first = np.searchsorted(self.row, np.arange(len(table)))
        weights = np.add.reduceat(laid * (self.counts / seen)[:, None], first, axis=0)
        return Said(heavy.sum(axis=0), heavy.T @ each, weights.reshape(table.shape))

    def _seen(self, table: Array) -> Array:
        flat = table.reshape(len(table), -1)
        seen: Array = np.einsum("nc,nc->n", self.likelihoods[self.report], flat[self.row])
        return seen


def listed(likelihoods: Array, report: Places, row: Places, *, parameters: int) -> Sequence[Listed]:
    """Return respondents by covariate row, those alike counted, in parts of bounded size."""
    pairs, counts = np.unique(np.stack([row, report], axis=1), axis=0, return_counts=True)
    row, report = pairs[:, 0], pairs[:, 1]
    most = max(1, CHUNK // (likelihoods.shape[1] * max(parameters, 1)))
    found, first = [], 0
    while first < len(row):
        # A covariate row is never divided: its weights are summed in one place.
        last = int(np.searchsorted(row, row[min(first + most, len(row)) - 1], side="right"))
        rows = slice(int(row[first]), int(row[last - 1]) + 1)
        part = slice(first, last)
        numbers = counts[part].astype(np.float64)
        found.append(Listed(rows, likelihoods, report[part], row[part] - row[first], numbers))
        first = last
    return found
