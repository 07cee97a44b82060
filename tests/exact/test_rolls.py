"""Reports kept one by one weigh the cells of a table as the channels' matrices do."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from deniable.channels import k_ary, optimized_unary, subset
from deniable.estimation.evidence import evidence_from_reports
from deniable.estimation.observation import observe
from deniable.estimation.roll import Roll
from deniable.estimation.route import route_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.channels import Channel

SIZES = (15, 4, 13, 3)
ORDER = ("c", "a", "d", "b")


def the_roll(people: int, channels: Sequence[Channel]) -> Roll:
    """Return the sight of people who draw their reports evenly."""
    rng = np.random.default_rng(3)
    reports = [rng.choice(list(one.reports()), people) for one in channels]
    evidence = evidence_from_reports(["a", "b", "c", "d"], SIZES, channels, reports)
    (roll,) = observe(evidence, ORDER).sights
    assert isinstance(roll, Roll)
    return roll


SETS = [subset(1.0, size, chosen) for size, chosen in zip(SIZES, (4, 1, 3, 1), strict=True)]
MIXED = [subset(1.0, 15, 4), optimized_unary(1.0, 4), subset(2.0, 13, 3), k_ary(1.0, 3)]


@pytest.mark.parametrize("people", [300, 2000])
@pytest.mark.parametrize("channels", [SETS, MIXED], ids=["sets", "mixed"])
def test_a_roll_weighs_every_cell_as_its_matrices_do(
    people: int, channels: Sequence[Channel]
) -> None:
    """λ, its transpose, the inverse's powers and second moments are the sums as written."""
    roll, rng = the_roll(people, channels), np.random.default_rng(4)
    table, weights = rng.random((13, 15, 3, 4)), rng.random(len(roll.counts))
    where = list(zip(roll.lenses, roll.places, strict=True))
    rows = [lens.likelihood[places] for lens, places in where]
    undone = [lens.inverse[places] for lens, places in where]
    fold, unfold = "ya,yb,yc,yd,cadb->y", "y,ya,yb,yc,yd->cadb"
    np.testing.assert_allclose(roll.see(table), np.einsum(fold, *rows, table))
    np.testing.assert_allclose(roll.spread(table), np.einsum(fold, *undone, table), atol=1e-9)
    np.testing.assert_allclose(roll.trace(weights, table.shape), np.einsum(unfold, weights, *rows))
    for order in (1, 2, 3):
        powers = [one**order for one in undone]
        expected = np.einsum(unfold, weights, *powers)
        np.testing.assert_allclose(roll.moment(weights, order), expected, rtol=1e-6, atol=1e-6)
    share = roll.counts / (roll.people * roll.see(table))
    squares = [row * one**2 for row, one in zip(rows, undone, strict=True)]
    expected = np.einsum(unfold, share, *squares) / np.einsum(unfold, share, *rows)
    np.testing.assert_allclose(roll.inside(roll.see(table)), expected)


def test_every_way_through_the_groups_gives_the_same() -> None:
    """Whether few reports or many make it worth while to meet a group with the whole table."""
    rng = np.random.default_rng(5)
    matrices = [rng.choice([0.5, 0.5, 2.0], (values, 6)) for values in (4, 60)]
    met = set()
    for people in (1, 30, 3000):
        places = [rng.integers(0, len(matrix), people) for matrix in matrices]
        route = route_of(matrices, places)
        met.add(tuple(matrix is None for matrix in route.met))
        table, weights = rng.random((6, 6)), rng.random(people)
        rows = [matrix[place] for matrix, place in zip(matrices, places, strict=True)]
        np.testing.assert_allclose(route.fold(table), np.einsum("ya,yb,ab->y", *rows, table))
        np.testing.assert_allclose(route.unfold(weights), np.einsum("y,ya,yb->ab", weights, *rows))
    assert len(met) > 1


def test_a_large_table_of_sets_is_seen_pick_by_pick() -> None:
    """The work of a map is a fraction of reports times cells, else it could not be afforded."""
    roll = the_roll(900, SETS)
    cells = len(list(product(*map(range, SIZES))))
    assert roll.effort < 900 * cells / 20
