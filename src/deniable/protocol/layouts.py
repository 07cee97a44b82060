"""Layouts: which attributes each design of a survey file puts into the groups of its views."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from deniable.errors import DesignError, nearest
from deniable.protocol.capped import fitting
from deniable.protocol.covering import cover_pairs
from deniable.protocol.factorization import factorize
from deniable.protocol.views import all_groups, round_robin, single_groups

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Layout: TypeAlias = list[list[tuple[int, ...]]]
"""For each view its groups, each the positions of its attributes."""

MOST_VIEWS = 20_000
"""A design with more views is too long to be published."""


def layout_for(
    design: str, names: Sequence[str], sizes: Sequence[int], options: Mapping[str, Any]
) -> Layout:
    """Return the groups of each view of a named design.

    Args:
        design: The design's name in a survey file.
        names: The attributes asked.
        sizes: How many cells each has.
        options: The options of the design as the survey file gives them.
    """
    if design not in LAYOUTS:
        problem = f"there is no design called {design!r}"
        raise DesignError(problem, expected=nearest(design, LAYOUTS))
    layout = LAYOUTS[design](names, options)
    if options.get("max_cells"):
        apart = design in {"ask-one", "two-stage"}
        layout = fitting(layout, sizes, int(options["max_cells"]), one_group_a_view=apart)
    return layout


def _together(names: Sequence[str], options: Mapping[str, Any], default: int = 2) -> int:
    together = options.get("k", min(default, len(names)))
    if isinstance(together, bool) or not isinstance(together, int):
        problem = "k must be an integer"
        raise DesignError(problem, given=together)
    if not 1 <= together <= len(names):
        problem = "k must be at most the number of attributes"
        raise DesignError(problem, given=together, expected=f"1 to {len(names)}")
    return together


def _check_views(views: int, together: int) -> None:
    if views > MOST_VIEWS:
        problem = f"all groups of {together} attributes need too many views"
        expected = f"at most {MOST_VIEWS}; a smaller k, or cover = 'pairs'"
        raise DesignError(problem, given=views, expected=expected)


def _ask_one(names: Sequence[str], options: Mapping[str, Any]) -> Layout:
    if options.get("groups"):
        positions = {name: place for place, name in enumerate(names)}
        return [[_group(group, positions)] for group in options["groups"]]
    together = _together(names, options)
    if options.get("cover") == "pairs" and together > 1:
        met = {group for view in _covered(len(names), together) for group in view}
        return [[group] for group in sorted(met)]
    _check_views(math.comb(len(names), together), together)
    return [[group] for group in all_groups(len(names), together)]


def _independent(names: Sequence[str], options: Mapping[str, Any]) -> Layout:
    del options
    return [single_groups(len(names))]


def _joint(names: Sequence[str], options: Mapping[str, Any]) -> Layout:
    del options
    return [[tuple(range(len(names)))]]


def _clusters(names: Sequence[str], options: Mapping[str, Any]) -> Layout:
    clusters = options.get("clusters")
    if not clusters:
        problem = "the design 'clusters' needs a list of clusters"
        raise DesignError(problem, expected='clusters = [["sex", "age"], ["income"]]')
    positions = {name: place for place, name in enumerate(names)}
    named = [name for cluster in clusters for name in cluster]
    groups = [_group(cluster, positions) for cluster in clusters]
    left = [(place,) for name, place in positions.items() if name not in named]
    return [[*groups, *left]]


def _group(group: Sequence[str], positions: dict[str, int]) -> tuple[int, ...]:
    for name in group:
        if name not in positions:
            problem = f"a group names an attribute {name!r} that the survey does not ask"
            raise DesignError(problem, expected=nearest(name, positions))
    return tuple(sorted(positions[name] for name in group))


def _views(names: Sequence[str], options: Mapping[str, Any]) -> Layout:
    count, together = len(names), _together(names, options)
    if together == 1 or count == 1:
        return [single_groups(count)]
    if together == 2:  # noqa: PLR2004
        return round_robin(count)
    if options.get("cover") == "pairs":
        return [list(view) for view in _covered(count, together)]
    _check_views(math.ceil(math.comb(count, together) / (count // together)), together)
    return [list(view) for view in _factorized(count, together)]


# Both take seconds for many attributes, and a survey's design is made more than once.


@lru_cache(maxsize=16)
def _factorized(count: int, together: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    return tuple(tuple(view) for view in factorize(count, together))


@lru_cache(maxsize=16)
def _covered(count: int, together: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    return tuple(tuple(view) for view in cover_pairs(count, together))


LAYOUTS: dict[str, Callable[[Sequence[str], Mapping[str, Any]], Layout]] = {
    "ask-one": _ask_one,
    "independent": _independent,
    "joint": _joint,
    "clusters": _clusters,
    "views": _views,
    "rrba": _views,
    "two-stage": _ask_one,
}
"""Every design a survey file may name, and the groups of its views."""
