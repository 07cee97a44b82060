"""Every method of the registry, on the same hard cases."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.channels import k_ary, rounded_laplace, subset, symmetric_unary, two_coin
from deniable.errors import EstimationError
from deniable.estimation import METHODS, Evidence, Experiment, Table, estimate
from deniable.estimation.study import Study

PAIR = np.array([[0.3, 0.2, 0.1], [0.05, 0.25, 0.1]])
EMPTY_CELLS = np.array([[0.5, 0.0, 0.0], [0.0, 0.0, 0.5]])
APART = ((0,), (1,))
TOGETHER = ((0, 1),)
SKEWED = two_coin(1.0, [0.4, 0.2, 0.1, 0.1, 0.1, 0.1])


def study(truth: np.ndarray, *experiments: Experiment) -> Study:
    """Ask the attributes a and b."""
    return Study(("a", "b"), truth, experiments)


CASES = {
    "a pair as one cell": study(PAIR, Experiment(4000, (k_ary(1.0, 6),), TOGETHER)),
    "a pair attribute by attribute": study(
        PAIR, Experiment(4000, (k_ary(1.0, 2), k_ary(1.0, 3)), APART)
    ),
    "groups in another order": study(
        PAIR, Experiment(4000, (k_ary(1.0, 3), k_ary(1.0, 2)), ((1,), (0,)))
    ),
    "reported sets": study(PAIR, Experiment(4000, (subset(1.0, 6, 2),), TOGETHER)),
    "bits": study(PAIR, Experiment(4000, (symmetric_unary(2.0, 6),), TOGETHER)),
    "a bare matrix": study(PAIR, Experiment(4000, (rounded_laplace(5.0, 6),), TOGETHER)),
    "blocks of different coins": study(
        PAIR,
        Experiment(2000, (k_ary(1.0, 6),), TOGETHER),
        Experiment(2000, (SKEWED,), TOGETHER),
    ),
    "views of a pair and of one": study(
        PAIR,
        Experiment(2000, (k_ary(1.0, 6),), TOGETHER),
        Experiment(2000, (k_ary(1.0, 2),), ((0,),)),
    ),
    "empty cells": study(EMPTY_CELLS, Experiment(300, (k_ary(3.0, 6),), TOGETHER)),
    "hardly any signal": study(PAIR, Experiment(500, (k_ary(0.05, 2), k_ary(0.05, 3)), APART)),
    "everybody alike": study(
        np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        Experiment(60, (k_ary(8.0, 2), k_ary(8.0, 3)), APART),
    ),
}
WRONG_DESIGN = {
    "rr-joint",
    "rr-ind-joint",
    "hybrid",
    "truncated",
    "truncated-as-printed",
    "rr-adjustment",
    "eq-4-clients",
}
"""Methods that belong to one design and say so when given another."""


def drawn(name: str, seed: int = 7) -> Evidence:
    """Return the same reports of a case every time."""
    return CASES[name].draw(np.random.default_rng(seed))


def run(method: str, case: str, names: tuple[str, ...] = ("a", "b")) -> Table | None:
    """Estimate, or return nothing where the method says that it belongs to another design."""
    try:
        return estimate(drawn(case), names, rng=np.random.default_rng(1), method=method)
    except EstimationError:
        assert method in WRONG_DESIGN
        return None


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("method", METHODS)
def test_a_table_is_whole_signed_and_as_proper_as_promised(method: str, case: str) -> None:
    """Names, shape, people and signature are right, and shares are proper where promised."""
    table = run(method, case)
    if table is None:
        return
    assert table.names == ("a", "b")
    assert table.shape == table.estimate.shape == (2, 3)
    assert table.people == sum(round(one.people) for one in CASES[case].experiments)
    assert (table.method, table.citation) == (method, METHODS[method].citation)
    assert set(METHODS[method].loses) <= set(table.notes)
    assert table.is_proper or not METHODS[method].proper


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_table(method: str, case: str) -> None:
    """A method depends on nothing but the reports and the generator."""
    first, second = run(method, case), run(method, case)
    if first is not None and second is not None:
        np.testing.assert_array_equal(first.estimate, second.estimate)
        np.testing.assert_array_equal(first.standard_error, second.standard_error)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("method", [m for m in METHODS if m != "held-out-em"])
def test_the_order_of_the_attributes_is_the_callers(method: str, case: str) -> None:
    """Asking for (b, a) gives the transposed table of (a, b), and its errors transposed."""
    straight, turned = run(method, case), run(method, case, ("b", "a"))
    if straight is None or turned is None:
        return
    assert turned.names == ("b", "a")
    # A linear program has several solutions; the others have one, to within their tolerance.
    if method != "consistency-l1":
        np.testing.assert_allclose(turned.estimate.T, straight.estimate, atol=2e-3)
    np.testing.assert_allclose(turned.standard_error.T, straight.standard_error, rtol=1e-6)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("method", METHODS)
def test_intervals_lie_within_0_and_1_and_widen_with_their_level(method: str, case: str) -> None:
    """Every bound is a share, low below high, and 99 % is no narrower than 90 %."""
    table = run(method, case)
    if table is None:
        return
    narrow, wide = table.interval(0.9), table.interval(0.99)
    for interval in (narrow, wide, table.interval(0.95, simultaneous=True)):
        assert np.all((interval.low >= 0) & (interval.high <= 1))
        assert np.all(interval.low <= interval.high)
    assert np.all(wide.width >= narrow.width - 1e-12)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("method", METHODS)
def test_a_method_leaves_the_reports_alone(method: str, case: str) -> None:
    """Estimating does not change the counts it was given."""
    evidence = drawn(case)
    before = [batch.counts.copy() for batch in evidence.batches]
    try:
        estimate(evidence, ("a", "b"), rng=np.random.default_rng(1), method=method)
    except EstimationError:
        assert method in WRONG_DESIGN
    for batch, counts in zip(evidence.batches, before, strict=True):
        np.testing.assert_array_equal(batch.counts, counts)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_refuses_what_does_not_exist(method: str) -> None:
    """An unknown attribute, a doubled one and none at all are errors with a sentence."""
    evidence = drawn("a pair as one cell")
    rng = np.random.default_rng(0)
    with pytest.raises(EstimationError, match="no attribute 'age'"):
        estimate(evidence, ("age",), rng=rng, method=method)
    with pytest.raises(EstimationError, match="twice"):
        estimate(evidence, ("a", "a"), rng=rng, method=method)
    with pytest.raises(EstimationError, match="at least one attribute"):
        estimate(evidence, (), rng=rng, method=method)


@pytest.mark.parametrize(
    "method",
    [
        name
        for name, method in METHODS.items()
        if name not in {"rr-independent", "consistency-l1", "consistency-l2"} and not method.fit
    ],
)
def test_attributes_never_asked_together_name_the_view_that_is_missing(method: str) -> None:
    """Without a view of both, only models and methods that fill in the interplay give a table."""
    apart = study(
        PAIR,
        Experiment(500, (k_ary(1.0, 2),), ((0,),)),
        Experiment(500, (k_ary(1.0, 3),), ((1,),)),
    )
    evidence = apart.draw(np.random.default_rng(3))
    with pytest.raises(EstimationError) as caught:
        estimate(evidence, ("a", "b"), rng=np.random.default_rng(0), method=method)
    if method != "rr-adjustment":
        assert "a view whose groups hold a, b" in str(caught.value)


@pytest.mark.parametrize("method", ["consistency-l1", "consistency-l2"])
def test_what_no_view_asked_is_filled_in_and_said_so(method: str) -> None:
    """A table put together from margins says that the interplay is not learned."""
    apart = study(
        PAIR,
        Experiment(5000, (k_ary(2.0, 2),), ((0,),)),
        Experiment(5000, (k_ary(2.0, 3),), ((1,),)),
    )
    evidence = apart.draw(np.random.default_rng(3))
    table = estimate(evidence, ("a", "b"), rng=np.random.default_rng(0), method=method)
    np.testing.assert_allclose(table.estimate.sum(axis=1), PAIR.sum(axis=1), atol=0.06)
    np.testing.assert_allclose(table.estimate.sum(axis=0), PAIR.sum(axis=0), atol=0.06)
    assert any("filled in" in note for note in table.notes)
    assert np.all(np.isnan(table.interval().low))
    assert table.interval().caveat


def test_a_channel_that_tells_nothing_has_no_estimate() -> None:
    """A matrix whose rows are alike (ε = 0) is refused."""
    from deniable.channels import matrix  # noqa: PLC0415

    silent = Study(
        ("a",),
        np.array([0.4, 0.6]),
        (Experiment(100, (matrix([[0.5, 0.5], [0.5, 0.5]]),), ((0,),)),),
    )
    evidence = silent.draw(np.random.default_rng(0))
    with pytest.raises(EstimationError, match="no inverse"):
        estimate(evidence, ("a",), rng=np.random.default_rng(0))


def test_an_unknown_method_names_the_nearest() -> None:
    """A misspelt method is answered with the one that was meant."""
    with pytest.raises(EstimationError, match="truncated"):
        estimate(drawn("bits"), ("a",), rng=np.random.default_rng(0), method="trunkated")
