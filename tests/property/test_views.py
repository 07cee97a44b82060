"""Views hold what they promise: disjoint groups, every set or every pair, in few views."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.protocol import cover_pairs, factorize, least_views


def assert_disjoint(views: list[list[tuple[int, ...]]]) -> None:
    """No view holds an attribute twice."""
    for view in views:
        members = [attribute for group in view for attribute in group]
        assert len(members) == len(set(members))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 4), st.data())
def test_a_factorization_holds_every_set_exactly_once(together: int, data: st.DataObject) -> None:
    """Baranyai: ⌈C(d,k)/⌊d/k⌋⌉ views hold all k-sets, each once, disjoint within a view."""
    count = data.draw(st.integers(together, 12))
    views = factorize(count, together)
    sets = sorted(group for view in views for group in view)
    assert sets == sorted(combinations(range(count), together))
    assert len(views) == math.ceil(math.comb(count, together) / (count // together))
    assert_disjoint(views)


def test_37_attributes_by_threes_make_648_views() -> None:
    """The size that the sources' largest network needs."""
    views = factorize(37, 3)
    assert len(views) == 648
    assert len({group for view in views for group in view}) == math.comb(37, 3)
    assert_disjoint(views)


@pytest.mark.parametrize(
    ("count", "together", "more"),
    [(3, 3, 0), (4, 3, 1), (7, 3, 0), (9, 3, 0), (16, 4, 0), (15, 3, 1), (20, 6, 1), (100, 6, 3)],
)
def test_every_pair_meets_in_few_views(count: int, together: int, more: int) -> None:
    """Every pair meets, groups stay small, and the count is near the counting bound."""
    views = cover_pairs(count, together)
    met = {pair for view in views for group in view for pair in combinations(group, 2)}
    assert met == set(combinations(range(count), 2))
    assert all(len(group) <= together for view in views for group in view)
    assert least_views(count, together) <= len(views) <= least_views(count, together) + more
    assert_disjoint(views)
    assert views == cover_pairs(count, together)


def test_the_published_examples_of_views_come_out() -> None:
    """Six attributes make five views of three pairs, five make five views of two."""
    assert [len(view) for view in factorize(6, 2)] == [3] * 5
    assert [len(view) for view in factorize(5, 2)] == [2] * 5
