"""The likelihood-ratio test of independence: both fits proper distributions, by EM.

It costs a fit of the full table and takes part of its χ² limit from the interior of the
simplex: near its edge it keeps to its level from below. It serves blocks whose channels
changed, where it and the score test answer the same question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from deniable.estimation.climb import climb, em_step, likelihood_of
from deniable.estimation.observation import require_together
from deniable.inference.result import TestResult
from deniable.inference.score import shortage
from deniable.inference.scoring import fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.estimation.observation import Observation
    from deniable.inference.hypothesis import Hypothesis

    Array = NDArray[np.float64]

CITATION = "Wilks (1938), on the likelihood of the reports"
MOST_STEPS = 2_000
REST = 1e-7
"""Nats gained by a step, below which the fit of the hypothesis is at rest."""


def ratio_test(observation: Observation, hypothesis: Hypothesis, name: str) -> TestResult:
    """Test a hypothesis against the full table by the ratio of their likelihoods."""
    require_together(observation)
    null = fit(observation.sights, hypothesis)
    table = null.table
    if table.min() < 0:
        table = _proper(observation, hypothesis, np.maximum(table, 0))
    full = climb(observation.sights, np.maximum(table, 1e-9 / table.size))
    gain = 2 * (full.likelihood - likelihood_of(observation.sights, table))
    statistic = max(gain, 0.0)
    return TestResult(
        hypothesis=name,
        method="likelihood-ratio",
        statistic=statistic,
        freedom=hypothesis.freedom,
        tail=float(special.chdtrc(hypothesis.freedom, statistic)),
        people=observation.people,
        shortage=shortage(observation, observation.sights, null),
        citation=CITATION,
    )


def _proper(observation: Observation, hypothesis: Hypothesis, start: Array) -> Array:
    """Climb within the hypothesis and the simplex: an EM step, then its product of margins."""
    table = hypothesis.nearest(start / start.sum())
    before = -np.inf
    for _ in range(MOST_STEPS):
        likelihood = likelihood_of(observation.sights, table)
        if likelihood - before < REST:
            break
        before = likelihood
        table = hypothesis.nearest(em_step(observation.sights, table))
    return table
