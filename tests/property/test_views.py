"""Views hold what they promise: disjoint groups, every set or every pair, in few views."""

from __future__ import annotations

import math
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.protocol import cover_pairs, factorize, least_views
from deniable.protocol.views import round_robin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


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


PUBLISHED = {  # Imran & Meo, section 4.1
    "AREOST": ("AR EO ST", "AE RS OT", "AT RE OS", "AO RT ES", "AS RO ET"),
    "AREOS": ("AR EO", "RE OS", "AE RS", "AO ES", "AS RO"),
}


@pytest.mark.parametrize("names", PUBLISHED)
@pytest.mark.parametrize("lay", [round_robin, lambda count: factorize(count, 2)])
def test_the_published_examples_of_views_come_out_up_to_order(
    names: str, lay: Callable[[int], list[list[tuple[int, ...]]]]
) -> None:
    """In some order of the attributes the views are the very ones that the paper prints."""
    published = _as_sets(view.split() for view in PUBLISHED[names])
    assert any(
        _as_sets([[order[a] + order[b] for a, b in view] for view in lay(len(names))]) == published
        for order in permutations(names)
    )


def test_views_that_pair_somebody_twice_are_not_the_published_ones() -> None:
    """The comparison can fail: two views with a pair exchanged are no reordering."""
    published = _as_sets(view.split() for view in PUBLISHED["AREOS"])
    wrong = [["AR", "EO"], ["AR", "OS"], ["AE", "RS"], ["AO", "ES"], ["AS", "RO"]]
    assert _as_sets(wrong) != published


def _as_sets(views: Iterable[Iterable[str]]) -> frozenset[frozenset[frozenset[str]]]:
    return frozenset(frozenset(frozenset(pair) for pair in view) for view in views)
