"""Shares of one attribute against what R's RRreg publishes, and plain statistics where ε → ∞.

RRreg's ``RRuni`` gives, for each classic design, an estimate and a standard error from the
share λ of the answers (its manual, after Warner 1965, Greenberg et al. 1969, Kuk 1990,
Mangat 1994, Himmelfarb 2008, Yu et al. 2008, van den Hout & van der Heijden 2002). They are
written down here once more, from the formulas.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from deniable.channels import TwoCoin, k_ary, matrix, warner
from deniable.channels.coin import WORD
from deniable.estimation import Batch, Evidence, estimate
from deniable.inference import fit_test, independence_test

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from deniable.channels import Channel
    from deniable.estimation import Table

    Array = NDArray[np.float64]

RNG = np.random.default_rng(1)  # no measure below throws dice where it is compared
PLAIN = 22.0
"""At this ε one report in a billion is a lie."""


def weights(*shares: float) -> tuple[int, ...]:
    """Return shares as integers that sum to 2³²."""
    first = [round(share * WORD) for share in shares[:-1]]
    return (*first, WORD - sum(first))


def of_counts(counts: list[int], channel: Channel) -> Table:
    """Return the unbiased table of one attribute, from how often each report came."""
    rows = np.arange(len(counts)).reshape(-1, 1)
    batch = Batch(((0,),), (channel,), (rows,), np.array(counts, np.int64))
    evidence = Evidence(("a",), (channel.size,), (batch,))
    return estimate(evidence, ["a"], rng=RNG, method="unbiased")


def error_of(share: float, people: int, slope: float) -> float:
    """Return √(λ(1 − λ)/((n − 1)·slope²)), the standard error of all of them."""
    return math.sqrt(share * (1 - share) / ((people - 1) * slope**2))


RRUNI: dict[str, tuple[Channel, Callable[[float], float], float]] = {
    # the channel; π̂ as a function of λ, the share of yes; and the slope dλ/dπ
    "Warner, p = .7": (warner(0.7), lambda seen: (seen + 0.7 - 1) / (2 * 0.7 - 1), 0.4),
    "Crosswise, p = .75": (warner(0.75), lambda seen: (seen + 0.75 - 1) / (2 * 0.75 - 1), 0.5),
    "UQTknown, p = (.6, .2)": (
        TwoCoin(round(0.6 * WORD), weights(0.8, 0.2)),
        lambda seen: (seen - (1 - 0.6) * 0.2) / 0.6,
        0.6,
    ),
    "FR, p = (.1, .2)": (
        TwoCoin(round(0.7 * WORD), weights(1 / 3, 2 / 3)),
        lambda seen: (seen - 0.2) / (1 - 0.1 - 0.2),
        0.7,
    ),
    "Kuk, p = (.8, .3), one card": (
        matrix([[0.7, 0.3], [0.2, 0.8]]),
        lambda seen: (seen - 0.3) / (0.8 - 0.3),
        0.5,
    ),
}


@pytest.mark.parametrize("name", RRUNI)
@settings(max_examples=20, deadline=None)
@given(counts=st.tuples(st.integers(5, 5000), st.integers(5, 5000)))
def test_two_answers_have_the_published_estimate_and_error(
    name: str, counts: tuple[int, int]
) -> None:
    """Each classic design of two answers is a channel; estimate and error are RRuni's."""
    channel, published, slope = RRUNI[name]
    people = sum(counts)
    seen = counts[1] / people
    table = of_counts(list(counts), channel)
    share = published(seen)
    assert table.estimate == pytest.approx(np.array([1 - share, share]), abs=1e-7)
    if 0 < share < 1:  # beyond, our error is that of the nearest share that can be
        error = error_of(seen, people, slope)
        assert table.standard_error == pytest.approx(np.full(2, error), rel=1e-6)


@settings(max_examples=20, deadline=None)
@given(counts=st.lists(st.integers(200, 1000), min_size=4, max_size=4))
def test_forced_answers_of_several_categories_are_the_published_ones(counts: list[int]) -> None:
    """FR with m categories: π_i = (λ_i − p_i)/(1 − Σp), and its error."""
    forced = np.array([0.05, 0.1, 0.02, 0.03])
    truth = 1 - forced.sum()
    channel = TwoCoin(round(truth * WORD), weights(*(forced / forced.sum())))
    table = of_counts(counts, channel)
    people = sum(counts)
    seen = np.array(counts) / people
    assert table.estimate == pytest.approx((seen - forced) / truth, abs=1e-7)
    errors = [error_of(share, people, truth) for share in seen]
    inside = (table.estimate > 0) & (table.estimate < 1)
    assert table.standard_error[inside] == pytest.approx(np.array(errors)[inside], rel=1e-6)


def test_any_matrix_has_the_published_covariance() -> None:
    """RRuni's custom design: P⁻¹(diag λ − λλᵀ)P⁻ᵀ/(n − 1)."""
    rows = np.array([[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]])
    counts = [500, 800, 300]
    table = of_counts(counts, matrix(rows.tolist()))
    seen = np.array(counts) / 1600
    back = np.linalg.inv(rows.T)  # reports by answers
    assert table.estimate == pytest.approx(back @ seen, abs=1e-8)
    expected = back @ (np.diag(seen) - np.outer(seen, seen)) @ back.T / 1599
    assert table.covariance is not None
    assert table.covariance.dense() == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_another_channel_than_the_one_used_is_caught() -> None:
    """Warner's estimate with a wrong p is far from the published one."""
    table = of_counts([400, 600], warner(0.75))
    assert abs(table.estimate[1] - RRUNI["Warner, p = .7"][1](0.6)) > 0.04


PAIR = np.array([[310, 120, 70], [90, 240, 170]])


def plainly(counts: NDArray[np.int64]) -> Evidence:
    """Return answers given through a channel that lies once in a billion times."""
    rows = np.arange(counts.size).reshape(-1, 1)
    channel = k_ary(PLAIN, counts.size)
    batch = Batch((tuple(range(counts.ndim)),), (channel,), (rows,), counts.reshape(-1))
    return Evidence(("a", "b")[: counts.ndim], counts.shape, (batch,))


def test_where_epsilon_is_large_a_share_has_wilsons_interval() -> None:
    """Estimate and 95 % interval of a share are those of statsmodels."""
    table = estimate(plainly(np.array([130, 870])), ["a"], rng=RNG, method="maximum-likelihood")
    low, high = proportion_confint(130, 1000, method="wilson")
    found = table.interval(0.95)
    assert table.estimate[0] == pytest.approx(0.13, abs=1e-6)
    # Ours divides by n − 1.
    assert (found.low[0], found.high[0]) == pytest.approx((low, high), abs=1e-4)


def test_where_epsilon_is_large_tests_are_pearsons() -> None:
    """Independence and goodness of fit have χ², freedom and p of SciPy."""
    found = independence_test(plainly(PAIR), ["a", "b"], rng=RNG)
    plain = stats.chi2_contingency(PAIR, correction=False)
    assert found.statistic == pytest.approx(plain.statistic, rel=1e-5)
    assert found.freedom == plain.dof
    assert found.p_value == pytest.approx(plain.pvalue, rel=1e-3)
    shares = np.array([0.2, 0.5, 0.3])
    counts = np.array([230, 470, 300])
    fitted = fit_test(plainly(counts), ["a"], shares, rng=RNG)
    expected = stats.chisquare(counts, 1000 * shares)
    assert fitted.statistic == pytest.approx(expected.statistic, rel=1e-5)
    assert fitted.p_value == pytest.approx(expected.pvalue, rel=1e-3)
