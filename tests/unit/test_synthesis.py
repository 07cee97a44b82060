"""Synthetic people keep the tables they are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from deniable.channels import k_ary
from deniable.errors import DataError, EstimationError
from deniable.estimation import METHODS, Axis, Experiment, Table
from deniable.estimation.study import Study
from deniable.synthesis import Records, agreement, largest_remainder, synthesize, utility

if TYPE_CHECKING:
    from collections.abc import Sequence

AXES = (Axis("sex", ("female", "male")), Axis("cheated", ("no", "once", "often")))
SHARES = np.array([[0.3, 0.2, 0.1], [0.05, 0.25, 0.1]])
TABLE = Table(AXES, SHARES, 1000, "maximum-likelihood")


class Product:
    """A model of two independent attributes."""

    names = ("sex", "cheated")
    sizes = (2, 3)

    def sample(self, people: int, *, rng: np.random.Generator) -> np.ndarray:
        """Draw both attributes on their own."""
        return np.stack([rng.integers(0, size, people) for size in self.sizes], axis=1)

    def table(self, attributes: Sequence[str]) -> np.ndarray:
        """Return the even table."""
        shape = tuple(self.sizes[self.names.index(name)] for name in attributes)
        return np.full(shape, 1 / np.prod(shape))


def rng(seed: int = 1) -> np.random.Generator:
    """Return dice that fall the same way every time."""
    return np.random.default_rng(seed)


@given(arrays(np.float64, st.integers(1, 9), elements=st.floats(0, 1)), st.integers(1, 5000))
def test_largest_remainders_sum_to_the_people_and_are_nearly_their_shares(
    weights: np.ndarray, people: int
) -> None:
    """No cell is a whole person or more away from its share."""
    shares = (weights + 1e-3) / (weights + 1e-3).sum()
    counts = largest_remainder(shares, people)
    assert counts.sum() == people
    assert np.all(np.abs(counts - shares * people) < 1)


def test_rounded_people_have_the_tables_own_counts() -> None:
    """A thousand people of shares in per cents are exactly those shares."""
    records = synthesize(TABLE, 1000, rng=rng())
    np.testing.assert_array_equal(records.counts((0, 1)), (SHARES * 1000).round().astype(int))
    np.testing.assert_array_equal(records.counts((1, 0)), records.counts((0, 1)).T)


def test_drawn_people_differ_by_chance_only() -> None:
    """Each count of 100,000 drawn people is within six standard errors; false alarm < 1e-7."""
    records = synthesize(TABLE, 100_000, rng=rng(), way="drawn")
    noise = np.sqrt(SHARES * (1 - SHARES) * 100_000)
    assert np.all(np.abs(records.counts((0, 1)) - SHARES * 100_000) < 6 * noise)
    assert np.any(records.counts((0, 1)) != SHARES * 100_000)


def test_records_are_in_the_categories_of_the_schema() -> None:
    """Columns carry names and categories, and a frame has a row for each person."""
    records = synthesize(TABLE, 10, rng=rng())
    columns = records.columns()
    assert list(columns) == ["sex", "cheated"]
    assert set(columns["cheated"]) <= {"no", "once", "often"}
    assert records.to_frame("polars").shape == (10, 2)


def test_the_order_of_people_tells_nothing() -> None:
    """Rounded records are shuffled by the dice, and by nothing else."""
    first = synthesize(TABLE, 200, rng=rng(1)).codes
    np.testing.assert_array_equal(first, synthesize(TABLE, 200, rng=rng(1)).codes)
    assert np.any(first != synthesize(TABLE, 200, rng=rng(2)).codes)
    assert np.any(np.diff(first[:, 0]) < 0)


def test_an_improper_table_is_projected_first() -> None:
    """Negative shares make nobody."""
    raw = Table(AXES[:1], np.array([1.1, -0.1]), 100, "unbiased")
    assert synthesize(raw, 50, rng=rng()).counts((0,)).tolist() == [50, 0]


@pytest.mark.parametrize("way", ["rounded", "drawn"])
def test_a_model_of_the_whole_joint_is_enough(way: str) -> None:
    """A model that can draw, or be laid out, gives records with the caller's categories."""
    records = synthesize(Product(), 600, rng=rng(), way=way, axes=AXES)  # type: ignore[arg-type]
    assert records.axes == AXES
    assert records.people == 600
    if way == "rounded":
        assert set(records.counts((0, 1)).reshape(-1).tolist()) == {100}


def test_utility_compares_all_pairs_and_triples() -> None:
    """Perfect records have no distance; a table that nothing estimates is listed apart."""
    records = synthesize(TABLE, 1000, rng=rng())
    found = utility(records, lambda names: TABLE.marginalize(names).estimate)
    assert [one.attributes for one in found.distances] == [
        ("sex",),
        ("cheated",),
        ("sex", "cheated"),
    ]
    assert max(one.total_variation for one in found.distances) < 1e-9
    assert found.rows()[0][:2] == ("single attributes", 2)

    def margins_only(names: Sequence[str]) -> np.ndarray:
        if len(names) > 1:
            problem = "never asked together"
            raise EstimationError(problem)
        return TABLE.marginalize(names).estimate

    assert utility(records, margins_only).without == (("sex", "cheated"),)


def test_utility_sees_a_lost_association() -> None:
    """Independent records are as far from the pair as the pair is from independence."""
    product = np.outer(SHARES.sum(axis=1), SHARES.sum(axis=0))
    records = synthesize(Table(AXES, product, 1000, "rr-independent"), 100_000, rng=rng())
    (pair,) = utility(records, lambda names: TABLE.marginalize(names).estimate).of(2)
    assert pair.total_variation == pytest.approx(np.abs(product - SHARES).sum() / 2, abs=1e-3)


def test_agreement_says_whether_the_reports_contradict_the_records() -> None:
    """Records of the truth lie within the intervals; independent ones fall out of the pair's."""
    channels = (k_ary(3.0, 2), k_ary(3.0, 3))
    study = Study(("sex", "cheated"), SHARES, (Experiment(20_000, channels, ((0,), (1,))),))
    evidence = study.draw(rng(3))

    def told(names: Sequence[str]) -> Table:
        return METHODS["unbiased"].estimate(evidence, names, rng=rng())

    faithful = agreement(synthesize(TABLE, 10_000, rng=rng()), told)
    assert [one.attributes for one in faithful.tables][-1] == ("sex", "cheated")
    assert [row[:3] for row in faithful.rows()] == [
        ("single attributes", 2, 5),
        ("pairs", 1, 6),
    ]
    assert sum(one.inside for one in faithful.tables) >= 9
    product = np.outer(SHARES.sum(axis=1), SHARES.sum(axis=0))
    apart = Table(AXES, product, 1000, "rr-independent")
    (*_, pair) = agreement(synthesize(apart, 10_000, rng=rng()), told).tables
    assert pair.share < 0.5

    def margins_only(names: Sequence[str]) -> Table:
        if len(names) > 1:
            problem = "never asked together"
            raise EstimationError(problem)
        return told(names)

    assert agreement(synthesize(TABLE, 50, rng=rng()), margins_only).without == (
        ("sex", "cheated"),
    )


@pytest.mark.parametrize("people", [0, -1, 2.5, True])
def test_a_number_of_people_that_is_none_is_refused(people: object) -> None:
    """Zero, negative, fractional and boolean numbers are errors."""
    with pytest.raises(DataError, match="at least 1"):
        synthesize(TABLE, people, rng=rng())  # type: ignore[arg-type]


def test_records_outside_their_categories_are_refused() -> None:
    """A code that no category has is an error, not a row."""
    with pytest.raises(DataError, match="do not fit"):
        Records(AXES, np.array([[0, 3]]))
