"""Fit a hypothesis to the reports by Fisher scoring, in the space of reports.

Every sight s sees λ_s = L_s π, linear in π. With directions D of the hypothesis, the score
is Σ (L D)ᵀ(c/λ) and the information Σ n (L D)ᵀ diag(1/λ) (L D). π may leave the simplex a
little; λ may not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from deniable.estimation.sight import Sight
    from deniable.inference.independence import Independence

    Array = NDArray[np.float64]

MOST_STEPS = 100
CLOSE_ENOUGH = 1e-2
"""A decrement that may be left where scoring is slow, far from the hypothesis: it adds no
more than itself to the statistic."""

MOST_HALVINGS = 30
ENOUGH = 0.25
"""Share of the gain promised by the slope that a step must bring; a right one brings half."""

CLOSE = 1e-8
"""A Newton decrement below this: less than 1e-4 standard errors are left."""


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A hypothesis fitted.

    Attributes:
        table: π under the hypothesis; cells may be slightly negative.
        seen: λ for each sight.
        likelihood: Σ c·ln λ.
        converged: Whether the scoring came to rest.
    """

    table: Array
    seen: tuple[Array, ...]
    likelihood: float
    converged: bool


def fit(sights: Sequence[Sight], hypothesis: Independence) -> Fit:
    """Return the maximum of the likelihood over a hypothesis."""
    factors = hypothesis.start()
    table = hypothesis.table(factors)
    seen = see_all(sights, table)
    likelihood = likelihood_of(sights, seen)
    decrement = np.inf
    for _ in range(MOST_STEPS):
        slopes = [stack(sight, hypothesis.directions(factors)) for sight in sights]
        score, information = moments(sights, seen, slopes)
        step = solve(information, score)
        decrement = float(score @ step)
        if decrement < CLOSE:
            return Fit(table, seen, likelihood, converged=True)
        for halvings in range(MOST_HALVINGS):
            tried = hypothesis.moved(factors, step)
            there = hypothesis.table(tried)
            looked = see_all(sights, there)
            reached = likelihood_of(sights, looked)
            if reached - likelihood > ENOUGH * decrement / 2**halvings:
                break
            step = step / 2
        else:
            break
        factors, table, seen, likelihood = tried, there, looked, reached
    return Fit(table, seen, likelihood, converged=decrement < CLOSE_ENOUGH)


def see_all(sights: Sequence[Sight], table: Array) -> tuple[Array, ...]:
    """Return λ for each sight."""
    return tuple(sight.see(table) for sight in sights)


def likelihood_of(sights: Sequence[Sight], seen: Sequence[Array]) -> float:
    """Return Σ c·ln λ, minus infinity where λ is not positive."""
    total = 0.0
    for sight, shares in zip(sights, seen, strict=True):
        if np.any(shares <= 0):
            return -np.inf
        total += float(np.sum(sight.counts * np.log(shares)))
    return total


def stack(sight: Sight, directions: Iterable[Array]) -> Array:
    """Return L·direction for each direction, one row each."""
    return np.stack([sight.see(direction).reshape(-1) for direction in directions])


def weights_of(sight: Sight, seen: Array) -> Array:
    """Return the weights of the information: n/λ, or c/λ² where only some reports are listed."""
    result: Array
    if all(lens.complete for lens in sight.lenses):
        result = sight.people / seen
    else:
        result = sight.counts / seen**2
    return result.reshape(-1)


def moments(
    sights: Sequence[Sight], seen: Sequence[Array], slopes: Sequence[Array]
) -> tuple[Array, Array]:
    """Return the score and the information along some directions, over all sights."""
    rank = len(slopes[0])
    score, information = np.zeros(rank), np.zeros((rank, rank))
    for sight, shares, slope in zip(sights, seen, slopes, strict=True):
        score += slope @ (sight.counts / shares).reshape(-1)
        information += (slope * weights_of(sight, shares)) @ slope.T
    return score, information


def solve(information: Array, score: Array) -> Array:
    """Solve for a step; directions that no report tells anything about are an error."""
    try:
        factor = np.linalg.cholesky(information)
    except np.linalg.LinAlgError as error:
        problem = "the reports do not determine the margins of this table"
        raise EstimationError(problem, expected="every attribute asked of enough people") from error
    half = np.linalg.solve(factor, score)
    result: Array = np.linalg.solve(factor.T, half)
    return result
