"""Regressions keep their promises, survey after survey; one that forgets the channel does not.

Each study draws 300 surveys. A true level of .95 misses more than 45 times in 300 with
probability 2e-11, and so often a true level of .05 rejects; a standard deviation of 300 normal
numbers is off by as much as is allowed with probability below 1e-10. Two designs with two
counts and one deviation each raise a false alarm with probability below 1e-9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from deniable.channels import TwoCoin, k_ary
from deniable.channels.coin import WORD
from deniable.estimation import Batch, Evidence, Experiment
from deniable.estimation.study import Study
from deniable.inference import regress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SURVEYS = 300
MOST = 45
"""P(Binomial(300, .05) > 45) = 2e-11."""

MOST_OFF = 1.36
"""P(χ² with 299 degrees of freedom < 299/1.36²) = 6e-12."""

SLOPE = 0.9


def truth() -> Array:
    """Return P(y, a, b), in which y depends on a and not on b, and a and b on each other."""
    background = np.array([[0.3, 0.2], [0.15, 0.35]])
    chance = 1 / (1 + np.exp(0.5 - SLOPE * np.array([0.0, 1.0])))[:, None]
    return np.asarray(np.stack([(1 - chance) * background, chance * background]))


UNEVEN = (WORD // 2, WORD // 4, WORD // 8, WORD // 8)
DESIGNS = {
    "each apart": (
        Experiment(6000, (k_ary(1.5, 2), k_ary(2.0, 2), k_ary(2.0, 2)), ((0,), (1,), (2,))),
    ),
    "uneven fakes, pairs of which one is asked": (
        Experiment(5000, (TwoCoin(WORD // 2, UNEVEN),), ((0, 1),)),
        Experiment(5000, (TwoCoin(WORD // 2, UNEVEN),), ((0, 2),)),
        Experiment(5000, (TwoCoin(WORD // 2, UNEVEN),), ((2, 1),)),
    ),
}


def forgetting(evidence: Evidence) -> Evidence:
    """Return the reports as if they were answers."""
    batches = tuple(
        Batch(b.groups, tuple(k_ary(22.0, c.size) for c in b.channels), b.reports, b.counts)
        for b in evidence.batches
    )
    return Evidence(evidence.names, evidence.sizes, batches)


@pytest.mark.parametrize("name", DESIGNS)
def test_coefficients_are_as_sure_as_they_say(name: str) -> None:
    """Intervals hold the truth, errors are the spread, and what is nothing is seldom real."""
    study = Study(("y", "a", "b"), truth(), DESIGNS[name])
    rng = np.random.default_rng(21)
    values, errors = [], []
    misses = rejected = naive = 0
    for _ in range(SURVEYS):
        evidence = study.draw(rng)
        found = regress(evidence, "y", ["a", "b"])
        one = found["a=1"]
        values.append(one.estimate.value)
        errors.append(one.estimate.standard_error)
        misses += not one.estimate.interval().holds(SLOPE)
        rejected += found["b=1"].p_value <= 0.05
        wrong = regress(forgetting(evidence), "y", ["a", "b"], by="wald")
        naive += not wrong["a=1"].estimate.interval().holds(SLOPE)
    assert misses <= MOST
    assert rejected <= MOST
    assert 1 / MOST_OFF < float(np.mean(errors)) / float(np.std(values)) < MOST_OFF
    assert naive > MOST
