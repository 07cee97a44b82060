"""The score test keeps its level where the debiased table's χ² does not.

Each study draws 400 surveys under independence. A test of true level .05 rejects more
than 60 of them with probability 5e-14, so the whole file raises a false alarm with
probability below 1e-12.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from deniable.channels import k_ary
from deniable.estimation.evidence import evidence_from_reports
from deniable.estimation.observation import observe
from deniable.inference import mutual, score_test

SURVEYS = 400
MOST = 60
PEOPLE = 1500


def tails(shape: tuple[int, int], margin: float, seed: int) -> tuple[list[float], list[float]]:
    """Return the p-values of the score test, and of χ² on the debiased table."""
    rng = np.random.default_rng(seed)
    channel = k_ary(1.0, shape[0] * shape[1])
    truth = channel.head / 2**32
    shares = [margin ** np.arange(size) for size in shape]
    margins = [share / share.sum() for share in shares]
    good, bad = [], []
    for _ in range(SURVEYS):
        first, second = (rng.choice(len(p), PEOPLE, p=p) for p in margins)
        cells = first * shape[1] + second
        fake = rng.integers(channel.size, size=PEOPLE)
        reports = np.where(rng.random(PEOPLE) < truth, cells, fake)
        evidence = evidence_from_reports(["a", "b"], shape, [channel], [reports], [(0, 1)])
        observation = observe(evidence, ["a", "b"])
        good.append(score_test(observation, mutual(shape), "x").p_value)
        counts = np.bincount(reports, minlength=channel.size) / PEOPLE
        table = np.maximum((counts - (1 - truth) / channel.size) / truth, 1e-6).reshape(shape)
        bad.append(float(stats.chi2_contingency(table * PEOPLE, correction=False).pvalue))
    return good, bad


@pytest.mark.parametrize(("shape", "margin"), [((2, 2), 1.0), ((3, 3), 0.5)])
def test_the_score_test_keeps_its_level(shape: tuple[int, int], margin: float) -> None:
    """At most the stated number of independent surveys is rejected; the naive test is caught."""
    good, bad = tails(shape, margin, 20)
    assert sum(tail <= 0.05 for tail in good) <= MOST
    assert sum(tail <= 0.05 for tail in bad) > MOST
