"""Every lens is its channel: likelihood, inverse and moments against enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from deniable.channels import (
    Channel,
    KAry,
    LocalHash,
    estimate,
    k_ary,
    optimized_unary,
    rounded_laplace,
    subset,
    symmetric_unary,
    two_coin,
)
from deniable.estimation.bound import channel_matrix
from deniable.estimation.castell import castell, naive_inverse, reduced_inverse
from deniable.estimation.lens import PointLens
from deniable.estimation.reduce import Slices, lens_of

CHANNELS: dict[str, Channel] = {
    "k-ary": k_ary(1.0, 12),
    "k-ary that does not divide a word": KAry(2**30, 12),
    "two coins": two_coin(1.0, [w / 78 for w in range(1, 13)], floor=0.2),
    "subset": subset(1.0, 12, 4),
    "symmetric unary": symmetric_unary(1.0, 12),
    "optimized unary": optimized_unary(1.0, 12),
    "rounded Laplace": rounded_laplace(4.0, 12),
}
KEPT = [(0, 1), (0,), (1,)]


def reports_of(channel: Channel) -> np.ndarray:
    """List every report of a channel."""
    return np.array(list(channel.reports()), dtype=np.int64)


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("name", CHANNELS)
def test_the_inverse_of_a_lens_is_unbiased(name: str, kept: tuple[int, ...]) -> None:
    """Over all reports, Σ_y P(y|x)·U[y, s] is 1 for the answer's own slice and 0 for others."""
    channel, slices = CHANNELS[name], Slices((3, 4), kept)
    lens, places = lens_of(channel, slices, reports_of(channel))
    mean = channel_matrix(channel).T @ lens.inverse[places]
    own = slices.of(np.arange(12))
    wanted = np.zeros_like(mean)
    wanted[np.arange(12), own] = 1
    np.testing.assert_allclose(mean, wanted, atol=1e-8)


@pytest.mark.parametrize("name", CHANNELS)
def test_the_likelihood_of_a_lens_is_proportional_to_the_channel(name: str) -> None:
    """For the whole group each row of L is P(y|·) but for a constant of the report."""
    channel = CHANNELS[name]
    lens, places = lens_of(channel, Slices((3, 4), (0, 1)), reports_of(channel))
    exact = channel_matrix(channel)
    ratio = lens.likelihood[places] / exact
    np.testing.assert_allclose(ratio, ratio[:, :1] * np.ones(12), rtol=1e-9)


@pytest.mark.parametrize("name", ["k-ary", "two coins", "subset", "symmetric unary"])
@pytest.mark.parametrize("kept", [(0,), (1,)])
def test_a_reduced_likelihood_is_that_of_any_cell_of_the_slice(
    name: str, kept: tuple[int, ...]
) -> None:
    """Reports that look alike through a lens are as likely from every cell of a slice."""
    channel, slices = CHANNELS[name], Slices((3, 4), kept)
    lens, places = lens_of(channel, slices, reports_of(channel))
    own = slices.of(np.arange(12))
    rows = lens.likelihood[places].round(9)
    _, alike = np.unique(
        np.column_stack([rows, lens.inverse[places].round(6)]), axis=0, return_inverse=True
    )
    mass = np.zeros((alike.max() + 1, 12))
    np.add.at(mass, alike.reshape(-1), channel_matrix(channel))
    for cell in range(12):
        first = int(np.flatnonzero(own == own[cell])[0])
        np.testing.assert_allclose(mass[:, cell], mass[:, first], rtol=1e-9)


@pytest.mark.parametrize("name", CHANNELS)
def test_the_estimate_is_that_of_exact_fractions(name: str) -> None:
    """The inverse in floats gives what ``channels.estimate`` gives in fractions."""
    channel = CHANNELS[name]
    seen = [report for number, report in enumerate(channel.reports()) if number % 5 != 2][:40]
    lens, places = lens_of(channel, Slices((12,), (0,)), np.array(seen, dtype=np.int64))
    found = lens.inverse[places].mean(axis=0)
    np.testing.assert_allclose(found, np.array(estimate(channel, seen), dtype=float), atol=1e-9)


def test_a_hash_is_unbiased_over_all_hashes() -> None:
    """Averaged over the whole family, a hashed report estimates every cell without bias."""
    channel = LocalHash(2**31, 3, 4, prime=7)
    lens, places = lens_of(channel, Slices((4,), (0,)), reports_of(channel))
    mean = channel_matrix(channel).T @ lens.inverse[places]
    np.testing.assert_allclose(mean, np.eye(4), atol=1e-9)


@pytest.mark.parametrize("name", CHANNELS)
def test_noise_and_inside_are_the_moments_of_the_inverse(name: str) -> None:
    """The closed second moments equal sums over all reports."""
    channel = CHANNELS[name]
    lens, places = lens_of(channel, Slices((12,), (0,)), reports_of(channel))
    exact, inverse = channel_matrix(channel), lens.inverse[places]
    assert lens.noise == pytest.approx(float(exact.mean(axis=1) @ (inverse**2).sum(axis=1)))
    if lens.inside is not None:
        np.testing.assert_allclose(lens.inside, np.einsum("yx,yx->x", exact, inverse**2))


@pytest.mark.parametrize("power", [1, 2, 3, 4])
def test_the_vectors_of_two_coins_are_their_matrices(power: int) -> None:
    """Every map of a point lens, written as a bump, is the matrix it stands for."""
    lens = PointLens(0.3, np.array([0.5, 0.3, 0.2]))
    matrix = 0.3 * np.eye(3) + 0.7 * lens.fake[:, None]
    np.testing.assert_allclose(lens.see.dense(), matrix)
    np.testing.assert_allclose(lens.trace.dense(), matrix.T)
    np.testing.assert_allclose(lens.invert.dense(), np.linalg.inv(matrix))
    np.testing.assert_allclose(lens.spread.dense(), np.linalg.inv(matrix).T)
    np.testing.assert_allclose(lens.power(power).dense(), np.linalg.inv(matrix) ** power)


@pytest.mark.parametrize("sizes", [(2, 3), (3, 2, 4), (5,)])
def test_cells_below_a_limit_are_counted_digit_by_digit(sizes: tuple[int, ...]) -> None:
    """``below`` equals counting the cells one by one, for every limit and every choice."""
    cells = np.arange(np.prod(sizes))
    for chosen in product((False, True), repeat=len(sizes)):
        slices = Slices(sizes, tuple(np.flatnonzero(chosen).tolist()))
        for limit in cells.tolist():
            wanted = np.bincount(slices.of(cells[:limit]), minlength=slices.cells)
            np.testing.assert_array_equal(slices.below(limit), wanted)


def test_a_group_of_billions_of_cells_is_reduced_exactly() -> None:
    """RR-Joint over 3·10⁹ cells: the reduced fake distribution is the sum of its slices."""
    sizes = (3, 1000, 1000, 1000)
    channel = KAry(2**20, 3 * 10**9)
    lens, places = lens_of(channel, Slices(sizes, (0,)), np.array([[0], [2_999_999_999]]))
    longer = 2**32 - 3 * 10**9  # these cells weigh 2, the others 1
    wanted = np.array([10**9 + min(max(longer - i * 10**9, 0), 10**9) for i in range(3)]) / 2**32
    assert isinstance(lens, PointLens)
    np.testing.assert_allclose(lens.fake, wanted, rtol=1e-15)
    assert places.tolist() == [0, 2]


def test_castell_naive_and_reduced_agree() -> None:
    """The three inverses of table II give one table."""
    rng = np.random.default_rng(2)
    lenses = [PointLens(0.4, rng.dirichlet(np.ones(size))) for size in (2, 3, 4)]
    shares = rng.dirichlet(np.ones(24)).reshape(2, 3, 4)
    found = castell(shares, lenses)
    np.testing.assert_allclose(found, naive_inverse(shares, lenses), atol=1e-10)
    np.testing.assert_allclose(found, reduced_inverse(shares, lenses), atol=1e-10)


def test_castell_gives_the_papers_example() -> None:
    """Kikuchi's appendix B: ε = ln 3, reports (3, 1, 3, 3) give (.45, −.15, .25, .45)."""
    lens = PointLens(0.5, np.array([0.5, 0.5]))
    found = castell(np.array([[3.0, 1.0], [3.0, 3.0]]) / 10, [lens, lens])
    np.testing.assert_allclose(found, [[0.45, -0.15], [0.25, 0.45]], atol=1e-12)
