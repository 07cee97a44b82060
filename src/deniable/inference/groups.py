"""Equality of groups: did they answer alike, whatever each was asked through?

The table that all have in common is fitted to all reports; the score of each group's own
table at that fit, less what the fit explains, is the evidence against equality. With U_g
and I_g of group g and I = Σ I_g, Cov(U_g, U_h) = [g = h]·I_g − I_g·I⁻¹·I_h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from deniable.errors import EstimationError
from deniable.estimation.observation import require_together
from deniable.estimation.sight import merged
from deniable.inference.hypothesis import Anything, every_direction
from deniable.inference.result import TestResult
from deniable.inference.score import UNFITTED, few_people, quadratic
from deniable.inference.scoring import fit, fit_by_scores
from deniable.inference.voice import Count, moments_of, voices_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.observation import Observation
    from deniable.inference.voice import Voice

    Array = NDArray[np.float64]

CITATION = "Rao (1948), efficient score, with λ = Lπ in each group"


def equality_test(observations: Sequence[Observation], name: str) -> TestResult:
    """Test whether several groups of people have one and the same table."""
    _check(observations)
    shape = observations[0].shape
    spoken = [voices_of(merged(require_together(one))) for one in observations]
    table, rests = _common_table([voice for voices in spoken for voice in voices], shape)
    directions = np.stack([direction.reshape(-1) for direction in every_direction(shape)])
    found = [moments_of(voices, table, directions) for voices in spoken]
    score = np.concatenate([one for one, _ in found])
    statistic, unseen = quadratic(score, _covariance([information for _, information in found]))
    cells = len(directions)
    freedom = (len(observations) - 1) * cells - (unseen - cells)
    few = next(filter(None, (few_people(one, table) for one in observations)), "")
    return TestResult(
        hypothesis=name,
        method="score",
        statistic=statistic,
        freedom=freedom,
        tail=float(special.chdtrc(freedom, statistic)),
        people=sum(one.people for one in observations),
        shortage=few if rests else UNFITTED,
        citation=CITATION,
    )


def _common_table(voices: Sequence[Voice], shape: tuple[int, ...]) -> tuple[Array, bool]:
    if all(isinstance(voice, Count) for voice in voices):
        null = fit([voice.sight for voice in voices], Anything(shape))
        return null.table, null.converged
    root = fit_by_scores(voices, Anything(shape))
    return root.table, root.converged


def _covariance(informations: Sequence[Array]) -> Array:
    """Return the covariance of all groups' scores at the common fit."""
    whole = np.sum(informations, axis=0)
    explained = [np.linalg.solve(whole, information) for information in informations]
    blocks = [
        [(one if g == h else 0) - one @ explained[h] for h in range(len(informations))]
        for g, one in enumerate(informations)
    ]
    result: Array = np.block(blocks)
    return (result + result.T) / 2


def _check(observations: Sequence[Observation]) -> None:
    if len(observations) < 2:  # noqa: PLR2004
        problem = "a comparison needs at least two groups of people"
        raise EstimationError(problem, given=len(observations))
    first = observations[0]
    for other in observations[1:]:
        if (other.names, other.shape) != (first.names, first.shape):
            problem = "the groups were not asked the same"
            given = f"{', '.join(other.names)} with {other.shape} categories"
            expected = f"{', '.join(first.names)} with {first.shape}"
            raise EstimationError(problem, given=given, expected=expected)
    if not all(one.exact for one in observations):
        problem = "these reports tell the cells of their whole group apart"
        raise EstimationError(problem, expected="a table of all attributes of the group")
