"""The efficient score test of independence, with the channel known: the default.

Only the hypothesis is fitted. The statistic is Uᵀ I⁻¹ U, the score of the full table at
that fit; under the hypothesis it is χ² with as many degrees of freedom as the hypothesis
takes away. Where every respondent went through the same invertible channel this is
Pearson's χ² of the *reports* against the reports expected, Σ (c − nλ)²/(nλ); never of the
debiased table, whose cells are neither independent counts nor of the right variance.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from deniable.estimation.observation import require_together
from deniable.inference.result import TestResult
from deniable.inference.scoring import fit, moments, stack

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from deniable.estimation.observation import Observation
    from deniable.estimation.sight import Sight
    from deniable.inference.independence import Independence
    from deniable.inference.scoring import Fit

    Array = NDArray[np.float64]

CITATION = "Rao (1948), efficient score, with λ = Lπ"

FEWEST = 5.0
"""Reports expected of the rarest value, below which χ² is no good limit."""

RANK = 1e-9
"""Relative size below which a direction of the information counts as unseen."""


def score_test(observation: Observation, hypothesis: Independence, name: str) -> TestResult:
    """Test a hypothesis against the full table by the score of the reports."""
    require_together(observation)
    null = fit(observation.sights, hypothesis)
    statistic, freedom = _statistic(observation, hypothesis, null)
    return TestResult(
        hypothesis=name,
        method="score",
        statistic=statistic,
        freedom=freedom,
        tail=float(stats.chi2.sf(statistic, freedom)),
        people=observation.people,
        shortage=shortage(observation, null),
        citation=CITATION,
    )


def shortage(observation: Observation, null: Fit) -> str:
    """Say why the data are too few for a χ² limit, or nothing."""
    if not null.converged:
        return "the margins cannot be fitted"
    people = sum(sight.people for sight in observation.covering)
    if people < FEWEST * observation.cells:
        return f"{people:.0f} respondents for {observation.cells} cells"
    for sight, seen in zip(observation.sights, null.seen, strict=True):
        least = float(sight.people * seen.min())
        if all(lens.complete for lens in sight.lenses) and least < FEWEST:
            return f"only {least:.2g} reports of the rarest kind are expected"
    return ""


def _statistic(observation: Observation, hypothesis: Independence, null: Fit) -> tuple[float, int]:
    sights = observation.sights
    if len(sights) == 1 and _is_square(sights[0], observation.cells):
        expected = sights[0].people * null.seen[0]
        return float(np.sum((sights[0].counts - expected) ** 2 / expected)), hypothesis.freedom
    slopes = [stack(sight, _every_direction(observation.shape)) for sight in sights]
    score, information = moments(sights, null.seen, slopes)
    values, vectors = np.linalg.eigh(information)
    kept = values > RANK * values[-1]
    turned = vectors[:, kept].T @ score
    unseen = int(np.sum(~kept))
    return float(np.sum(turned**2 / values[kept])), hypothesis.freedom - unseen


def _is_square(sight: Sight, cells: int) -> bool:
    """Tell whether the channel is an invertible map of the table's own cells."""
    together = math.prod(sight.sizes) == cells
    return together and sight.counts.size == cells and all(lens.complete for lens in sight.lenses)


def _every_direction(shape: Sequence[int]) -> Iterator[Array]:
    """Yield all directions of the full table: one cell up, the last one down."""
    cells = math.prod(shape)
    for cell in range(cells - 1):
        direction = np.zeros(cells)
        direction[cell], direction[-1] = 1, -1
        yield direction.reshape(tuple(shape))
