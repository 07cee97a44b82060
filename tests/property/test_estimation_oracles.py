"""Estimators against independent solvers, and laws that hold for any reports."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from deniable.channels import k_ary, subset, two_coin
from deniable.errors import EstimationError
from deniable.estimation import METHODS, Experiment, cramer_rao
from deniable.estimation.bound import channel_matrix
from deniable.estimation.bump import Bump, along
from deniable.estimation.climb import climb, likelihood_of
from deniable.estimation.methods.consistency import least_squares, margins_of
from deniable.estimation.methods.hybrid import thresholds
from deniable.estimation.methods.rr_adjustment import adjusted
from deniable.estimation.methods.two_step import elastic_net
from deniable.estimation.observation import observe
from deniable.estimation.simplex import clip_and_rescale, nearest_proper, nearest_with_margins
from deniable.estimation.study import Study

if TYPE_CHECKING:
    from collections.abc import Callable

SHARES = arrays(np.float64, st.integers(1, 8), elements=st.floats(-1, 1))
VIEWS = Study(
    ("a", "b", "c"),
    np.random.default_rng(4).dirichlet(np.ones(12)).reshape(2, 3, 2),
    (
        Experiment(3000, (k_ary(1.0, 6), k_ary(1.0, 2)), ((0, 1), (2,))),
        Experiment(3000, (subset(1.0, 6, 2),), ((2, 1),)),
        Experiment(3000, (two_coin(1.0, [0.3, 0.2, 0.4, 0.1]),), ((0, 2),)),
    ),
)


def on_the_simplex(
    objective: Callable[[np.ndarray], float], cells: int, *, total: float = 1.0
) -> np.ndarray:
    """Minimize a smooth convex function over shares with SciPy."""
    solve: Any = minimize
    best = solve(
        objective,
        np.full(cells, total / cells),
        method="SLSQP",
        bounds=[(0, None)] * cells,
        constraints={"type": "eq", "fun": lambda x: x.sum() - total},
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    found: np.ndarray = best.x
    return found


@given(SHARES)
def test_the_projection_is_nearer_than_any_vertex_direction(table: np.ndarray) -> None:
    """The optimality condition of a projection: (π̂ − p)·(v − p) ≤ 0 for every vertex v."""
    found = nearest_proper(table)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    residual = table - found
    assert np.all(residual - residual @ found <= 1e-9)


@given(SHARES)
def test_clipping_gives_a_distribution_that_is_never_nearer(table: np.ndarray) -> None:
    """Clip-and-rescale is proper but not the nearest, whatever its source says."""
    clipped = clip_and_rescale(table)
    assert clipped.min() >= 0
    assert clipped.sum() == pytest.approx(1)
    nearest = nearest_proper(table)
    assert np.linalg.norm(table - nearest) <= np.linalg.norm(table - clipped) + 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_the_projection_that_keeps_margins_is_what_a_solver_finds(seed: int) -> None:
    """No table of these margins is nearer (SciPy's SLSQP); one that lets them go is."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(4))
    noisy = np.outer(rows, columns) + 0.03 * rng.standard_normal((3, 4))
    found = nearest_with_margins(noisy, rows, columns)
    assert found.min() >= 0
    assert np.abs(found.sum(axis=1) - rows).max() < 1e-3
    assert np.abs(found.sum(axis=0) - columns).max() < 1e-3
    solve: Any = minimize
    best = solve(
        lambda x: np.sum((x - noisy.reshape(-1)) ** 2),
        np.outer(rows, columns).reshape(-1),
        method="SLSQP",
        bounds=[(0, None)] * 12,
        constraints={
            "type": "eq",
            "fun": lambda x: np.concatenate(
                [x.reshape(3, 4).sum(axis=1) - rows, x.reshape(3, 4).sum(axis=0)[:3] - columns[:3]]
            ),
        },
        options={"maxiter": 1000, "ftol": 1e-14},
    ).x.reshape(3, 4)
    assert np.abs(found - best).max() < 2e-3
    free = nearest_proper(noisy)
    assert np.linalg.norm(free - noisy) <= np.linalg.norm(best - noisy) + 1e-9
    assert np.abs(free.sum(axis=1) - rows).max() > 5e-3


@given(arrays(np.float64, st.integers(2, 6), elements=st.floats(-20, 60)), st.floats(0.01, 1))
@settings(max_examples=25)
def test_the_elastic_net_is_what_a_solver_finds(noisy: np.ndarray, mixing: float) -> None:
    """No table of counts has a smaller objective than the closed form (SciPy's SLSQP)."""
    people = 50.0

    def objective(counts: np.ndarray) -> float:
        error = np.abs(counts - noisy)
        return float((1 - mixing) * error.sum() + mixing * (error**2).sum())

    found = elastic_net(noisy, people, mixing)
    assert found.sum() == pytest.approx(people)
    other = on_the_simplex(objective, noisy.size, total=people)
    assert objective(found) <= objective(other) + 1e-6 * (1 + objective(other))


def test_maximum_likelihood_is_what_a_solver_finds() -> None:
    """EM over all views climbs as high as SciPy, and its certificate holds."""
    evidence = VIEWS.draw(np.random.default_rng(0))
    sights = observe(evidence, VIEWS.names).sights
    summit = climb(sights, np.full((2, 3, 2), 1 / 12), gap=1e-4)

    def objective(shares: np.ndarray) -> float:
        return -likelihood_of(sights, np.maximum(shares, 1e-12).reshape(2, 3, 2)) / 9000

    other = on_the_simplex(objective, 12)
    highest = likelihood_of(sights, other.reshape(2, 3, 2))
    assert summit.gap <= 1e-4
    assert summit.likelihood >= highest - summit.gap
    assert np.abs(summit.table.reshape(-1) - other).max() < 0.02


def test_weighted_least_squares_is_what_a_solver_finds() -> None:
    """The projected gradients end where SciPy ends."""
    evidence = VIEWS.draw(np.random.default_rng(1))
    margins = margins_of(observe(evidence, VIEWS.names))

    def objective(shares: np.ndarray) -> float:
        total = 0.0
        for margin in margins:
            error = margin.members @ shares - margin.estimate
            total += error @ np.linalg.pinv(margin.covariance, rcond=1e-8) @ error / 2
        return float(total)

    found = least_squares(margins, 12)
    assert objective(found) <= objective(on_the_simplex(objective, 12)) + 1e-4


def test_least_absolute_differences_are_what_another_program_finds() -> None:
    """The linear program's optimum is that of the same problem written in CVXPY."""
    cp: Any = pytest.importorskip("cvxpy")
    evidence = VIEWS.draw(np.random.default_rng(2))
    margins = margins_of(observe(evidence, VIEWS.names))
    shares = cp.Variable(12, nonneg=True)
    cost = sum(cp.norm1(margin.members.toarray() @ shares - margin.estimate) for margin in margins)
    program = cp.Problem(cp.Minimize(cost), [cp.sum(shares) == 1])
    program.solve(solver=cp.SCIPY)
    found = METHODS["consistency-l1"].estimate(evidence, VIEWS.names, rng=np.random.default_rng(0))
    ours = sum(
        np.abs(margin.members @ found.estimate.reshape(-1) - margin.estimate).sum()
        for margin in margins
    )
    assert ours == pytest.approx(program.value, abs=1e-6)


def test_adjusting_is_iterative_proportional_fitting() -> None:
    """The weighted records have the target margins, and keep the odds ratio of the reports."""
    counts = np.array([[30.0, 10.0], [20.0, 40.0]]) / 100
    codes = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]
    weights, settled = adjusted(codes, [np.array([0.7, 0.3]), np.array([0.2, 0.8])], counts.ravel())
    table = weights.reshape(2, 2)
    assert settled
    np.testing.assert_allclose(table.sum(axis=1), [0.7, 0.3], atol=1e-8)
    np.testing.assert_allclose(table.sum(axis=0), [0.2, 0.8], atol=1e-8)
    odds = table[0, 0] * table[1, 1] / (table[0, 1] * table[1, 0])
    assert odds == pytest.approx(6.0)


def test_the_bound_of_one_channel_is_its_dispersion() -> None:
    """For two coins Cramér–Rao is P⁻ᵀ(diag λ − λλᵀ)P⁻¹/n."""
    channel = two_coin(1.0, [0.3, 0.2, 0.4, 0.1])
    truth = np.array([0.4, 0.3, 0.2, 0.1])
    matrix = channel_matrix(channel)
    seen = matrix @ truth
    inverse = np.linalg.inv(matrix)
    wanted = inverse @ (np.diag(seen) - np.outer(seen, seen)) @ inverse.T / 500
    found = cramer_rao([Experiment(500, (channel,), ((0,),))], truth)
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_reports_that_leave_cells_apart_have_no_bound() -> None:
    """Margins alone do not determine a pair."""
    with pytest.raises(EstimationError, match="do not determine"):
        cramer_rao(
            [
                Experiment(500, (k_ary(1.0, 2),), ((0,),)),
                Experiment(500, (k_ary(1.0, 2),), ((1,),)),
            ],
            np.full((2, 2), 0.25),
        )


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=4),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)
@settings(max_examples=40)
def test_bumps_are_matrices_along_axes(shape: list[int], seed: int, large: bool) -> None:  # noqa: FBT001
    """NumPy's small way and the compiled large way equal a dense matrix along each axis."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=[size * (8 if large else 1) for size in shape])
    bumps = [
        None if rng.random() < 0.2 else Bump(*rng.normal(size=(3, size))) for size in table.shape
    ]
    wanted = by_products(table, bumps)
    np.testing.assert_allclose(along(table, bumps), wanted, rtol=1e-8, atol=1e-8)


def by_products(table: np.ndarray, bumps: list[Bump | None]) -> np.ndarray:
    """Apply the dense matrices axis by axis."""
    for axis, bump in enumerate(bumps):
        if bump is not None:
            table = np.moveaxis(np.tensordot(bump.dense(), table, axes=(1, axis)), 0, axis)
    return table


@pytest.mark.parametrize(
    "shape",
    [(601, 150), (3, 40_001), (30, 2300, 2), (2,) * 18, (70, 70, 20), (100_003,), (1, 70_000)],
)
def test_large_tables_of_every_form_are_mended_alike(shape: tuple[int, ...]) -> None:
    """Tall, wide, narrow and many-axed tables take different loops to the same cells."""
    rng = np.random.default_rng(len(shape))
    table = rng.normal(size=shape)
    bumps: list[Bump | None] = [Bump(*rng.normal(size=(3, n)) / n**0.5) for n in shape]
    wanted = by_products_in_vectors(table, bumps)
    np.testing.assert_allclose(along(table, bumps), wanted, rtol=1e-7, atol=1e-7)


def by_products_in_vectors(table: np.ndarray, bumps: list[Bump | None]) -> np.ndarray:
    """Apply diagonal and rank one apart, so that no matrix of 100,003 cells is made."""
    for axis, bump in enumerate(bumps):
        assert bump is not None
        turned = np.moveaxis(table, axis, -1)
        sums = turned @ bump.weight
        table = np.moveaxis(turned * bump.own + sums[..., None] * bump.every, -1, axis)
    return table


def test_truncation_caps_each_cell_by_smaller_tables() -> None:
    """No cell exceeds the table of one attribute less, and as printed limits may be negative."""
    study = Study(
        ("a", "b"),
        np.array([[0.5, 0.0], [0.0, 0.5]]),
        (Experiment(60, (k_ary(1.0, 2), k_ary(1.0, 2)), ((0,), (1,))),),
    )
    rng = np.random.default_rng(3)
    for _ in range(30):
        evidence = study.draw(rng)
        raw = METHODS["rr-ind-joint"].estimate(evidence, study.names, rng=rng).estimate
        lifted = METHODS["truncated"].estimate(evidence, study.names, rng=rng).estimate
        for axis in (0, 1):
            limit = np.maximum(raw.sum(axis=axis, keepdims=True), 0)
            assert np.all(lifted <= limit + 1e-12)
        assert lifted.min() >= 0
        printed = METHODS["truncated-as-printed"].estimate(evidence, study.names, rng=rng).estimate
        assert np.all(printed <= lifted + 1e-12)


def test_the_hybrids_threshold_is_the_appendixs() -> None:
    """n* = (1 + (d − 1)/e^(ε/w))^w · d^w / max(d^−w, 1/d − d^−w), at two places."""
    found = thresholds(2, 2, 2.0, 1000)
    assert found.people == pytest.approx((1 + 1 / np.e) ** 2 * 4 / 0.25)
    assert found.ways == pytest.approx((np.log(1000) - np.log(2)) / np.log(4))


def test_equation_4_by_clients_inverts_all_reports_with_the_last_table() -> None:
    """T' = (o/n − T(1 − p))/p with o over all clients and the last T."""
    first, last = two_coin(1.0, [0.5, 0.5]), two_coin(1.0, [0.3, 0.7])
    study = Study(
        ("a",),
        np.array([0.8, 0.2]),
        (Experiment(400, (first,), ((0,),)), Experiment(100, (last,), ((0,),))),
    )
    evidence = study.draw(np.random.default_rng(0))
    counts = np.zeros(2)
    for batch in evidence.batches:
        np.add.at(counts, batch.reports[0][:, 0], batch.counts)
    truth = last.head / 2**32
    fake = np.array(last.fake) / 2**32
    wanted = (counts / 500 - fake * (1 - truth)) / truth
    found = METHODS["eq-4-clients"].estimate(evidence, ("a",), rng=np.random.default_rng(0))
    np.testing.assert_allclose(found.estimate, wanted, atol=1e-12)


def test_the_last_two_blocks_are_averaged() -> None:
    """The mean of the last two blocks' inverses, whatever came before."""
    blocks = tuple(Experiment(n, (k_ary(1.0, 3),), ((0,),)) for n in (900, 100, 300))
    study = Study(("a",), np.array([0.5, 0.3, 0.2]), blocks)
    rng = np.random.default_rng(0)
    evidence = study.draw(rng)
    alone = []
    for batch in evidence.batches:
        matrix = np.linalg.inv(channel_matrix(batch.channels[0]))
        counts = np.zeros(3)
        np.add.at(counts, batch.reports[0][:, 0], batch.counts)
        alone.append(matrix @ (counts / counts.sum()))
    mean = METHODS["last-two-blocks"].estimate(evidence, ("a",), rng=rng)
    np.testing.assert_allclose(mean.estimate, (alone[1] + alone[2]) / 2, atol=1e-9)
    last = METHODS["eq-4-blocks"].estimate(evidence, ("a",), rng=rng)
    np.testing.assert_allclose(last.estimate, alone[2], atol=1e-9)


def test_held_out_reports_keep_noise_out_of_a_sparse_table() -> None:
    """Of independent attributes the stopped climb is nearer to the truth than the far end."""
    margins = [np.array([0.4, 0.3, 0.2, 0.1])] * 3
    truth = np.multiply.outer(np.multiply.outer(margins[0], margins[1]), margins[2])
    study = Study(
        ("a", "b", "c"), truth, (Experiment(2000, (k_ary(1.0, 4),) * 3, ((0,), (1,), (2,))),)
    )
    rng = np.random.default_rng(5)
    evidence = study.draw(rng)
    stopped = METHODS["held-out-em"].estimate(evidence, study.names, rng=rng)
    far = METHODS["maximum-likelihood"].estimate(evidence, study.names, rng=rng)
    assert stopped.compare(truth).total_variation < 0.5 * far.compare(truth).total_variation


def test_every_sight_of_a_pair_is_found_in_views_of_other_groups() -> None:
    """The pair (a, c) is seen through one view's two groups and through another's one."""
    evidence = VIEWS.draw(np.random.default_rng(0))
    found = observe(evidence, ("a", "c"))
    assert [len(sight.order) for sight in found.sights] == [2, 1, 2]
    assert found.people == 9000
    for one, other in itertools.pairwise(found.covering):
        difference = one.invert(one.counts / one.people) - other.invert(other.counts / other.people)
        assert np.abs(difference).max() < 0.2


def test_rr_clusters_is_the_product_of_the_clusters_own_tables() -> None:
    """Attributes of one cluster keep their dependence, whatever the order they are named in."""
    study = Study(
        ("a", "b", "c"),
        VIEWS.truth,
        (Experiment(4_000, (k_ary(2.0, 6), k_ary(2.0, 2)), ((0, 1), (2,))),),
    )
    evidence = study.draw(np.random.default_rng(1))
    rng = np.random.default_rng(0)
    pair = METHODS["clipped"].estimate(evidence, ("a", "b"), rng=rng).estimate
    alone = METHODS["clipped"].estimate(evidence, ("c",), rng=rng).estimate
    found = METHODS["rr-clusters"].estimate(evidence, ("b", "c", "a"), rng=rng).estimate
    assert found == pytest.approx(np.einsum("ab,c->bca", pair, alone))
    flat = METHODS["rr-independent"].estimate(evidence, ("b", "c", "a"), rng=rng).estimate
    assert np.abs(found - flat).max() > 0.01
