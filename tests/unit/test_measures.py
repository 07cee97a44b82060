"""Derived measures: where nothing is randomized they are everybody else's."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import Table2x2

from deniable.channels import k_ary
from deniable.errors import EstimationError
from deniable.estimation import Experiment, Table, estimate
from deniable.estimation.covariance import Dense
from deniable.estimation.evidence import Batch, Evidence
from deniable.estimation.study import Study
from deniable.estimation.table import plain_axes
from deniable.inference import MEASURES, derive, independence_test, measure_named
from deniable.inference.confidence import Curve, Fieller, Normal, Unknown

if TYPE_CHECKING:
    from numpy.typing import NDArray

BARE = 40.0
COUNTS = np.array([[120, 60, 45], [40, 110, 80], [35, 60, 150]])
SQUARE = np.array([[120, 60], [45, 175]])


def table_of(counts: NDArray[np.int64], epsilon: float = BARE) -> Table:
    """Return the table of reports that came as often as this through one channel."""
    channel = k_ary(epsilon, counts.size)
    rows = np.arange(counts.size).reshape(-1, 1)
    groups = (tuple(range(counts.ndim)),)
    batch = Batch(groups, (channel,), (rows,), counts.reshape(-1).astype(np.int64))
    names = [f"q{axis}" for axis in range(counts.ndim)]
    evidence = Evidence(tuple(names), counts.shape, (batch,))
    return estimate(evidence, names, rng=np.random.default_rng(0), method="maximum-likelihood")


def value(name: str, counts: NDArray[np.int64]) -> float:
    """Return a measure of plain counts."""
    return derive(table_of(counts), name, rng=np.random.default_rng(1)).value


def people_of(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return everybody's two answers."""
    rows, columns = np.indices(counts.shape)
    return np.repeat(rows, counts.reshape(-1)), np.repeat(columns, counts.reshape(-1))


def test_without_noise_association_is_that_of_scipy() -> None:
    """χ², G² and Cramér's V are scipy's."""
    chi = stats.chi2_contingency(COUNTS, correction=False).statistic
    ratio = stats.chi2_contingency(COUNTS, correction=False, lambda_="log-likelihood").statistic
    assert value("chi-squared", COUNTS) == pytest.approx(chi, rel=1e-4)
    assert value("g-squared", COUNTS) == pytest.approx(ratio, rel=1e-4)
    association = stats.contingency.association(COUNTS, method="cramer")
    assert value("cramers-v", COUNTS) == pytest.approx(association, rel=1e-4)


def test_without_noise_the_corrected_v_is_bergsma_s() -> None:
    """Where a channel adds nothing, the correction is (r − 1)(c − 1)/(n − 1)."""
    people = COUNTS.sum()
    phi = stats.chi2_contingency(COUNTS, correction=False).statistic / people
    rows, columns = COUNTS.shape
    corrected = max(0, phi - (rows - 1) * (columns - 1) / (people - 1))
    least = min(size - (size - 1) ** 2 / (people - 1) for size in COUNTS.shape) - 1
    expected = math.sqrt(corrected / least)
    assert value("cramers-v-corrected", COUNTS) == pytest.approx(expected, rel=1e-3)


def test_without_noise_information_is_that_of_scipy() -> None:
    """Entropies are scipy's in bits, and the information is what the margins' lack."""
    share = COUNTS / COUNTS.sum()
    joint, one, two = (
        stats.entropy(p, base=2) for p in (share.ravel(), share.sum(1), share.sum(0))
    )
    assert value("entropy", COUNTS) == pytest.approx(joint, rel=1e-5)
    assert value("mutual-information", COUNTS) == pytest.approx(one + two - joint, rel=1e-4)


def test_without_noise_ordinal_measures_are_those_of_scipy() -> None:
    """R and τ-b are scipy's of everybody's answers; γ counts pairs."""
    first, second = people_of(COUNTS)
    assert value("pearson-r", COUNTS) == pytest.approx(
        stats.pearsonr(first, second).statistic, rel=1e-4
    )
    assert value("kendall-tau-b", COUNTS) == pytest.approx(
        stats.kendalltau(first, second).statistic, rel=1e-4
    )
    signs = np.sign(np.subtract.outer(first, first)) * np.sign(np.subtract.outer(second, second))
    expected = int(signs.sum()) / int(np.abs(signs).sum())
    assert value("gamma", COUNTS) == pytest.approx(expected, rel=1e-4)


def test_without_noise_two_answers_compare_as_in_statsmodels() -> None:
    """Odds ratio, risk ratio, their logs' errors and their intervals are statsmodels'."""
    flipped = SQUARE[::-1, ::-1]  # the last answer is compared with the first
    expected = Table2x2(flipped.astype(float))
    table, rng = table_of(SQUARE), np.random.default_rng(1)
    odds = derive(table, "odds-ratio", rng=rng)
    assert odds.value == pytest.approx(expected.oddsratio, rel=1e-4)
    assert odds.interval() == pytest.approx((*expected.oddsratio_confint(), 0.95), rel=2e-3)
    logged = derive(table, "log-odds-ratio", rng=rng)
    assert logged.standard_error == pytest.approx(expected.log_oddsratio_se, rel=2e-3)
    ratio = derive(table, "risk-ratio", rng=rng)
    assert ratio.interval() == pytest.approx((*expected.riskratio_confint(), 0.95), rel=2e-3)
    shares = flipped / flipped.sum(axis=1, keepdims=True)
    assert value("risk-difference", SQUARE) == pytest.approx(shares[0, 0] - shares[1, 0], rel=1e-4)
    assert value("conditional", SQUARE) == pytest.approx(shares[0, 0], rel=1e-4)


def test_answers_may_be_chosen_and_joined() -> None:
    """One answer is compared with another, or with all others together."""
    table, rng = table_of(COUNTS), np.random.default_rng(1)
    two = derive(table, "odds-ratio", rng=rng, of={"q0": ("0", "2"), "q1": ("0", "2")})
    assert two.value == pytest.approx(120 * 150 / (45 * 35), rel=1e-3)
    assert two.notes == ("q0: 0 compared with 2", "q1: 0 compared with 2")
    joined = derive(table, "odds-ratio", rng=rng, of={"q0": ("0",), "q1": ("0",)})
    assert joined.value == pytest.approx(120 * 400 / (105 * 75), rel=1e-3)


@pytest.mark.parametrize(
    ("measure", "of", "sentence"),
    [
        ("cramers-w", {}, "no measure called 'cramers-w'"),
        ("odds-ratio", {}, "which answers of 'q0' are compared"),
        ("odds-ratio", {"q0": ("7",), "q1": ("0",)}, "has no such category"),
        ("odds-ratio", {"q9": ("0",)}, "no attribute 'q9'"),
        ("odds-ratio", {"q0": ("1", "1"), "q1": ("0",)}, "which answers of 'q0' are compared"),
    ],
)
def test_what_cannot_be_derived_is_said(
    measure: str, of: dict[str, tuple[str, ...]], sentence: str
) -> None:
    """A wrong name, table or answer gets a sentence."""
    with pytest.raises(EstimationError, match=sentence):
        derive(table_of(COUNTS), measure, rng=np.random.default_rng(0), of=of)


def test_a_measure_of_two_takes_two() -> None:
    """Three attributes have an entropy, and no Cramér's V."""
    table = table_of(np.full((2, 2, 2), 100))
    assert derive(table, "entropy", rng=np.random.default_rng(0)).value == pytest.approx(
        3, abs=1e-3
    )
    with pytest.raises(EstimationError, match="of two attributes"):
        derive(table, "cramers-v", rng=np.random.default_rng(0))


def test_a_category_of_nobody_has_no_association() -> None:
    """A margin of 0 is a sentence, not a division by 0."""
    counts = np.array([[50, 60, 0], [70, 20, 0]])
    with pytest.raises(EstimationError, match="categories that occur"):
        derive(table_of(counts), "cramers-v", rng=np.random.default_rng(0))


def test_a_table_that_nobody_can_judge_has_no_interval() -> None:
    """Without a covariance there is a value, and no claim about it."""
    shares = COUNTS / COUNTS.sum()
    table = Table(plain_axes(["q0", "q1"], (3, 3)), shares, 700, "guessed")
    found = derive(table, "cramers-v", rng=np.random.default_rng(0))
    assert found.value > 0
    assert math.isnan(found.standard_error)
    assert isinstance(found.confidence, Unknown)
    assert math.isnan(found.interval().low)
    assert "unknown" in str(found)


def test_near_independence_the_bootstrap_takes_over() -> None:
    """The delta method is used where it is straight, and not where the slope vanishes."""
    rng = np.random.default_rng(3)
    even = table_of(np.full((3, 3), 2000), 1.0)
    strong = table_of(np.diag([20_000, 20_000, 20_000]) + 1000, 2.0)
    for name in ("cramers-v", "cramers-v-corrected", "chi-squared"):
        assert derive(even, name, rng=rng).how == "bootstrap"
        assert derive(strong, name, rng=rng).how == "delta"
    for name in ("mutual-information", "g-squared", "entropy"):
        assert derive(even, name, rng=rng).how == "bootstrap"
    assert derive(even, "cramers-v", rng=rng).interval().low == 0
    assert derive(even, "entropy", rng=rng).interval().high == pytest.approx(math.log2(9))


def test_a_ratio_with_a_doubtful_denominator_is_fieller_s() -> None:
    """Where a cell may be empty, the odds ratio has no upper bound, and says so."""
    table = table_of(np.array([[2700, 2100], [2080, 2500]]), 0.5)
    found = derive(table, "odds-ratio", rng=np.random.default_rng(0))
    assert found.how == "fieller"
    assert found.interval().high == math.inf


def test_a_standard_error_does_not_depend_on_the_draws() -> None:
    """The same generator gives the same bootstrap."""
    table = table_of(np.full((3, 3), 2000), 1.0)
    first, second = (derive(table, "cramers-v", rng=np.random.default_rng(5)) for _ in range(2))
    assert first.interval() == second.interval()
    assert first.standard_error == second.standard_error


def test_a_covariance_without_reports_is_drawn_from_the_normal_distribution() -> None:
    """A marginal table knows its covariance only; the bootstrap agrees with that of reports."""
    table = table_of(np.array([[2010, 2050, 1950], [1960, 2020, 2030], [2040, 1990, 1950]]), 1.0)
    assert table.covariance is not None
    dense = Dense(table.covariance.centre, table.covariance.dense(), table.people)
    other = Table(table.axes, table.estimate, table.people, "x", covariance=dense)
    by_reports, by_normal = (
        derive(one, "cramers-v", rng=np.random.default_rng(5)).interval() for one in (table, other)
    )
    assert by_normal.high == pytest.approx(by_reports.high, rel=0.1)


def test_fieller_s_bounds_are_those_of_a_search() -> None:
    """Every θ that is not rejected is inside, also where the denominator is doubtful."""
    grid = np.linspace(-5, 5, 200_001)
    for numerator, denominator, variances in [
        (1.0, 2.0, (0.04, 0.01, 0.09)),
        (0.5, 0.3, (0.04, 0.0, 0.04)),
        (0.1, 0.1, (0.04, 0.0, 0.04)),
        (-0.9, 0.2, (0.01, 0.0, 0.02)),
    ]:
        own, common, below = variances
        kept = (numerator - grid * denominator) ** 2 <= 1.959964**2 * (
            own - 2 * grid * common + grid**2 * below
        )
        found = Fieller(numerator, denominator, variances, -5, 5).interval(0.95)
        expected = (grid[kept].min(), grid[kept].max())
        assert (found.low, found.high) == pytest.approx(expected, abs=1e-3)


def test_a_curve_is_cut_where_a_tail_is_rare() -> None:
    """With the tails of a normal statistic the bounds are its quantiles."""
    values = np.linspace(0, 10, 2001)
    curve = Curve(values, stats.norm.cdf(5 - values), stats.norm.sf(5 - values), np.ones(2001))
    low, high, _ = curve.interval(0.95)
    assert (low, high) == pytest.approx((5 - 1.96, 5 + 1.96), abs=1e-3)
    one_sided = Curve(values, stats.norm.cdf(5 - values), stats.norm.sf(5 - values), np.zeros(2001))
    assert one_sided.interval(0.95).low == pytest.approx(5 - 1.645, abs=1e-3)


def test_a_normal_interval_stays_within_the_measure() -> None:
    """Bounds beyond what is possible are cut off."""
    assert Normal(0.98, 0.1, "plain", 0.0, 1.0).interval(0.95).high == 1.0
    with pytest.raises(EstimationError, match="between 0 and 1"):
        Normal(0.98, 0.1, "plain", 0.0, 1.0).interval(95)


def test_every_measure_says_what_it_is() -> None:
    """Names, sources and sentences are there; a name is found again."""
    for name, measure in MEASURES.items():
        assert measure_named(name) is measure
        assert measure.citation
        assert measure.summary[0] != measure.summary[0].upper() or measure.summary[0] in "χGφ"


def test_a_smoothed_table_is_measured_by_its_reports() -> None:
    """A table that a method made independent has the association that its reports show.

    An interval around the smoothed one, as wide as the reports say, held the truth in four
    surveys out of five.
    """
    truth = np.array([[0.3, 0.2], [0.1, 0.4]])
    study = Study(("a", "b"), truth, (Experiment(4000, (k_ary(2.0, 4),), ((0, 1),)),))
    evidence = study.draw(np.random.default_rng(3))
    rng = np.random.default_rng(4)
    own = estimate(evidence, ["a", "b"], rng=rng, method="maximum-likelihood")
    margins = np.outer(own.estimate.sum(axis=1), own.estimate.sum(axis=0))
    smoothed = replace(own, estimate=margins, method="default")
    measured = derive(smoothed, "pearson-r", rng=rng)
    assert measured.value == pytest.approx(derive(own, "pearson-r", rng=rng).value, abs=1e-3)
    assert measured.notes == ("derived from the reports themselves, not from the table of default",)
    assert derive(own, "pearson-r", rng=rng).notes == ()


@pytest.mark.parametrize("alone", [0, 700])
def test_it_is_said_how_many_were_asked_all_of_a_table(alone: int) -> None:
    """Where others were asked one attribute only, a measure and a test say what they rest on."""
    asked = [Experiment(1_000, (k_ary(3.0, 4),), ((0, 1),))]
    asked += [Experiment(alone, (k_ary(3.0, 2),), ((0,),))] if alone else []
    rng = np.random.default_rng(1)
    evidence = Study(("a", "b"), np.array([[0.4, 0.1], [0.1, 0.4]]), tuple(asked)).draw(rng)
    measured = derive(estimate(evidence, ["a", "b"], rng=rng), "cramers-v", rng=rng)
    tested = independence_test(evidence, ["a", "b"], rng=rng)
    for found in (measured, tested):
        assert found.people == 1_000 + alone
        assert any("1,000" in note for note in found.notes) == bool(alone)
