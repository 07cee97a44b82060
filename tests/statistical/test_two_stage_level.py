"""The two-stage test keeps its level, and a test that takes the margins for known does not.

Each study draws 400 surveys under independence. A test of true level .06 rejects more
than 60 of them with probability 2e-10, one of .05 with 5e-14.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from deniable.channels import Matrix, k_ary
from deniable.channels.coin import WORD
from deniable.estimation.observation import observe
from deniable.estimation.two_stage import contrasts
from deniable.inference import mutual, score_test
from deniable.planning.rehearsal import rehearse
from deniable.protocol import Stratum, design_for
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from deniable.protocol import Tally

SURVEYS = 400
MOST = 60
PEOPLE = 2_000
MARGINS = (np.array([0.8, 0.2]), np.array([0.3, 0.7]))
CRITICAL = 3.841
NAMES = ["a", "b"]


def surveys(epsilon: float, people: int, times: int) -> list[Tally]:
    """Return surveys of independent answers in two stages."""
    schema = Schema(tuple(Attribute.nominal(name, ["no", "yes"]) for name in NAMES))
    options = {"block_size": people // 20, "channel": "k-ary"}
    design = design_for(Survey("level", schema, Privacy(epsilon, "two-stage", options)))
    rng = np.random.default_rng(8)
    found = []
    for _ in range(times):
        answers = np.stack([rng.choice(2, people, p=margin) for margin in MARGINS], axis=1)
        found.append(rehearse(design, answers, joint=True))
    return found


def as_if_known(tally: Tally) -> float:
    """Return the statistic of the second stage, the first one's margins taken for the truth."""
    first, second = tally.blocks[0].channels[0][0], tally.blocks[1].channels[0][0]
    if not isinstance(second, Matrix):
        return 0.0  # so few people that the first channel was kept
    before = tally.counts[Stratum(0, 0, (0,))]
    people = sum(before.values())
    truth = k_ary(1.0, 4).head / WORD
    assert first == k_ary(1.0, 4)
    shares = np.array([before[cell,] / people for cell in range(4)])
    table = ((shares - (1 - truth) / 4) / truth).reshape(2, 2)
    margins = [np.clip(table.sum(axis=axis), 0.05, 0.95) for axis in (1, 0)]
    null, _, wanted = contrasts([margin / margin.sum() for margin in margins])
    rows = np.array(second.rows) / WORD
    counts = np.zeros(rows.shape[1])
    for stratum, seen in tally.counts.items():
        if stratum.block > 0:
            for value, number in seen.items():
                counts[value] += number
    expected, slopes = null @ rows, wanted[:, 0] @ rows
    score = float(np.sum(slopes * counts / expected))
    return score**2 / float(counts.sum() * np.sum(slopes**2 / expected))


def test_both_stages_together_keep_the_level_where_known_margins_would_not() -> None:
    """The score test of all reports rejects seldom; the shortcut is caught."""
    good, bad, spoken = 0, 0, 0
    for tally in surveys(1.0, PEOPLE, SURVEYS):
        observation = observe(tally, NAMES)
        found = score_test(observation, mutual((2, 2)), "x")
        spoken += not found.shortage
        good += not found.shortage and found.tail <= 0.05
        bad += as_if_known(tally) > CRITICAL
    assert spoken > SURVEYS * 0.9
    assert good <= MOST
    assert bad > MOST, (good, bad)


@pytest.mark.prove
@pytest.mark.parametrize("epsilon", [0.25, 0.5, 2.0])
def test_the_level_is_proved_with_many_surveys(epsilon: float) -> None:
    """Of 2,000 surveys at most 195 are rejected: .06 does more with probability 1e-9."""
    people = round(4_000 / epsilon**2)
    rejected = 0
    for tally in surveys(epsilon, people, 2_000):
        found = score_test(observe(tally, NAMES), mutual((2, 2)), "x")
        rejected += not found.shortage and found.tail <= 0.05
    assert 20 < rejected <= 195
