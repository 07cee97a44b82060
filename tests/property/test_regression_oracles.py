"""Regression against independent solvers: statsmodels where ε → ∞, SciPy everywhere else.

The likelihoods that R's RRreg and rr publish for one randomized outcome are written down
here once more, from their formulas, and maximized by SciPy; so is the joint likelihood of a
randomized outcome with randomized predictors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from scipy.optimize import minimize

from deniable.channels import Matrix, TwoCoin, k_ary, matrix, subset, warner
from deniable.channels.coin import WORD
from deniable.estimation import Batch, Evidence, Experiment, evidence_from_reports
from deniable.estimation.bound import channel_matrix
from deniable.estimation.observation import observe
from deniable.estimation.study import Study
from deniable.inference.regression import regress
from deniable.inference.regression.ascent import likelihood_of, moments
from deniable.inference.regression.testimony import Sighted, Tabled, sighted

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from deniable.channels import Channel

    Array = NDArray[np.float64]

PLAIN = 22.0
"""At this ε one report in a billion is a lie."""


def expit(eta: Array) -> Array:
    """Return the logistic function."""
    result: Array = 1 / (1 + np.exp(-eta))
    return result


def maximum(objective: Callable[[Array], float], start: Array) -> tuple[Array, float, Array]:
    """Maximize with SciPy; return place, height, and the Hessian by differences."""
    solve: Any = minimize
    best = solve(lambda theta: -objective(theta), start, method="BFGS", options={"gtol": 1e-7})
    best = solve(
        lambda theta: -objective(theta),
        best.x,
        method="Nelder-Mead",
        options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 20_000, "maxfev": 20_000},
    )
    place: Array = best.x
    step = 1e-3 * np.eye(len(place))
    hessian = np.array(
        [
            [
                (
                    objective(place + a + b)
                    - objective(place + a - b)
                    - objective(place - a + b)
                    + objective(place - a - b)
                )
                / 4e-6
                for b in step
            ]
            for a in step
        ]
    )
    return place, -float(best.fun), hessian


def people(seed: int, count: int) -> dict[str, NDArray[np.int64]]:
    """Return answers in which smoking depends on sex and age."""
    rng = np.random.default_rng(seed)
    sex, age = rng.integers(0, 2, count), rng.integers(0, 3, count)
    eta = -0.5 + 0.9 * sex - 0.6 * (age == 1) + 0.4 * (age == 2)
    return {"smokes": (rng.random(count) < expit(eta)).astype(np.int64), "sex": sex, "age": age}


def sent(answers: NDArray[np.int64], channel: Channel, seed: int) -> NDArray[np.int64]:
    """Return reports of answers, drawn from the channel's own probabilities."""
    rng = np.random.default_rng(seed)
    likelihood = channel_matrix(channel)  # reports × answers
    rows = np.cumsum(likelihood, axis=0)[:, answers]
    return np.asarray((rng.random(len(answers)) > rows).sum(axis=0), dtype=np.int64)


def test_where_epsilon_is_large_it_is_the_logit_of_statsmodels() -> None:
    """Coefficients, standard errors, likelihood ratio and predictions are those of plain data."""
    answers = people(1, 3000)
    sizes = [2, 2, 3]
    channels = [k_ary(PLAIN, size) for size in sizes]
    evidence = evidence_from_reports(list(answers), sizes, channels, list(answers.values()))
    found = regress(evidence, "smokes", ["sex", "age"])
    dummies = [answers["sex"], answers["age"] == 1, answers["age"] == 2]
    design = np.column_stack([np.ones(3000), *dummies]).astype(float)
    plain = sm.Logit(answers["smokes"], design).fit(disp=0)
    values = [one.estimate.value for one in found.coefficients]
    errors = [one.estimate.standard_error for one in found.coefficients]
    assert values == pytest.approx(plain.params, abs=1e-5)
    assert errors == pytest.approx(plain.bse, rel=1e-4)
    assert [one.z for one in found.coefficients] == pytest.approx(plain.tvalues, rel=1e-3)
    nothing = found.without("sex", "age")
    assert found.against(nothing).statistic == pytest.approx(plain.llr, rel=1e-5)
    assert found.against(nothing).p_value == pytest.approx(plain.llr_pvalue, rel=1e-2)
    woman = found.predict({"sex": "1", "age": "2"})[1]
    assert woman.value == pytest.approx(float(plain.predict([1, 1, 0, 1])[0]), abs=1e-5)
    ours, theirs = woman.interval(), plain.get_prediction([[1, 1, 0, 1]]).conf_int()[0]
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs), abs=0.01)


def test_where_epsilon_is_large_it_is_the_multinomial_logit_of_statsmodels() -> None:
    """Three outcomes: coefficients and standard errors of ``MNLogit``."""
    rng = np.random.default_rng(2)
    count = 3000
    age, sex = rng.integers(0, 3, count), rng.integers(0, 2, count)
    odds = np.exp(np.column_stack([0 * age, 0.4 * age - 0.3, 0.8 * sex - 0.5]))
    party = (rng.random(count)[:, None] > np.cumsum(odds / odds.sum(1, keepdims=True), 1)).sum(1)
    channels = [k_ary(PLAIN, size) for size in (3, 3, 2)]
    evidence = evidence_from_reports(
        ["party", "age", "sex"], [3, 3, 2], channels, [party, age, sex]
    )
    found = regress(evidence, "party", ["age", "sex"], scores={"age": ()})
    plain = sm.MNLogit(party, np.column_stack([np.ones(count), age, sex])).fit(disp=0)
    values = np.array([one.estimate.value for one in found.coefficients]).reshape(2, 3)
    errors = np.array([one.estimate.standard_error for one in found.coefficients]).reshape(2, 3)
    assert values == pytest.approx(plain.params.T, abs=1e-5)
    assert errors == pytest.approx(plain.bse.T, rel=1e-4)


@pytest.mark.parametrize("reference", ["0", "1", "2"])
def test_any_category_may_be_the_reference(reference: str) -> None:
    """Another reference is another way to say the same: likelihood and predictions stay."""
    study = Study(
        ("y", "x"),
        np.array([[0.2, 0.1], [0.1, 0.25], [0.15, 0.2]]),
        (Experiment(20_000, (k_ary(2.0, 3), k_ary(2.0, 2)), ((0,), (1,))),),
    )
    evidence = study.draw(np.random.default_rng(3))
    first = regress(evidence, "y", ["x"], by="wald")
    other = regress(evidence, "y", ["x"], reference={"y": reference, "x": "1"}, by="wald")
    assert other.likelihood == pytest.approx(first.likelihood, abs=1e-6)
    for one, same in zip(first.predict({"x": "0"}), other.predict({"x": "0"}), strict=True):
        assert one.value == pytest.approx(same.value, abs=1e-6)
        assert one.standard_error == pytest.approx(same.standard_error, rel=1e-4)


PUBLISHED: dict[str, tuple[Channel, Callable[[Array], Array]]] = {
    # RRreg's names; P(response = 1) as its manual gives it, with π the chance of the answer.
    "Warner, p = .75": (warner(0.75), lambda pi: 0.75 * pi + 0.25 * (1 - pi)),
    "UQTknown, p = (.7, .3)": (
        TwoCoin(int(0.7 * WORD), (WORD - int(0.3 * WORD), int(0.3 * WORD))),
        lambda pi: 0.7 * pi + 0.3 * 0.3,
    ),
    "FR, p = (.1, .15)": (
        TwoCoin(int(0.75 * WORD), (WORD - int(0.6 * WORD), int(0.6 * WORD))),
        lambda pi: 0.15 + 0.75 * pi,
    ),
    "Kuk, p = (.8, .3)": (
        matrix([[0.7, 0.3], [0.2, 0.8]]),
        lambda pi: 0.8 * pi + 0.3 * (1 - pi),
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_it_maximizes_the_published_likelihood_of_a_randomized_outcome(name: str) -> None:
    """What ``RRlog`` and ``rrreg`` maximize, beside plain covariates, maximized by SciPy."""
    channel, chance = PUBLISHED[name]
    rng = np.random.default_rng(4)
    count = 2000
    income, woman = rng.normal(size=count), rng.integers(0, 2, count)
    answers = (rng.random(count) < expit(-0.4 + 0.8 * income + 0.5 * woman)).astype(np.int64)
    reports = sent(answers, channel, 5)
    design = np.column_stack([np.ones(count), income, woman])

    def likelihood(beta: Array) -> float:
        yes = chance(expit(design @ beta))
        return float(np.sum(np.where(reports == 1, np.log(yes), np.log(1 - yes))))

    place, height, hessian = maximum(likelihood, np.zeros(3))
    evidence = evidence_from_reports(["smokes"], [2], [channel], [reports])
    plain = pd.DataFrame({"income": income, "sex": np.where(woman == 1, "w", "m")})
    found = regress(evidence, "smokes", ["income", "sex"], covariates=plain)
    assert found.likelihood == pytest.approx(height, abs=1e-4)
    assert [one.estimate.value for one in found.coefficients] == pytest.approx(place, abs=1e-3)
    errors = np.sqrt(np.diag(np.linalg.inv(-hessian)))
    told = [one.estimate.standard_error for one in found.coefficients]
    assert told == pytest.approx(errors, rel=1e-3)
    # The likelihood-ratio test that RRlog makes of each coefficient:
    held = maximum(lambda beta: likelihood(np.array([beta[0], 0.0, beta[1]])), np.zeros(2))[1]
    expected = float(stats.chi2.sf(2 * (height - held), 1))
    assert found["income"].p_value == pytest.approx(expected, rel=1e-2)


def test_it_maximizes_the_published_likelihood_of_a_randomized_predictor() -> None:
    """What ``rrreg.predictor`` maximizes: a plain outcome on a randomized predictor."""
    rng = np.random.default_rng(6)
    count = 1500
    income = rng.normal(size=count)
    smokes = (rng.random(count) < expit(-0.3 + 0.5 * income)).astype(np.int64)
    ill = (rng.random(count) < expit(-1 + 1.2 * smokes + 0.3 * income)).astype(np.int64)
    channel = warner(0.8)
    reports = sent(smokes, channel, 7)
    truth = np.where(reports == 1, 0.8, 0.2)

    def likelihood(theta: Array) -> float:
        smoker = expit(theta[3] + theta[4] * income)
        told = np.zeros(count)
        for answer, share, seen in ((1, smoker, truth), (0, 1 - smoker, 1 - truth)):
            chance = expit(theta[0] + theta[1] * answer + theta[2] * income)
            told = told + seen * share * np.where(ill == 1, chance, 1 - chance)
        return float(np.sum(np.log(told)))

    place, height, hessian = maximum(likelihood, np.zeros(5))
    evidence = evidence_from_reports(["smokes"], [2], [channel], [reports])
    plain = pd.DataFrame({"income": income, "ill": ill.astype(bool)})
    found = regress(evidence, "ill", ["smokes", "income"], covariates=plain, by="wald")
    assert found.likelihood == pytest.approx(height, abs=1e-4)
    assert [one.estimate.value for one in found.coefficients] == pytest.approx(place[:3], abs=2e-3)
    errors = np.sqrt(np.diag(np.linalg.inv(-hessian)))[:3]
    told = [one.estimate.standard_error for one in found.coefficients]
    assert told == pytest.approx(errors, rel=5e-3)


DESIGNS: dict[str, tuple[Experiment, ...]] = {
    "each apart": (
        Experiment(4000, (k_ary(2.0, 3), k_ary(1.5, 2), warner(0.8)), ((0,), (1,), (2,))),
    ),
    "one cell": (Experiment(6000, (k_ary(2.0, 12),), ((0, 1, 2),)),),
    "sets": (Experiment(9000, (subset(1.5, 12, 3),), ((2, 0, 1),)),),
    "clusters": (
        Experiment(
            8000,
            (
                TwoCoin(
                    WORD // 2, (WORD // 3, WORD - WORD // 3 - 2 * (WORD // 9), *[WORD // 9] * 2)
                ),
                k_ary(1.5, 3),
            ),
            ((2, 1), (0,)),
        ),
    ),
    "pairs, one asked": (
        Experiment(4000, (k_ary(2.0, 6),), ((0, 1),)),
        Experiment(4000, (k_ary(2.0, 6),), ((0, 2),)),
        Experiment(4000, (k_ary(2.0, 4),), ((1, 2),)),
    ),
    "two blocks": (
        Experiment(3000, (k_ary(1.5, 12),), ((0, 1, 2),)),
        Experiment(3000, (k_ary(2.5, 12),), ((0, 1, 2),)),
    ),
}


def table() -> Array:
    """Return P(y, a, b) of a multinomial model without interactions."""
    a, b = np.indices((2, 2))
    eta = np.stack([0 * a, 0.3 + 0.9 * a - 0.5 * b, -0.4 - 0.6 * a + 1.0 * b])
    chance = np.exp(eta) / np.exp(eta).sum(axis=0)
    return np.asarray(chance * np.array([[0.3, 0.2], [0.15, 0.35]]))


def whole(experiment: Experiment, batch: Batch) -> Array:
    """Return P(report | cell) of each row of a batch, over all cells, by the channels' own word."""
    rows = np.ones((len(batch.counts), *table().shape))
    for channel, axes, reports in zip(
        experiment.channels, experiment.axes, batch.reports, strict=True
    ):
        sizes = [table().shape[axis] for axis in axes]
        for cell in np.ndindex(*table().shape):
            answer = int(np.ravel_multi_index([cell[axis] for axis in axes], sizes))
            odds = [float(channel.probability(tuple(map(int, r)), answer)) for r in reports]
            rows[(slice(None), *cell)] *= odds
    return rows


@pytest.mark.parametrize("name", DESIGNS)
def test_it_maximizes_the_joint_likelihood_under_every_design(name: str) -> None:
    """Outcome and predictors randomized together or apart: no maximum of SciPy's is higher."""
    study = Study(("y", "a", "b"), table(), DESIGNS[name])
    evidence = study.draw(np.random.default_rng(8))
    parts = [
        (whole(experiment, batch), batch.counts)
        for experiment, batch in zip(study.experiments, evidence.batches, strict=True)
    ]

    def likelihood(theta: Array) -> float:
        a, b = np.indices((2, 2))
        eta = np.stack([0.0 * a, *(t[0] + t[1] * a + t[2] * b for t in (theta[:3], theta[3:6]))])
        chance = np.exp(eta) / np.exp(eta).sum(axis=0)
        odds = np.exp(np.append(theta[6:], 0.0)).reshape(2, 2)
        shares = chance * odds / odds.sum()
        return float(
            sum(
                counts @ np.log(rows.reshape(len(counts), -1) @ shares.reshape(-1))
                for rows, counts in parts
            )
        )

    place, height, hessian = maximum(likelihood, np.zeros(9))
    found = regress(evidence, "y", ["a", "b"], by="wald")
    own = np.concatenate([place[:6], np.exp(np.append(place[6:], 0))[:3]])
    own[6:] /= np.exp(np.append(place[6:], 0)).sum()
    ours = likelihood_of(found.fitted.model, found.fitted.testimony, own)
    assert found.likelihood >= ours - 1e-6
    assert found.likelihood == pytest.approx(ours, abs=1e-3)
    assert [one.estimate.value for one in found.coefficients] == pytest.approx(place[:6], abs=0.01)
    errors = np.sqrt(np.diag(np.linalg.inv(-hessian)))[:6]
    told = [one.estimate.standard_error for one in found.coefficients]
    assert told == pytest.approx(errors, rel=0.01)
    assert height > likelihood(np.zeros(9))


@pytest.mark.parametrize("beside", [False, True])
def test_score_and_information_are_the_derivatives_of_the_likelihood(*, beside: bool) -> None:
    """At any place the slope and its turn are those of finite differences."""
    study = Study(("y", "a", "b"), table(), DESIGNS["each apart"])
    rng = np.random.default_rng(9)
    evidence = study.draw(rng)
    if beside:
        (batch,) = evidence.batches
        rows = np.repeat(np.arange(len(batch.counts)), batch.counts)
        parts = [report[rows][:300] for report in batch.reports]
        evidence = evidence_from_reports(["y", "a", "b"], [3, 2, 2], batch.channels, parts)
        plain = pd.DataFrame({"w": rng.normal(size=300)})
        found = regress(evidence, "y", ["a", "b", "a:w"], covariates=plain, by="wald")
    else:
        found = regress(evidence, "y", ["a*b"], by="wald")
    model, testimony = found.fitted.model, found.fitted.testimony
    theta = found.fitted.peak.theta + 0.02 * rng.normal(size=model.size)
    score, _, information = moments(model, testimony, theta)
    steps = 1e-5 * np.eye(model.size)
    slope = [
        (likelihood_of(model, testimony, theta + s) - likelihood_of(model, testimony, theta - s))
        / 2e-5
        for s in steps
    ]
    turn = np.array(
        [
            (moments(model, testimony, theta + s)[0] - moments(model, testimony, theta - s)[0])
            / 2e-5
            for s in steps
        ]
    )
    size = np.abs(information).max()
    assert score == pytest.approx(np.array(slope), abs=1e-5 * max(1.0, np.abs(score).max()))
    assert np.abs(turn + information).max() < 1e-5 * size


@pytest.mark.parametrize("name", DESIGNS)
def test_a_matrix_and_the_sights_say_the_same(name: str) -> None:
    """Reports laid out as one matrix, or seen by the sights' own maps: the same moments."""
    study = Study(("y", "a", "b"), table(), DESIGNS[name])
    observation = observe(study.draw(np.random.default_rng(17)), ["y", "a", "b"])
    small, large = sighted(observation.sights, (3, 2, 2)), Sighted(observation.sights, (3, 2, 2))
    assert isinstance(small, Tabled)
    rng = np.random.default_rng(18)
    shares = rng.dirichlet(np.ones(12)).reshape(1, 3, 4)
    slopes = rng.normal(size=(1, 3, 4, 5))
    assert small.likelihood(shares) == pytest.approx(large.likelihood(shares))
    for one, other in zip(small.said(shares, slopes), large.said(shares, slopes), strict=True):
        assert one == pytest.approx(other)


def test_covariates_of_few_kinds_are_the_tables_beside_each_other() -> None:
    """A plain covariate is worth what an attribute sent through a plain channel is worth."""
    answers = people(10, 4000)
    channels = [k_ary(1.5, 2), k_ary(PLAIN, 2), k_ary(PLAIN, 3)]
    reports = [sent(answers["smokes"], channels[0], 11), answers["sex"], answers["age"]]
    randomized = evidence_from_reports(list(answers), [2, 2, 3], channels, reports)
    one = regress(randomized, "smokes", ["sex", "age"])
    alone = evidence_from_reports(["smokes"], [2], channels[:1], reports[:1])
    plain = pd.DataFrame({"sex": answers["sex"].astype(str), "age": answers["age"].astype(str)})
    other = regress(alone, "smokes", ["sex", "age"], covariates=plain)
    for mine, yours in zip(one.coefficients, other.coefficients, strict=True):
        assert mine.label == yours.label
        assert mine.estimate.value == pytest.approx(yours.estimate.value, abs=1e-5)
        assert mine.estimate.interval().low == pytest.approx(
            yours.estimate.interval().low, abs=2e-3
        )
        assert mine.p_value == pytest.approx(yours.p_value, rel=1e-2, abs=1e-6)


def test_profile_bounds_are_where_the_ratio_test_is_at_its_level() -> None:
    """At each bound twice the loss of likelihood is the χ² quantile, by SciPy's own refit."""
    answers = people(12, 1500)
    channel = k_ary(1.2, 2)
    reports = sent(answers["smokes"], channel, 13)
    evidence = evidence_from_reports(["smokes"], [2], [channel], [reports])
    found = regress(evidence, "smokes", ["sex"], covariates=pd.DataFrame({"sex": answers["sex"]}))
    lie = float(channel.probability((1,), 0))
    keep = float(channel.probability((1,), 1))

    def likelihood(beta: Array) -> float:
        chance = expit(beta[0] + beta[1] * answers["sex"])
        yes = lie + (keep - lie) * chance
        return float(np.sum(np.where(reports == 1, np.log(yes), np.log(1 - yes))))

    top = maximum(likelihood, np.zeros(2))[1]
    low, high, _ = found["sex"].estimate.interval(0.9)
    for bound in (low, high):
        held = maximum(lambda beta, b=bound: likelihood(np.array([beta[0], b])), np.zeros(1))[1]  # type: ignore[misc]
        assert 2 * (top - held) == pytest.approx(float(stats.chi2.isf(0.1, 1)), abs=0.01)


def test_a_matrix_of_one_attribute_serves_too() -> None:
    """Any channel of a single attribute has an exact likelihood."""
    channel = matrix([[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]])
    assert isinstance(channel, Matrix)
    answers = people(14, 4000)
    reports = [answers["smokes"], sent(answers["age"], channel, 15)]
    evidence = evidence_from_reports(["smokes", "age"], [2, 3], [k_ary(PLAIN, 2), channel], reports)
    found = regress(evidence, "smokes", ["age"], by="wald")
    assert abs(found["age=1"].estimate.value + 0.6) < 5 * found["age=1"].estimate.standard_error


def test_forgetting_the_channel_is_caught() -> None:
    """A regression of the reports as if they were answers is far from SciPy's maximum."""
    study = Study(("y", "a", "b"), table(), DESIGNS["each apart"])
    evidence = study.draw(np.random.default_rng(16))
    (batch,) = evidence.batches
    plain = tuple(k_ary(PLAIN, channel.size) for channel in batch.channels)
    forgetful = Evidence(
        evidence.names, evidence.sizes, (Batch(batch.groups, plain, batch.reports, batch.counts),)
    )
    right = regress(evidence, "y", ["a", "b"], by="wald")
    wrong = regress(forgetful, "y", ["a", "b"], by="wald")
    label = "2: b=1"
    assert abs(wrong[label].estimate.value) < 0.5 * abs(right[label].estimate.value)
    assert wrong[label].estimate.standard_error < right[label].estimate.standard_error
