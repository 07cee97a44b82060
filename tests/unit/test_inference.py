"""Tests of association: against scipy where nothing is randomized, against formulas where it is."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from deniable.channels import k_ary, subset
from deniable.errors import EstimationError
from deniable.estimation.evidence import Evidence, evidence_from_reports
from deniable.estimation.observation import observe
from deniable.inference import (
    Independence,
    every_pair,
    independence_test,
    mutual,
    plain_test,
    ratio_test,
    score_test,
)
from deniable.inference.pairs import q_values
from deniable.inference.score import _by_moments
from deniable.inference.scoring import fit, likelihood_of, see_all

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEARLY_BARE = 30.0
"""A level at which one report in ten trillion is not the truth."""


def evidence_of(
    table: NDArray[np.int64], epsilon: float, seed: int, kind: str = "joint"
) -> Evidence:
    """Return reports of people who fill a table, of one cell or of each attribute apart."""
    rng = np.random.default_rng(seed)
    cells = np.repeat(np.arange(table.size), table.reshape(-1))
    names = [f"q{axis}" for axis in range(table.ndim)]
    if kind == "joint":
        channels, groups = [k_ary(epsilon, table.size)], [tuple(range(table.ndim))]
        truths = [cells]
    else:
        channels = [k_ary(epsilon, size) for size in table.shape]
        groups = [(axis,) for axis in range(table.ndim)]
        truths = list(np.unravel_index(cells, table.shape))
    reports = []
    for channel, truth in zip(channels, truths, strict=True):
        honest = rng.random(len(truth)) < channel.head / 2**32
        reports.append(np.where(honest, truth, rng.integers(channel.size, size=len(truth))))
    return evidence_from_reports(names, table.shape, channels, reports, groups)


TABLE = np.array([[60, 40, 30], [35, 50, 85]])


def test_without_noise_all_three_tests_are_the_plain_ones() -> None:
    """At a level that hides nothing, the statistics are scipy's χ² and G² of the table."""
    observation = observe(evidence_of(TABLE, NEARLY_BARE, 1), ["q0", "q1"])
    apart = observe(evidence_of(TABLE, NEARLY_BARE, 1, "apart"), ["q0", "q1"])
    hypothesis = mutual(observation.shape)
    pearson = stats.chi2_contingency(TABLE, correction=False)
    ratio = stats.chi2_contingency(TABLE, correction=False, lambda_="log-likelihood")
    for found, expected in (
        (score_test(observation, hypothesis, "x"), pearson),
        (score_test(apart, hypothesis, "x"), pearson),
        (plain_test(apart, hypothesis, "x"), pearson),
        (ratio_test(observation, hypothesis, "x"), ratio),
    ):
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-3)
        assert found.freedom == expected.dof
        assert found.p_value == pytest.approx(expected.pvalue, rel=2e-2)


def test_the_score_of_one_channel_is_pearson_of_the_reports() -> None:
    """The general score by directions, and the quasi-score, equal the short form."""
    evidence = evidence_of(TABLE * 5, 1.0, 2)
    hypothesis = mutual(TABLE.shape)
    halves = []
    for _ in range(2):  # two lenses that are not the same object are not merged
        (sight,) = observe(evidence, ["q0", "q1"]).sights
        halves.append(sight.recounted(sight.counts / 2))
    parted = observe(evidence, ["q0", "q1"])
    short = score_test(parted, hypothesis, "x").statistic
    object.__setattr__(parted, "sights", tuple(halves))
    assert score_test(parted, hypothesis, "x").statistic == pytest.approx(short, rel=1e-9)
    by_moments, _, _ = _by_moments(parted, halves, hypothesis)
    assert by_moments == pytest.approx(short, rel=1e-6)


def test_the_fit_is_a_maximum_within_the_hypothesis() -> None:
    """No small move of the margins raises the likelihood."""
    observation = observe(evidence_of(TABLE * 5, 1.0, 3), ["q0", "q1"])
    hypothesis = mutual(observation.shape)
    found = fit(observation.sights, hypothesis)
    assert found.converged
    rows, columns = found.table.sum(axis=1), found.table.sum(axis=0)
    rng = np.random.default_rng(0)
    for _ in range(50):
        moved = [margin + 1e-3 * rng.standard_normal(margin.size) for margin in (rows, columns)]
        other = np.outer(*(margin / margin.sum() for margin in moved))
        likelihood = likelihood_of(observation.sights, see_all(observation.sights, other))
        assert likelihood <= found.likelihood


def test_conditional_independence_is_tested_stratum_by_stratum() -> None:
    """Without noise the test of a ⊥ b given c is the sum of the strata's own χ²."""
    table = np.stack([TABLE, TABLE[::-1] + 7], axis=2)
    observation = observe(evidence_of(table, NEARLY_BARE, 4), ["q0", "q1", "q2"])
    found = score_test(observation, Independence((2, 3, 2), ((0,), (1,)), (2,)), "x")
    strata = [stats.chi2_contingency(table[:, :, c], correction=False) for c in (0, 1)]
    assert found.statistic == pytest.approx(sum(one.statistic for one in strata), rel=1e-3)
    assert found.freedom == sum(one.dof for one in strata) == 4


def test_degrees_of_freedom_are_what_the_hypothesis_takes() -> None:
    """Mutual independence of three leaves pairs and the triple to test."""
    assert mutual((2, 3, 4)).freedom == 24 - 1 - (1 + 2 + 3)
    assert Independence((2, 3, 4), ((0, 1), (2,))).freedom == 5 * 3
    with pytest.raises(EstimationError, match="every attribute once"):
        Independence((2, 3), ((0,),))


def test_too_little_data_is_said_instead_of_a_number() -> None:
    """A p-value that cannot be trusted is an error when it is read, and a word when printed."""
    observation = observe(evidence_of(np.ones((3, 3), np.int64), 1.0, 5), ["q0", "q1"])
    found = score_test(observation, mutual(observation.shape), "q0 and q1 are independent")
    assert "too little data" in str(found)
    with pytest.raises(EstimationError, match="too little data"):
        _ = found.p_value


def test_chi_square_on_reports_is_refused_where_it_would_be_wrong() -> None:
    """Attributes randomized as one cell, or a conditional hypothesis, need the score test."""
    observation = observe(evidence_of(TABLE, 1.0, 6), ["q0", "q1"])
    with pytest.raises(EstimationError, match="randomized apart"):
        plain_test(observation, mutual(observation.shape), "x")


def test_q_values_are_those_of_scipy() -> None:
    """Benjamini and Hochberg's adjustment agrees with an independent one and is monotone."""
    tails = np.random.default_rng(7).random(40) ** 3
    found = q_values(list(tails))
    assert found == pytest.approx(stats.false_discovery_control(tails))
    order = np.argsort(tails)
    assert all(low <= high for low, high in pairwise(np.array(found)[order]))


def test_every_pair_is_tested_and_the_associated_one_is_found() -> None:
    """One strong association among four attributes is the only discovery."""
    rng = np.random.default_rng(8)
    people = 4000
    first = rng.integers(3, size=people)
    truth = [first, (first + (rng.random(people) < 0.2)) % 3, *rng.integers(3, size=(2, people))]
    channel = k_ary(2.0, 3)
    reports = []
    for column in truth:
        honest = rng.random(people) < channel.head / 2**32
        reports.append(np.where(honest, column, rng.integers(3, size=people)))
    names = ["a", "b", "c", "d"]
    evidence = evidence_from_reports(names, (3,) * 4, [channel] * 4, reports)
    told: list[int] = []
    found = every_pair(evidence, names, rng=rng, progress=lambda done, _: told.append(done))
    assert found.discoveries(1e-6) == [("a", "b")]
    assert told == [1, 2, 3, 4, 5, 6]
    assert len(found.results) == 6


def test_reports_of_sets_carry_the_test_too() -> None:
    """Under subset selection a strong association is found and independence is kept."""
    rng = np.random.default_rng(9)
    channel = subset(2.0, 16)
    people = 6000
    first = rng.integers(4, size=people)
    for second, associated in ((rng.integers(4, size=people), False), (first, True)):
        cells = first * 4 + second
        inside = rng.random(people) < channel.head / 2**32
        keys = rng.random((people, 16))
        keys[np.arange(people), cells] = np.where(inside, -1, 2)
        sets = np.sort(np.argsort(keys, axis=1)[:, : channel.chosen], axis=1)
        evidence = evidence_from_reports(["a", "b"], (4, 4), [channel], [sets], [(0, 1)])
        observation = observe(evidence, ["a", "b"])
        tail = score_test(observation, mutual((4, 4)), "x").p_value
        assert (tail < 1e-9) == associated


def test_the_papers_procedure_takes_reports_of_sets_too() -> None:
    """It finds an association in sets, none where there is none, and says what it did."""
    rng = np.random.default_rng(5)
    table = np.array([[900, 300, 300], [300, 900, 300], [300, 300, 900]])
    for counts, associated in ((table, True), (np.full((3, 3), 500), False)):
        cells = np.repeat(np.arange(9), counts.reshape(-1))
        channel = subset(2.0, 9, 3)
        inside = rng.random(len(cells)) < channel.head / 2**32
        others = rng.random((len(cells), 9))
        others[np.arange(len(cells)), cells] = np.where(inside, -1.0, 2.0)
        reports = np.sort(np.argsort(others, axis=1)[:, :3], axis=1)
        source = evidence_from_reports(["a", "b"], (3, 3), [channel], [reports], [(0, 1)])
        found = independence_test(source, ["a", "b"], rng=rng, method="monte-carlo")
        assert found.rejects(0.001) == associated
        assert any("normal distribution" in note for note in found.notes)
