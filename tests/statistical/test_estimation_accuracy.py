"""Estimates are as precise as possible, and intervals hold as often as they say.

Every bound below is set so that a right implementation fails with a probability under
1e-9 (seven standard errors of a mean over the repetitions); each test shows beside it
that a plausible wrong one is caught.
"""

from __future__ import annotations

import numpy as np
import pytest

from deniable.channels import k_ary, optimized_unary, subset, two_coin
from deniable.estimation import METHODS, Experiment
from deniable.estimation.covariance import Dispersion
from deniable.estimation.study import Study

PAIR = np.array([[0.3, 0.2, 0.1], [0.05, 0.25, 0.1]])
APART, TOGETHER = ((0,), (1,)), ((0, 1),)
SKEWED = two_coin(1.0, [0.3, 0.2, 0.2, 0.1, 0.1, 0.1])
TURNED = two_coin(1.0, [0.1, 0.1, 0.1, 0.2, 0.2, 0.3])
MANY_SIGMAS = 7.0


def study(*experiments: Experiment) -> Study:
    """Ask the attributes a and b of the same population."""
    return Study(("a", "b"), PAIR, experiments)


DENSE = {
    "two coins, one block": study(Experiment(20_000, (SKEWED,), TOGETHER)),
    "two coins, two blocks": study(
        Experiment(10_000, (SKEWED,), TOGETHER), Experiment(10_000, (TURNED,), TOGETHER)
    ),
    "k-ary, one view": study(Experiment(8000, (k_ary(1.5, 6),), TOGETHER)),
    "k-ary, attribute by attribute": study(
        Experiment(20_000, (k_ary(1.0, 2), k_ary(1.0, 3)), APART)
    ),
    "k-ary, three views": study(
        Experiment(8000, (k_ary(1.5, 6),), TOGETHER),
        Experiment(8000, (k_ary(1.5, 2),), ((0,),)),
        Experiment(8000, (k_ary(1.5, 3),), ((1,),)),
    ),
    "subset": study(Experiment(8000, (subset(1.0, 6, 2),), TOGETHER)),
}


def repeated(case: Study, method: str, times: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return squared errors over the bound, and which intervals held, for each repetition."""
    rng = np.random.default_rng(seed)
    bound = float(np.trace(case.bound))
    errors, held = [], []
    for _ in range(times):
        table = METHODS[method].estimate(case.draw(rng), case.names, rng=rng)
        errors.append(float(np.sum((table.estimate - case.truth) ** 2)) / bound)
        held.append(table.interval().covers(case.truth).reshape(-1))
    return np.array(errors), np.array(held)


@pytest.mark.parametrize("name", DENSE)
def test_maximum_likelihood_reaches_the_cramer_rao_bound(name: str) -> None:
    """The mean squared error is at most 1.05 times the bound; false alarm below 1e-9."""
    errors, _ = repeated(DENSE[name], "maximum-likelihood", 200, seed=11)
    noise = errors.std(ddof=1) / np.sqrt(len(errors))
    assert errors.mean() <= 1.05 + MANY_SIGMAS * noise
    assert errors.mean() >= 0.8 - MANY_SIGMAS * noise  # below it the bound would be wrong


def test_an_estimator_that_throws_blocks_away_is_caught() -> None:
    """The mean of the last of many blocks is far above the bound that the pooled one meets."""
    blocks = [Experiment(1000, (k_ary(1.5, 6),), TOGETHER) for _ in range(8)]
    errors, _ = repeated(study(*blocks), "last-two-blocks", 60, seed=3)
    noise = errors.std(ddof=1) / np.sqrt(len(errors))
    assert errors.mean() - MANY_SIGMAS * noise > 1.05


@pytest.mark.parametrize("name", DENSE)
def test_intervals_hold_as_often_as_they_say(name: str) -> None:
    """95 % intervals hold in 94 to 96 % of cells; false alarm below 1e-9."""
    _, held = repeated(DENSE[name], "unbiased", 600, seed=5)
    share = held.mean(axis=1)
    noise = share.std(ddof=1) / np.sqrt(len(share))
    assert 0.94 - MANY_SIGMAS * noise <= share.mean() <= 0.96 + MANY_SIGMAS * noise


def test_an_interval_that_forgets_the_randomization_is_caught() -> None:
    """Standard errors of plain answers would hold the truth far too seldom."""
    case = DENSE["k-ary, attribute by attribute"]
    rng = np.random.default_rng(2)
    held = []
    for _ in range(100):
        table = METHODS["unbiased"].estimate(case.draw(rng), case.names, rng=rng)
        error = np.sqrt(PAIR * (1 - PAIR) / table.people)
        held.append(np.mean(np.abs(table.estimate - PAIR) <= 1.96 * error))
    assert np.mean(held) < 0.6


def test_the_dispersion_matrix_is_the_covariance_of_estimates() -> None:
    """Over many draws the sample covariance is the one found from a single draw."""
    case = DENSE["k-ary, attribute by attribute"]
    rng = np.random.default_rng(9)
    centres = []
    for _ in range(1500):
        table = METHODS["unbiased"].estimate(case.draw(rng), case.names, rng=rng)
        centres.append(table.estimate.reshape(-1))
    assert isinstance(table.covariance, Dispersion)
    found, seen = table.covariance.dense(), np.cov(np.array(centres).T)
    scale = np.sqrt(np.outer(np.diag(found), np.diag(found)))
    # Wishart: an entry's relative error has standard deviation below sqrt(2/1500) = .037.
    assert np.max(np.abs(found - seen) / scale) < MANY_SIGMAS * 0.037
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(np.diag(found), table.variance.reshape(-1), rtol=1e-6)


SPARSE = {
    "n = 1,000, ε = 2, shares .9 .06 .03 .01": Study(
        ("a",), np.array([0.9, 0.06, 0.03, 0.01]), (Experiment(1000, (k_ary(2.0, 4),), ((0,),)),)
    ),
    "n = 300, ε = 3, two empty cells": Study(
        ("a",), np.array([0.6, 0.4, 0.0, 0.0]), (Experiment(300, (k_ary(3.0, 4),), ((0,),)),)
    ),
    "n = 500, ε = 3 + 3, eight cells": Study(
        ("a", "b"),
        np.outer([0.9, 0.06, 0.03, 0.01], [0.7, 0.3]),
        (Experiment(500, (k_ary(3.0, 4), k_ary(3.0, 2)), APART),),
    ),
    "n = 50, ε = 1, two cells": Study(
        ("a",), np.array([0.7, 0.3]), (Experiment(50, (k_ary(1.0, 2),), ((0,),)),)
    ),
    "n = 2,000, ε = 1, subset of twelve cells, eight empty": Study(
        ("a",),
        np.array([0.8, 0.1, 0.05, 0.05, *[0.0] * 8]),
        (Experiment(2000, (subset(1.0, 12),), ((0,),)),),
    ),
    "n = 2,000, ε = 1, bits": Study(
        ("a",),
        np.array([0.9, 0.06, 0.03, 0.01]),
        (Experiment(2000, (optimized_unary(1.0, 4),), ((0,),)),),
    ),
}


@pytest.mark.parametrize("name", SPARSE)
def test_intervals_hold_in_sparse_tables(name: str) -> None:
    """Each cell's coverage is 93 % or more near 0 and with few people; false alarm < 1e-9."""
    _, held = repeated(SPARSE[name], "unbiased", 500, seed=8)
    worst = held.mean(axis=0).min()
    assert worst >= 0.93 - MANY_SIGMAS * np.sqrt(0.07 * 0.93 / len(held))


def test_a_symmetric_interval_near_zero_is_caught() -> None:
    """In the same sparse table π̂ ± 1.96·se fails where the score interval holds."""
    case = Study(
        ("a",),
        np.array([0.985, 0.005, 0.005, 0.005]),
        (Experiment(300, (k_ary(7.0, 4),), ((0,),)),),
    )
    rng = np.random.default_rng(4)
    symmetric, score = [], []
    for _ in range(400):
        table = METHODS["unbiased"].estimate(case.draw(rng), case.names, rng=rng)
        wide = 1.96 * table.standard_error
        symmetric.append(np.mean(np.abs(table.estimate - case.truth) <= wide))
        score.append(np.mean(table.interval().covers(case.truth)))
    assert np.mean(symmetric) < 0.85
    assert np.mean(score) > 0.93


def test_all_intervals_of_a_noisy_table_hold_at_once() -> None:
    """Where noise is wider than any share, at most 36 of 200 tables lose one (.05: P < 1e-9).

    The first channel's reports are points, the second's are sets: what a report adds is then
    known by its channels only, and a variance found from an estimate of 1.5 is none at .1.
    """
    truth = np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1])
    channels = (k_ary(0.25, 3), subset(0.25, 4, 2))
    case = Study(("a", "b"), truth, (Experiment(4000, channels, APART),))
    rng = np.random.default_rng(6)
    lost = 0
    for _ in range(200):
        table = METHODS["unbiased"].estimate(case.draw(rng), case.names, rng=rng)
        lost += not table.interval(simultaneous=True).covers(truth).all()
    assert lost <= 36


def test_a_few_people_are_a_caveat() -> None:
    """With fewer than thirty people the interval says that its level is not to be relied on."""
    few = Study(("a",), np.array([0.7, 0.3]), (Experiment(20, (k_ary(1.0, 2),), ((0,),)),))
    rng = np.random.default_rng(1)
    table = METHODS["unbiased"].estimate(few.draw(rng), few.names, rng=rng)
    assert table.interval().caveat == "only 20 people answered"


@pytest.mark.prove
@pytest.mark.parametrize("name", [*DENSE, *SPARSE])
def test_coverage_over_many_repetitions(name: str) -> None:
    """Over 20,000 tables each cell holds in 94 to 96 %, in sparse tables in 93 % or more."""
    case = {**DENSE, **SPARSE}[name]
    _, held = repeated(case, "unbiased", 20_000, seed=77)
    cells = held.mean(axis=0)
    low, high = (0.94, 0.96) if name in DENSE else (0.93, 1.0)
    noise = MANY_SIGMAS * np.sqrt(0.06 * 0.94 / len(held))
    assert low - noise <= cells.min()
    assert cells.max() <= high + noise
