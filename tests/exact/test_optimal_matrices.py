"""Wang's results 1–4: which matrix is best at a level, against proofs in fractions and a solver."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import laplace

from deniable.channels import Channel, KAry, epsilon_of, k_ary, rounded_laplace
from deniable.channels.coin import WORD
from deniable.channels.exact import log_ratio

SIZES = [2, 3, 5, 8]
LEVELS = [0.25, 1.0, 3.0]


def diagonal(channel: Channel) -> Fraction:
    """Return Σ P(report of x | x) exactly."""
    return sum((channel.probability((x,), x) for x in range(channel.size)), Fraction(0))


def most(ratio: Fraction, size: int) -> Fraction:
    """Return t·r/(t − 1 + r), r = e^ε: Result 3's sum."""
    return size * ratio / (size - 1 + ratio)


def every_staircase(size: int, ratio: Fraction) -> list[Fraction]:
    """Return the sums of all square matrices whose columns have two values, r apart.

    The vertices of the level's polytope are of this kind (Kairouz, Oh and Viswanath 2016).
    Columns come in order, one for each report; a matrix is one if its rows can sum to 1.
    """
    found = []
    shapes = list(product((Fraction(1), ratio), repeat=size))
    for chosen in product(shapes, repeat=size):
        scales = solved([list(row) for row in zip(*chosen, strict=True)])
        if scales is not None and min(scales) >= 0:
            found.append(
                sum(
                    (
                        scale * column[x]
                        for x, (scale, column) in enumerate(zip(scales, chosen, strict=True))
                    ),
                    Fraction(0),
                )
            )
    return found


def solved(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """Solve rows · s = 1 exactly; None where there is no single answer."""
    size = len(rows)
    lines = [[*row, Fraction(1)] for row in rows]
    for column in range(size):
        pivot = next((row for row in range(column, size) if lines[row][column]), None)
        if pivot is None:
            return None
        lines[column], lines[pivot] = lines[pivot], lines[column]
        lines[column] = [entry / lines[column][column] for entry in lines[column]]
        for row in range(size):
            if row != column:
                factor = lines[row][column]
                lines[row] = [
                    a - factor * b for a, b in zip(lines[row], lines[column], strict=True)
                ]
    return [line[size] for line in lines]


@pytest.mark.parametrize(
    ("size", "ratio"), [(2, Fraction(2)), (2, Fraction(7, 5)), (3, Fraction(3))]
)
def test_no_vertex_of_the_level_has_a_larger_diagonal(size: int, ratio: Fraction) -> None:
    """Results 1 and 3 over all staircase matrices: the best sum is that of k-ary, exactly."""
    sums = every_staircase(size, ratio)
    assert max(sums) == most(ratio, size)
    assert min(sums) < most(ratio, size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("epsilon", LEVELS)
def test_the_k_ary_channel_has_the_most_of_its_own_level(size: int, epsilon: float) -> None:
    """Result 3 in fractions: the sum is the bound at the channel's exact ratio, or a word less.

    It is the bound itself where the fake cells are even; else the uneven weights cost below
    2⁻³⁰.
    """
    channel = k_ary(epsilon, size)
    high, low = channel.worst_ratio()
    bound = most(Fraction(high, low), size)
    short = bound - diagonal(channel)
    assert short == 0 if WORD % size == 0 else 0 < short < Fraction(size, 2**30)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("epsilon", LEVELS)
def test_a_solver_finds_no_larger_diagonal(size: int, epsilon: float) -> None:
    """Results 1 and 3 against a linear program over all matrices of the level."""
    assert best_sum(size, epsilon) == pytest.approx(float(diagonal(k_ary(epsilon, size))), abs=1e-6)


def best_sum(size: int, epsilon: float) -> float:
    """Return max Σ P(x|x) with P(u|v) ≤ e^ε·P(u|w), found by a solver."""
    cells = size * size  # P(u | v) at v·size + u
    rows = []
    for u, v, w in product(range(size), repeat=3):
        if v != w:
            row = np.zeros(cells)
            row[v * size + u] = 1
            row[w * size + u] = -math.exp(epsilon)
            rows.append(row)
    sums = np.kron(np.eye(size), np.ones(size))
    cost = -np.eye(size).reshape(-1)
    found = linprog(cost, np.array(rows), np.zeros(len(rows)), sums, np.ones(size))
    assert found.fun is not None
    return -float(found.fun)


def test_a_smaller_diagonal_would_be_noticed() -> None:
    """Rounded Laplace, and k-ary at a level of less, fall short of the bound by far."""
    for wrong in (rounded_laplace(1.0, 3), k_ary(0.9, 3)):
        assert best_sum(3, 1.0) - float(diagonal(wrong)) > 0.01


@pytest.mark.parametrize("channel", [k_ary(1.0, 5), rounded_laplace(1.0, 5), KAry(2**31, 6)])
def test_the_level_is_that_of_the_worst_row(channel: Channel) -> None:
    """Result 3: ε = ln max_u max_v P(u|v) / min_v P(u|v), every pair of answers enumerated."""
    answers = range(channel.size)
    worst = max(
        channel.probability(report, v) / channel.probability(report, w)
        for report in channel.reports()
        for v in answers
        for w in answers
    )
    assert Fraction(*channel.worst_ratio()) == worst
    assert epsilon_of(channel) == log_ratio(worst.numerator, worst.denominator)


@pytest.mark.parametrize("epsilon", LEVELS)
def test_rounded_laplace_is_the_published_matrix(epsilon: float) -> None:
    """Result 2, eq. 11, for two cells: ½e^(−ε/2) beside the diagonal."""
    channel = rounded_laplace(epsilon, 2)
    aside = math.exp(-epsilon / 2) / 2
    assert float(channel.probability((1,), 0)) == pytest.approx(aside, abs=1e-6)
    assert channel.probability((1,), 0) == channel.probability((0,), 1)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("epsilon", LEVELS)
def test_thresholds_halfway_have_the_largest_diagonal(size: int, epsilon: float) -> None:
    """Results 2 and 4: no threshold between u and u + 1 does better than u + ½.

    A threshold c adds F(c − u) − F(c − u − 1) to the sum, F the noise's distribution, and
    touches nothing else of it, so that each can be looked at alone.
    """
    noise = laplace(scale=(size - 1) / epsilon)
    tried = np.linspace(0, 1, 2001)
    added = noise.cdf(tried) - noise.cdf(tried - 1)
    assert tried[int(added.argmax())] == pytest.approx(0.5)
    assert np.all(np.diff(added[:1001]) > 0)
    assert np.all(np.diff(added[1000:]) < 0)
    whole = 1 + (size - 1) * float(added.max())
    assert float(diagonal(rounded_laplace(epsilon, size))) == pytest.approx(whole, abs=1e-6)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("epsilon", LEVELS)
def test_rounded_laplace_keeps_its_level_and_has_the_smaller_diagonal(
    size: int, epsilon: float
) -> None:
    """Results 2 and 4, and what theorems 2–4 rest on."""
    noisy, kept = rounded_laplace(epsilon, size), k_ary(epsilon, size)
    assert epsilon_of(noisy) < epsilon
    assert diagonal(noisy) < diagonal(kept)


def test_theorem_4_fails_for_people_at_the_ends() -> None:
    """Half in the first of six cells, half in the last: the guess after Laplace errs less."""

    def error(channel: Channel) -> float:
        kept = 0.0
        for report in channel.reports():
            ends = [float(channel.probability(report, x)) for x in (0, channel.size - 1)]
            kept += sum(one**2 for one in ends) / sum(ends) / 2
        return 1 - kept

    assert error(rounded_laplace(1.0, 6)) < error(k_ary(1.0, 6)) - 0.03
    assert error(rounded_laplace(1.0, 2)) > error(k_ary(1.0, 2)) + 0.02
