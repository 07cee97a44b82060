"""The planner's closed formulas against every report that a small channel can send."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from deniable.channels import Channel, KAry, k_ary, subset, symmetric_unary, two_coin, variances
from deniable.estimation.bound import channel_matrix
from deniable.estimation.outlook import Glimpse, Outlook, part_of
from deniable.estimation.reduce import Slices, lens_of
from deniable.inference import mutual
from deniable.planning.power import unit_noncentrality

CHANNELS: dict[str, Channel] = {
    "k-ary": k_ary(1.0, 12),
    "k-ary that does not divide a word": KAry(2**30, 12),
    "two coins": two_coin(2.0, [1 / 12] * 12),
    "subset": subset(1.0, 12, 4),
    "subset of half": subset(0.5, 12, 6),
    "symmetric unary": symmetric_unary(1.0, 12),
}
KEPT = [(0, 1), (0,), (1,)]


def moments(channel: Channel, slices: Slices) -> tuple[np.ndarray, np.ndarray]:
    """Return E[U·Uᵀ | answer's slice] for every slice, by enumeration, and all values of U."""
    reports = np.array(list(channel.reports()), np.int64)
    lens, places = lens_of(channel, slices, reports)
    added = lens.inverse[places]
    likelihood = channel_matrix(channel)
    given = np.einsum("yx,yz,yw->xzw", likelihood, added, added)
    own = slices.of(np.arange(channel.size))
    first = [int(np.flatnonzero(own == cell)[0]) for cell in range(slices.cells)]
    return given[first], added


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("name", CHANNELS)
def test_the_moments_of_a_part_are_those_of_all_its_reports(
    name: str, kept: tuple[int, ...]
) -> None:
    """Own, other, crossed and apart are E[U·Uᵀ | answer]; reach and least are the ends of U."""
    channel, slices = CHANNELS[name], Slices((3, 4), kept)
    given, added = moments(channel, slices)
    part = part_of(channel, tuple(range(len(kept))), slices.cells)
    np.testing.assert_allclose(part.echo.tensor(slices.cells), given, rtol=1e-6, atol=1e-6)
    assert part.noise == pytest.approx(np.einsum("xzz->x", given).mean(), rel=1e-6)
    assert part.least == pytest.approx(added.min(), rel=1e-6)
    assert part.reach == pytest.approx(added.max() - added.min(), rel=1e-6)


def test_a_wrong_moment_would_be_found() -> None:
    """The moments of one channel are not those of another of the same ε."""
    slices = Slices((3, 4), (0, 1))
    given, _ = moments(CHANNELS["k-ary"], slices)
    wrong = part_of(CHANNELS["subset"], (0, 1), 12)
    assert not np.allclose(wrong.echo.tensor(12), given, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("name", CHANNELS)
def test_the_variance_of_a_cell_is_that_of_exact_fractions(name: str) -> None:
    """One group, any truth: ``variances`` of the channel, which reckons in fractions."""
    channel = CHANNELS[name]
    truth = np.random.default_rng(2).dirichlet(np.ones(12)).reshape(3, 4)
    glimpse = Glimpse(1.0, (part_of(channel, (0, 1), 12),))
    outlook = Outlook(("a", "b"), (3, 4), (glimpse,), truth)
    exact = np.array([float(v) for v in variances(channel, truth.reshape(-1).tolist())])
    np.testing.assert_allclose(outlook.variances.reshape(-1), exact, rtol=1e-6)
    assert outlook.variance == pytest.approx(exact.mean(), rel=1e-6)


@pytest.mark.parametrize(
    ("first", "second"), [(k_ary(1.0, 3), k_ary(0.5, 4)), (subset(0.7, 3, 1), subset(1.0, 4, 2))]
)
def test_the_variance_of_two_groups_is_that_of_all_pairs_of_reports(
    first: Channel, second: Channel
) -> None:
    """Randomized apart: Var of Π U over the product of the channels, at an uneven truth."""
    truth = np.random.default_rng(3).dirichlet(np.ones(12)).reshape(3, 4)
    parts = (part_of(first, (0,), 3), part_of(second, (1,), 4))
    outlook = Outlook(("a", "b"), (3, 4), (Glimpse(1.0, parts),), truth)
    inverses = []
    for channel, size in ((first, 3), (second, 4)):
        reports = np.array(list(channel.reports()), np.int64)
        lens, places = lens_of(channel, Slices((size,), (0,)), reports)
        inverses.append(lens.inverse[places])
    seen = channel_matrix(first) @ truth @ channel_matrix(second).T
    wanted = np.zeros((3, 4))
    for a, b in product(range(3), range(4)):
        added = np.multiply.outer(inverses[0][:, a], inverses[1][:, b])
        wanted[a, b] = np.sum(seen * added**2) - truth[a, b] ** 2
    np.testing.assert_allclose(outlook.variances, wanted, rtol=1e-6)
    assert outlook.variance == pytest.approx(wanted.mean(), rel=1e-6)
    ends = [np.multiply.outer(i, j) for i, j in product(inverses[0].T, inverses[1].T)]
    lever = max(float(end.max()) for end in ends) - min(float(end.min()) for end in ends)
    assert outlook.glimpses[0].reach == pytest.approx(lever, rel=1e-6)


def information(parts: list[Channel], null: np.ndarray) -> np.ndarray:
    """Return Lᵀ diag(1/λ) L of all reports of channels over a pair: Fisher's information."""
    likelihood = channel_matrix(parts[0])
    if len(parts) > 1:
        likelihood = np.asarray(np.kron(likelihood, channel_matrix(parts[1])), np.float64)
    seen = likelihood @ null.reshape(-1)
    return np.asarray((likelihood.T / seen) @ likelihood, np.float64)


@pytest.mark.parametrize("parts", [[k_ary(1.0, 12)], [k_ary(1.0, 3), k_ary(0.5, 4)]])
@pytest.mark.parametrize("shares", ["even", "uneven"])
def test_the_noncentrality_is_that_of_fisher_s_information(
    parts: list[Channel], shares: str
) -> None:
    """δᵀ(I − I·D·(Dᵀ·I·D)⁺·Dᵀ·I)δ with every report listed equals what the planner says."""
    rng = np.random.default_rng(4)
    margins = [
        np.full(n, 1 / n) if shares == "even" else rng.dirichlet(np.full(n, 4.0)) for n in (3, 4)
    ]
    null = np.multiply.outer(*margins)
    rows, columns = (rng.standard_normal(n) for n in (3, 4))
    step = 0.01 * np.multiply.outer(rows - rows.mean(), columns - columns.mean())
    inform = information(parts, null)
    tangent = np.stack(
        [d.reshape(-1) for d in mutual((3, 4)).directions(mutual((3, 4)).factors(null))], axis=1
    )
    crossed = tangent.T @ inform @ step.reshape(-1)
    inner = np.linalg.pinv(tangent.T @ inform @ tangent)
    flat = step.reshape(-1)
    wanted = float(flat @ inform @ flat - crossed @ inner @ crossed)
    axes = [(0, 1)] if len(parts) == 1 else [(0,), (1,)]
    glimpse = Glimpse(1.0, tuple(part_of(c, a, c.size) for c, a in zip(parts, axes, strict=True)))
    outlook = Outlook(("a", "b"), (3, 4), (glimpse,), null + step)
    assert unit_noncentrality(outlook, None) == pytest.approx(wanted, rel=1e-6)
    if shares == "even":
        squared = float(np.sum(step**2 / null))
        closed = Outlook(("a", "b"), (3, 4), (glimpse,))
        association = (squared / 2) ** 0.5
        assert unit_noncentrality(closed, association) == pytest.approx(wanted, rel=1e-6)
