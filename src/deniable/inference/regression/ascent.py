"""The ascent to the maximum of the likelihood, with some parameters held if asked.

Newton's steps where the observed information is positive, else steps by the outer products
of the score (Berndt, Hall, Hall & Hausman 1974), each as long as brings a gain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.inference.regression.model import Model
    from deniable.inference.regression.testimony import Testimony

    Array = NDArray[np.float64]
    Mask = NDArray[np.bool_]

MOST_STEPS = 200
MOST_HALVINGS = 40
AT_REST = 1e-9
"""A Newton decrement below this: 3e-5 standard errors are left."""

LONGEST = 3.0
"""No step changes a linear predictor by more."""

LEAST_GAIN = 1e-4
"""Share of the gain promised by the slope that a step must bring."""

SLIGHT = 1e-9
"""Added to the scaled outer products where they are singular."""


@dataclass(frozen=True, slots=True, eq=False)
class Peak:
    """Where an ascent ended.

    Attributes:
        theta: The parameters.
        likelihood: Σ c·ln λ.
        information: The observed information of all parameters.
        at_rest: Whether nothing was left to gain.
    """

    theta: Array
    likelihood: float
    information: Array
    at_rest: bool


def ascend(
    model: Model, testimony: Sequence[Testimony], start: Array, free: Mask | None = None
) -> Peak:
    """Return the maximum of the likelihood over the free parameters, from a start."""
    theta = start.copy()
    moved = np.ones(model.size, np.bool_) if free is None else free
    likelihood = likelihood_of(model, testimony, theta)
    score, outer, information = moments(model, testimony, theta)
    for _ in range(MOST_STEPS):
        step = np.zeros(model.size)
        step[moved] = _step(score[moved], outer[moved][:, moved], information[moved][:, moved])
        decrement = float(score @ step)
        if decrement < AT_REST:
            return Peak(theta, likelihood, information, at_rest=True)
        step = step * min(1.0, LONGEST / max(_length(model, testimony, step), 1e-300))
        promised = float(score @ step)
        for _ in range(MOST_HALVINGS):
            tried = theta + step
            reached = likelihood_of(model, testimony, tried)
            if reached - likelihood > LEAST_GAIN * promised:
                break
            step, promised = step / 2, promised / 2
        else:
            # Rounding hides what is left to gain; the slope is 0 to within it.
            return Peak(theta, likelihood, information, at_rest=decrement < np.sqrt(AT_REST))
        theta, likelihood = tried, reached
        score, outer, information = moments(model, testimony, theta)
    return Peak(theta, likelihood, information, at_rest=False)


def likelihood_of(model: Model, testimony: Sequence[Testimony], theta: Array) -> float:
    """Return Σ c·ln λ over all reports."""
    total = 0.0
    for part in testimony:
        total += part.likelihood(model.table(theta, part.rows))
        if total == -np.inf:
            break
    return total


def moments(
    model: Model, testimony: Sequence[Testimony], theta: Array
) -> tuple[Array, Array, Array]:
    """Return the score, the sum of its outer products, and the observed information."""
    size = model.size
    score, outer, information = np.zeros(size), np.zeros((size, size)), np.zeros((size, size))
    for part in testimony:
        shares = model.shares(theta, part.rows)
        said = part.said(shares.table, shares.slopes)
        score += said.score
        outer += said.outer
        information += said.outer - model.bend(theta, said.weights, part.rows)
    return score, outer, information


def _step(score: Array, outer: Array, information: Array) -> Array:
    """Return Newton's step, or where the likelihood is hollow that of the outer products."""
    for matrix in (information, outer):
        scale = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
        try:
            factor = np.linalg.cholesky(matrix / np.outer(scale, scale))
        except np.linalg.LinAlgError:
            continue
        half = np.linalg.solve(factor, score / scale)
        return np.asarray(np.linalg.solve(factor.T, half) / scale)
    lifted = outer / np.outer(scale, scale) + SLIGHT * np.eye(len(score))
    return np.asarray(np.linalg.solve(lifted, score / scale) / scale)


def _length(model: Model, testimony: Sequence[Testimony], step: Array) -> float:
    """Return the largest change of a linear predictor."""
    changes = (np.abs(model.predictors(step, part.rows)).max() for part in testimony)
    return float(max(changes, default=0.0))
