"""Maximum likelihood over the distributions of a table: EM, accelerated, with a certificate.

The log-likelihood of all reports, L(π) = Σ c[y]·ln λ[y] over every sight, is concave in π.
With g[x] = ∂L/∂π[x], and n = Σ π[x]·g[x] people, no distribution can have a likelihood
above L(π) + max(g) − n. The climb stops when that gap is small: what is left to gain is
then known, which no look at the last step's length can tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

GAP = 1e-3
"""Nats of likelihood that may be left: at most 0.045 standard errors in any direction."""

MOST_STEPS = 20_000

TINY = 1e-300
"""Stands for the expected share of a report that no cell can have sent."""


class Seen(Protocol):
    """What a likelihood is made of: reports that came, and two maps. Sights and stacks are such."""

    @property
    def counts(self) -> Array:
        """Return how often each report came."""

    @property
    def people(self) -> float:
        """Return the number of respondents."""

    @property
    def effort(self) -> int:
        """Return about how many numbers a map works out."""

    def see(self, table: Array) -> Array:
        """Return λ, the expected share of each report, from π."""

    def trace(self, weights: Array, shape: Sequence[int]) -> Array:
        """Return Σ_y w[y]·L[y, x] for every cell of a table of ``shape``."""


@dataclass(frozen=True, slots=True, eq=False)
class Summit:
    """Where a climb ended.

    Attributes:
        table: The distribution.
        likelihood: L in nats, up to a constant of the reports.
        gap: No distribution has a likelihood higher than this above it.
        steps: How many EM steps were taken.
    """

    table: Array
    likelihood: float
    gap: float
    steps: int


@dataclass(frozen=True, slots=True, eq=False)
class _Stand:
    """A distribution, its likelihood, its gap, and the EM step from it."""

    table: Array
    likelihood: float
    gap: float
    following: Array


def climb(
    sights: Sequence[Seen], start: Array, *, gap: float = GAP, most_steps: int = MOST_STEPS
) -> Summit:
    """Return the maximum-likelihood distribution, to within ``gap`` nats.

    EM steps with SQUAREM's extrapolation (Varadhan & Roland 2008, third step length); a
    jump that lowers the likelihood is not taken. The start must hold no zero that the
    truth does not hold.
    """
    here = _stand(sights, start)
    steps = 1
    while here.gap > gap and steps < most_steps:
        first = _stand(sights, here.following)
        jumped = _jump(here.table, first.table, first.following)
        there = _stand(sights, jumped)
        steps += 2
        here = there if there.likelihood >= first.likelihood else _stand(sights, first.following)
        steps += here is not there
    return Summit(here.table, here.likelihood, here.gap, steps)


def likelihood_of(sights: Sequence[Seen], table: Array) -> float:
    """Return Σ c·ln λ over all sights."""
    return sum(_log_sum(sight, sight.see(table)) for sight in sights)


def em_step(sights: Sequence[Seen], table: Array) -> Array:
    """Return the next distribution: each report shared out among the cells it may be of."""
    slope = _slope(sights, [sight.see(table) for sight in sights], table.shape)
    following: Array = table * slope
    following /= following.sum()
    return following


def _stand(sights: Sequence[Seen], table: Array) -> _Stand:
    seen = [sight.see(table) for sight in sights]
    likelihood = sum(map(_log_sum, sights, seen))
    slope = _slope(sights, seen, table.shape)
    people = sum(sight.people for sight in sights)
    following = table * slope
    return _Stand(table, likelihood, float(slope.max() - people), following / following.sum())


def _slope(sights: Sequence[Seen], seen: Sequence[Array], shape: Sequence[int]) -> Array:
    """Return ∂L/∂π[x] = Σ_y c[y]·L[y, x] / λ[y]; what was seen is used up.

    Large tables wait for memory, so that few arrays are made on the way.
    """
    slope: Array | None = None
    for sight, odds in zip(sights, seen, strict=True):
        np.maximum(odds, TINY, out=odds)
        np.divide(sight.counts, odds, out=odds)
        part = sight.trace(odds, shape)
        slope = part if slope is None else slope + part
    return np.zeros(shape) if slope is None else slope


def _log_sum(sight: Seen, seen: Array) -> float:
    came = sight.counts > 0
    if np.any(seen[came] <= 0):
        return -np.inf
    return float(np.sum(sight.counts[came] * np.log(seen[came])))


def _jump(start: Array, first: Array, second: Array) -> Array:
    """Extrapolate two EM steps; cells that would leave the simplex are halved instead."""
    move = first - start
    turn = second - first - move
    bend = float(np.linalg.norm(turn))
    if bend == 0:
        return second
    length = max(1.0, float(np.linalg.norm(move)) / bend)
    table = start + 2 * length * move + length**2 * turn
    table = np.where(table > 0, table, second / 2)
    result: Array = table / table.sum()
    return result
