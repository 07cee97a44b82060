"""The efficient score test of independence, with the channel known: the default.

Only the hypothesis is fitted. The statistic is Uᵀ I⁻¹ U, the score of the full table at
that fit; under the hypothesis it is χ² with as many degrees of freedom as the hypothesis
takes away. Where every respondent went through the same invertible channel this is
Pearson's χ² of the *reports* against the reports expected, Σ (c − nλ)²/(nλ); never of the
debiased table, whose cells are neither independent counts nor of the right variance.
Where not every possible report is listed, the quasi-score takes its place.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from deniable.estimation.observation import require_together
from deniable.estimation.sight import merged, noise_of
from deniable.inference.hypothesis import every_direction
from deniable.inference.result import TestResult
from deniable.inference.scoring import fit, fit_by_scores, moments, stack
from deniable.inference.voice import Glance, moments_of, voices_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.observation import Observation
    from deniable.estimation.sight import Sight
    from deniable.inference.hypothesis import Hypothesis
    from deniable.inference.scoring import Fit
    from deniable.inference.voice import Voice

    Array = NDArray[np.float64]

CITATION = "Rao (1948), efficient score, with λ = Lπ"

FEWEST = 5.0
"""Reports expected of the rarest value, below which χ² is no good limit."""

LEAST_WORTH = 15.0
"""Plain answers that the reports must be worth; with fewer the test keeps far below its level."""

NEARLY_ALL = 0.99
"""What two people having the same answer is taken for at the most."""

UNFITTED = "the margins cannot be fitted"

RANK = 1e-9
"""Relative size below which a direction of the information counts as unseen."""


def score_test(observation: Observation, hypothesis: Hypothesis, name: str) -> TestResult:
    """Test a hypothesis against the full table by the score of the reports."""
    require_together(observation)
    sights = merged(observation.sights)
    if all(lens.complete for sight in sights for lens in sight.lenses):
        null = fit(sights, hypothesis)
        statistic, freedom = _statistic(sights, hypothesis, null)
        few = shortage(observation, sights, null)
    else:
        statistic, freedom, few = _by_moments(observation, sights, hypothesis)
    return TestResult(
        hypothesis=name,
        method="score",
        statistic=statistic,
        freedom=freedom,
        tail=float(special.chdtrc(freedom, statistic)),
        people=observation.people,
        shortage=few,
        citation=CITATION,
    )


def _by_moments(
    observation: Observation, sights: Sequence[Sight], hypothesis: Hypothesis
) -> tuple[float, int, str]:
    """Return the statistic of voices of several kinds, its freedom, and what is short."""
    voices = voices_of(sights)
    null = fit_by_scores(voices, hypothesis)
    statistic, unseen = against(voices, null.table)
    few = few_people(observation, null.table) if null.converged else UNFITTED
    return max(statistic - null.left, 0.0), hypothesis.freedom - unseen, few


def against(voices: Sequence[Voice], table: Array) -> tuple[float, int]:
    """Return what the voices say against a table, and how many directions none of them sees."""
    voice = voices[0]
    if len(voices) == 1 and isinstance(voice, Glance):
        # Over every direction of the table it is the whole quadratic form.
        beyond = voice.estimate.reshape(-1) - voice.margin(table)
        return float(beyond @ voice.weight(table) @ beyond), 0
    directions = np.stack([d.reshape(-1) for d in every_direction(table.shape)])
    return quadratic(*moments_of(voices, table, directions))


def quadratic(score: Array, information: Array) -> tuple[float, int]:
    """Return Uᵀ I⁻¹ U over the directions that are seen, and how many are not."""
    values, vectors = np.linalg.eigh(information)
    kept = values > RANK * values[-1]
    turned = vectors[:, kept].T @ score
    return float(np.sum(turned**2 / values[kept])), int(np.sum(~kept))


def few_people(observation: Observation, table: Array) -> str:
    """Say whether there are too few respondents for so many cells at so much noise.

    What the products of errors in the margins add to π, relative to the chance that the
    limit takes into account, is one in the number of plain answers that the reports are worth.
    """
    people = sum(sight.people for sight in observation.covering)
    if people < FEWEST * observation.cells:
        return f"{people:.0f} respondents for {observation.cells} cells"
    # A hypothesis that puts everybody into one cell leaves nothing for plain answers to tell.
    same = min(float(np.sum(table**2)), NEARLY_ALL)
    worth = sum(n.people * (1 - same) / (noise_of(n) - same) for n in observation.covering)
    if worth < LEAST_WORTH:
        return f"the reports are worth {worth:.1f} plain answers"
    return ""


def shortage(observation: Observation, sights: Sequence[Sight], null: Fit) -> str:
    """Say why the data are too few for a χ² limit, or nothing."""
    if not null.converged:
        return UNFITTED
    if few := few_people(observation, null.table):
        return few
    for sight, seen in zip(sights, null.seen, strict=True):
        least = float(sight.people * seen.min())
        if all(lens.complete for lens in sight.lenses) and least < FEWEST:
            return f"only {least:.2g} reports of the rarest kind are expected"
    return ""


def _statistic(sights: Sequence[Sight], hypothesis: Hypothesis, null: Fit) -> tuple[float, int]:
    if len(sights) == 1 and _is_square(sights[0], math.prod(hypothesis.shape)):
        expected = sights[0].people * null.seen[0]
        return float(np.sum((sights[0].counts - expected) ** 2 / expected)), hypothesis.freedom
    slopes = [stack(sight, every_direction(hypothesis.shape)) for sight in sights]
    statistic, unseen = quadratic(*moments(sights, null.seen, slopes))
    return statistic, hypothesis.freedom - unseen


def _is_square(sight: Sight, cells: int) -> bool:
    """Tell whether the channel is an invertible map of the table's own cells."""
    together = math.prod(sight.sizes) == cells
    return together and sight.counts.size == cells and all(lens.complete for lens in sight.lenses)
