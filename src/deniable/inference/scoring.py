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
from deniable.estimation.sight import noise_of
from deniable.inference.voice import moments_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from deniable.estimation.sight import Sight
    from deniable.inference.hypothesis import Hypothesis
    from deniable.inference.voice import Voice

    Array = NDArray[np.float64]

MOST_STEPS = 100
CLOSE_ENOUGH = 1e-2
"""A decrement that may be left where scoring is slow, far from the hypothesis: it adds no
more than itself to the statistic."""

FEW_STEPS = 8
"""Steps after which scoring is called slow, and tries to go farther with each."""

MOST_HALVINGS = 30
ENOUGH = 0.25
"""Share of the gain promised by the slope that a step must bring; a right one brings half."""

CLOSE = 1e-8
"""A Newton decrement below this: less than 1e-4 standard errors are left."""

MOST_ROUNDS = 60
SHORTEST = 1 / 64
AT_REST = 1e-10
"""A decrement below this: 1e-5 standard errors are left. The statistic is no minimum at the
root, so what is left changes it in the first order."""

LEFT = 1.0
"""A decrement that may be left far from the hypothesis, where scoring is slow: less than a
standard error. It is taken off the statistic (Neyman 1959, C(α))."""


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


def fit(sights: Sequence[Sight], hypothesis: Hypothesis) -> Fit:
    """Return the maximum of the likelihood over a hypothesis."""
    factors = hypothesis.start()
    table = hypothesis.table(factors)
    seen = see_all(sights, table)
    likelihood = first = likelihood_of(sights, seen)
    decrement = np.inf
    if not any(True for _ in hypothesis.directions(factors)):
        return Fit(table, seen, likelihood, converged=True)
    for taken in range(MOST_STEPS):
        slopes = [stack(sight, hypothesis.directions(factors)) for sight in sights]
        score, information = moments(sights, seen, slopes)
        try:
            step = solve(information, score)
        except EstimationError:
            if likelihood == first:
                raise  # at even margins: no report tells anything about some of them
            return Fit(table, seen, likelihood, converged=False)
        decrement = float(score @ step)
        if decrement < CLOSE:
            return Fit(table, seen, likelihood, converged=True)
        place = _Place(factors, table, seen, likelihood)
        found = _uphill(sights, hypothesis, place, step, decrement, farther=taken >= FEW_STEPS)
        if found is None:
            break
        factors, table, seen, likelihood = found.factors, found.table, found.seen, found.likelihood
    return Fit(table, seen, likelihood, converged=decrement < CLOSE_ENOUGH)


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """Where the scoring stands."""

    factors: list[Array]
    table: Array
    seen: tuple[Array, ...]
    likelihood: float


def _uphill(
    sights: Sequence[Sight],
    hypothesis: Hypothesis,
    place: _Place,
    step: Array,
    decrement: float,
    *,
    farther: bool,
) -> _Place | None:
    """Return where as much of a step leads as brings its share; None if no part of it does.

    Far from the hypothesis a step may be much too short: then it is doubled while that helps.
    """

    def after(part: float) -> _Place:
        factors = hypothesis.moved(place.factors, part * step)
        table = hypothesis.table(factors)
        seen = see_all(sights, table)
        return _Place(factors, table, seen, likelihood_of(sights, seen))

    part = 1.0
    for _ in range(MOST_HALVINGS):
        found = after(part)
        if found.likelihood - place.likelihood > ENOUGH * decrement * part:
            break
        part /= 2
    else:
        return None
    while farther and part >= 1:
        part *= 2
        beyond = after(part)
        if beyond.likelihood <= found.likelihood:
            break
        found = beyond
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """A hypothesis fitted to voices by their scores alone.

    Attributes:
        table: π under the hypothesis.
        left: The decrement left: what a further step would take off the statistic.
    """

    table: Array
    left: float

    @property
    def converged(self) -> bool:
        """Tell whether the scoring came to rest."""
        return self.left < LEFT


def fit_by_scores(voices: Sequence[Voice], hypothesis: Hypothesis) -> Root:
    """Return the root of the voices' score within a hypothesis, from a table near it."""

    def weighed(factors: list[Array]) -> _Weighed:
        table = hypothesis.table(factors)
        along = [direction.reshape(-1) for direction in hypothesis.directions(factors)]
        if not along:
            return _Weighed(factors, table, np.zeros(0), 0.0)
        score, information = moments_of(voices, table, np.stack(along))
        step = solve(information, score)
        return _Weighed(factors, table, step, float(score @ step))

    here = weighed(hypothesis.factors(_starting_table(voices, hypothesis.shape)))
    for _ in range(MOST_ROUNDS):
        if here.left < AT_REST:
            break
        part = 1.0
        there = weighed(hypothesis.moved(here.factors, here.step))
        # There is no likelihood to climb: a step is too long if more is left behind it.
        while there.left > here.left and part > SHORTEST:
            part /= 2
            there = weighed(hypothesis.moved(here.factors, part * here.step))
        if there.left > here.left:
            break
        here = there
    return Root(here.table, here.left)


@dataclass(frozen=True, slots=True, eq=False)
class _Weighed:
    """Where the scoring of voices stands, the step from there, and what it would take off."""

    factors: list[Array]
    table: Array
    step: Array
    left: float


def _starting_table(voices: Sequence[Voice], shape: tuple[int, ...]) -> Array:
    """Return the mean of the estimates of the whole table, proper, by what each is worth."""
    whole = [voice for voice in voices if len(voice.axes) == len(shape)]
    worth = np.array([voice.people / noise_of(voice.sight) for voice in whole])
    mean = sum(w * voice.estimate for w, voice in zip(worth, whole, strict=True)) / worth.sum()
    lifted = np.maximum(mean, 1e-3 / mean.size)
    proper: Array = lifted / lifted.sum()
    return proper


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
