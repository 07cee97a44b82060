"""Pearson's χ² on the reports, where that is a test of the truth.

When the attributes are randomized independently of each other, they are independent in
the reports exactly when they are in truth; no reconstruction is needed. It gives up what
the channel's known form could add, and it asks nothing of the fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from deniable.errors import EstimationError
from deniable.estimation.observation import require_together
from deniable.estimation.sight import Lattice
from deniable.inference.independence import Independence
from deniable.inference.result import TestResult

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.estimation.observation import Observation
    from deniable.estimation.sight import Sight
    from deniable.inference.hypothesis import Hypothesis

    Array = NDArray[np.float64]

CITATION = "Pearson (1900), on the reports"

FEWEST = 5.0
"""Reports expected of the rarest pair of values, below which χ² is no good limit."""


def plain_test(observation: Observation, hypothesis: Hypothesis, name: str) -> TestResult:
    """Test mutual independence by χ² on the reports, block by block."""
    sights = require_together(observation)
    if not isinstance(hypothesis, Independence) or not hypothesis.is_mutual:
        problem = "chi-square on the reports tests that every attribute is independent of the rest"
        raise EstimationError(problem, expected="the score test for other hypotheses")
    if not all(_apart(sight) for sight in sights):
        problem = "chi-square on the reports needs attributes that were randomized apart"
        expected = "a design whose groups hold one attribute each, or the score test"
        raise EstimationError(problem, expected=expected)
    statistic, freedom, least = 0.0, 0, np.inf
    for sight in sights:
        found, degrees, rarest = _pearson(sight.counts)
        statistic, freedom, least = statistic + found, freedom + degrees, min(least, rarest)
    few = f"only {least:.2g} reports of the rarest kind are expected" if least < FEWEST else ""
    return TestResult(
        hypothesis=name,
        method="chi-square-on-reports",
        statistic=statistic,
        freedom=freedom,
        tail=float(special.chdtrc(freedom, statistic)),
        people=observation.people,
        shortage=few,
        citation=CITATION,
    )


def _apart(sight: Sight) -> bool:
    """Tell whether every attribute of the table came from a group of its own."""
    return isinstance(sight, Lattice) and len(sight.lenses) == len(sight.order)


def _pearson(counts: Array) -> tuple[float, int, float]:
    """Return χ² of a table of counts against its margins, its freedom, and the least expected."""
    people = counts.sum()
    expected = np.array(people)
    for axis in range(counts.ndim):
        others = tuple(other for other in range(counts.ndim) if other != axis)
        expected = np.multiply.outer(expected, counts.sum(axis=others) / people)
    possible = expected > 0
    statistic = np.sum((counts[possible] - expected[possible]) ** 2 / expected[possible])
    sizes = [int(np.sum(counts.sum(axis=_others(counts, axis)) > 0)) for axis in range(counts.ndim)]
    freedom = int(np.prod(sizes)) - 1 - sum(size - 1 for size in sizes)
    return float(statistic), freedom, float(expected[possible].min())


def _others(counts: Array, axis: int) -> tuple[int, ...]:
    return tuple(other for other in range(counts.ndim) if other != axis)
