"""Rao and Scott's corrected χ²: of the debiased table, against its true distribution.

X² = n·Σ (π̂ − π̂₀)²/π̂₀ of the unbiased estimate is no χ²: it is a sum Σ δᵢ·χ²₁, where the
design effects δᵢ are the eigenvalues of n·D^(−½)·E·V·Eᵀ·D^(−½), V being the covariance of
π̂, D = diag(π̂₀), and E = 1 − J what a fit of the hypothesis leaves of an error. It is
scaled and its freedom lowered until the first two moments agree (their second order).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from deniable.estimation.observation import require_together
from deniable.estimation.unbiased import pooled
from deniable.inference.result import TestResult
from deniable.inference.score import few_people

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.estimation.observation import Observation
    from deniable.inference.hypothesis import Hypothesis

    Array = NDArray[np.float64]

CITATION = "Rao & Scott (1981, 1984), second order"
EMPTY = "a category is estimated to be empty"


def rao_scott_test(observation: Observation, hypothesis: Hypothesis, name: str) -> TestResult:
    """Test a hypothesis by the corrected χ² of the debiased table."""
    spread = pooled(require_together(observation))
    centre, people = spread.centre, observation.people
    factors = hypothesis.factors(centre)
    null = hypothesis.table(factors)
    if null.min() <= 0:
        return _result(observation, name, 0.0, float(hypothesis.freedom), EMPTY)
    along = [direction.reshape(-1) for direction in hypothesis.directions(factors)]
    left = _remainder(np.stack(along), null.reshape(-1)) if along else np.eye(null.size)
    scaled = left / np.sqrt(null.reshape(-1))[:, None]
    matrix = people * scaled @ spread.dense() @ scaled.T
    total, squares = float(np.trace(matrix)), float(np.sum(matrix**2))  # Σδ and Σδ²
    plain = people * float(np.sum((centre - null) ** 2 / null))
    return _result(
        observation,
        name,
        plain * total / squares,
        total**2 / squares,
        few_people(observation, null),
    )


def _remainder(directions: Array, null: Array) -> Array:
    """Return 1 − T(TᵀD⁻¹T)⁻¹TᵀD⁻¹, T the directions of the hypothesis."""
    weighed = directions / null
    fitted = directions.T @ np.linalg.pinv(weighed @ directions.T, hermitian=True) @ weighed
    result: Array = np.eye(null.size) - fitted
    return result


def _result(
    observation: Observation, name: str, statistic: float, freedom: float, few: str
) -> TestResult:
    return TestResult(
        hypothesis=name,
        method="rao-scott",
        statistic=statistic,
        freedom=freedom,
        tail=float(special.chdtrc(freedom, statistic)),
        people=observation.people,
        shortage=few,
        citation=CITATION,
    )
