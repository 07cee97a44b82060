"""Groups that fit: a layout whose groups have at most so many cells.

Attributes differ in size, so a rule that looks at their number alone makes groups of a
dozen cells and of many thousands. A group with too many cells is divided; every pair of
attributes that fits together still meets in some view.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

from deniable.errors import DesignError

if TYPE_CHECKING:
    from collections.abc import Sequence

    Group = tuple[int, ...]
    Layout = list[list[Group]]


def fitting(
    layout: Layout, sizes: Sequence[int], most: int, *, one_group_a_view: bool = False
) -> Layout:
    """Return a layout whose groups have at most ``most`` cells.

    Pairs that meet in ``layout`` and fit meet in the result. An attribute that fits
    together with no other is asked alone.

    >>> fitting([[(0, 1, 2)]], (2, 3, 4), 12)
    [[(1, 2)], [(0, 1)], [(0, 2)]]
    """
    widest = max(range(len(sizes)), key=sizes.__getitem__)
    if sizes[widest] > most:
        problem = "an attribute alone has more cells than a group may have"
        raise DesignError(problem, given=most, expected=f"max_cells of at least {sizes[widest]}")
    wanted = {pair for view in layout for group in view for pair in combinations(sorted(group), 2)}
    wanted = {(a, b) for a, b in wanted if sizes[a] * sizes[b] <= most}
    met: set[Group] = set()
    views: Layout = []
    for view in layout:
        parts = [part for group in view for part in _parts(group, sizes, most, met)]
        met.update(pair for part in parts for pair in combinations(part, 2))
        views.append(parts)
    views = [[part for part in view if len(part) > 1] for view in views]
    views += _matchings(sorted(wanted - met))
    asked = {attribute for view in layout for group in view for attribute in group}
    paired = {attribute for view in views for group in view for attribute in group}
    alone: Layout = [[(attribute,)] for attribute in sorted(asked - paired)]
    if one_group_a_view:
        groups = sorted({group for view in views for group in view})
        return [[group] for group in groups if not _inside(group, groups)] + alone
    if alone:  # asked of everybody: each respondent has room for them
        views = [view + [group for single in alone for group in single] for view in views or [[]]]
    return [view for view in views if view]


def _parts(group: Group, sizes: Sequence[int], most: int, met: set[Group]) -> list[Group]:
    """Divide a group, largest attributes first, each to where it meets most new partners."""
    if math.prod(sizes[attribute] for attribute in group) <= most:
        return [tuple(sorted(group))]
    parts: list[list[int]] = []
    for attribute in sorted(group, key=lambda a: (-sizes[a], a)):
        open_parts = [p for p in parts if math.prod(sizes[a] for a in p) * sizes[attribute] <= most]
        if not open_parts:
            parts.append([attribute])
            continue
        new = [sum(_pair(a, attribute) not in met for a in part) for part in open_parts]
        open_parts[new.index(max(new))].append(attribute)
    return [tuple(sorted(part)) for part in parts]


def _pair(one: int, two: int) -> Group:
    return (one, two) if one < two else (two, one)


def _matchings(pairs: Sequence[Group]) -> Layout:
    """Put pairs into few views so that no view holds an attribute twice."""
    views: Layout = []
    busy: list[set[int]] = []
    for pair in pairs:
        for view, taken in zip(views, busy, strict=True):
            if not taken & set(pair):
                view.append(pair)
                taken.update(pair)
                break
        else:
            views.append([pair])
            busy.append(set(pair))
    return views


def _inside(group: Group, groups: Sequence[Group]) -> bool:
    return any(len(group) < len(other) and set(group) < set(other) for other in groups)
