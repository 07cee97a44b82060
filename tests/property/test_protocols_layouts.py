"""Layouts keep their word for any number and size of attributes."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.errors import DesignError
from deniable.protocol import coverage_of, design_for, people_per_view, people_together
from deniable.protocol.layouts import layout_for
from deniable.schema import Attribute, Privacy, Schema, Survey


def survey(sizes: list[int], design: str, options: dict[str, object]) -> Survey:
    """Return a survey of attributes of the given sizes."""
    attributes = tuple(
        Attribute.nominal(f"q{place}", [f"c{cell}" for cell in range(size)])
        for place, size in enumerate(sizes)
    )
    return Survey("example", Schema(attributes), Privacy(1.0, design, options))  # type: ignore[arg-type]


def pairs_of(layout: list[list[tuple[int, ...]]]) -> set[tuple[int, int]]:
    """Return the pairs that some group holds."""
    return {pair for view in layout for group in view for pair in combinations(group, 2)}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(2, 12), min_size=2, max_size=9),
    st.sampled_from(["views", "ask-one"]),
    st.sampled_from(["sets", "pairs"]),
    st.integers(2, 4),
    st.integers(12, 200),
)
def test_a_capped_layout_fits_and_loses_no_pair_that_fits(
    sizes: list[int], design: str, cover: str, together: int, most: int
) -> None:
    """No group has more cells than allowed; each pair that fits meets; each attribute is asked."""
    names = [f"q{place}" for place in range(len(sizes))]
    options = {"k": min(together, len(sizes)), "cover": cover, "max_cells": most}
    layout = layout_for(design, names, sizes, options)
    fits = {(a, b) for a, b in combinations(range(len(sizes)), 2) if sizes[a] * sizes[b] <= most}
    assert pairs_of(layout) == fits
    assert {a for view in layout for group in view for a in group} == set(range(len(sizes)))
    for view in layout:
        asked = [attribute for group in view for attribute in group]
        assert len(asked) == len(set(asked))
        assert all(math.prod(sizes[a] for a in group) <= most for group in view)
        assert design == "views" or len(view) == 1


def test_a_layout_without_a_cap_is_left_alone() -> None:
    """A cap that every group keeps changes nothing."""
    names, sizes = [f"q{place}" for place in range(7)], [3] * 7
    for options in ({"k": 3}, {"k": 3, "cover": "pairs"}, {"k": 2}):
        plain = layout_for("views", names, sizes, options)
        capped = layout_for("views", names, sizes, {**options, "max_cells": 27})
        assert [sorted(view) for view in capped] == [sorted(view) for view in plain]


def test_an_attribute_too_large_for_any_group_is_refused() -> None:
    """The error says which cap would do."""
    with pytest.raises(DesignError, match="at least 9"):
        layout_for("views", ["a", "b"], [9, 2], {"max_cells": 8})


def test_sets_of_three_and_pairs_in_threes_are_both_designs() -> None:
    """``cover`` decides between every triple in 28 views and every pair in 4."""
    sets = coverage_of(design_for(survey([2] * 9, "views", {"k": 3})))
    pairs = coverage_of(design_for(survey([2] * 9, "views", {"k": 3, "cover": "pairs"})))
    assert (sets.views, sets.groups, sets.met) == (28, 84, 36)
    assert (pairs.views, pairs.groups, pairs.met) == (4, 12, 36)
    one = coverage_of(design_for(survey([2] * 9, "ask-one", {"k": 3, "cover": "pairs"})))
    assert (one.views, one.groups, one.met) == (12, 12, 36)


def test_too_many_views_are_refused_with_what_would_do() -> None:
    """All sixes of a hundred attributes are a thousand million groups."""
    names = [f"q{place}" for place in range(100)]
    with pytest.raises(DesignError, match="cover = 'pairs'"):
        layout_for("views", names, [2] * 100, {"k": 6})


def test_the_published_examples_of_views_come_out_as_designs() -> None:
    """Six attributes: five views of three pairs; five attributes: five views of two pairs."""
    for count, each in ((6, 3), (5, 2)):
        design = design_for(survey([2] * count, "rrba", {}))
        assert [len(view.groups) for view in design.views] == [each] * 5
        covered = coverage_of(design)
        assert covered.met == covered.pairs == math.comb(count, 2)
        assert covered.share == (0.2, 0.2)


def test_coverage_counts_people_by_view_and_by_pair() -> None:
    """A pair that meets in two of five views is answered together by two fifths."""
    design = design_for(survey([2] * 5, "views", {"k": 2}))
    assert people_per_view(design, 1000) == (200.0,) * 5
    assert people_together(design, [0, 1], 1000) == 200.0
    assert people_together(design, [0], 1000) == 800.0
    alone = coverage_of(design_for(survey([3, 4], "independent", {})))
    assert (alone.met, alone.missing, alone.share) == (0, ((0, 1),), (0.0, 0.0))
