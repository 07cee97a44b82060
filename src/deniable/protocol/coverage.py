"""Coverage: what a design asks together, how often, and of how many people."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.protocol.design import Design


@dataclass(frozen=True, slots=True)
class Coverage:
    """How a design's views cover its attributes.

    Attributes:
        views: How many views there are.
        groups: How many different groups they hold.
        cells: The numbers of cells of the smallest and of the largest group.
        pairs: How many pairs of attributes there are.
        met: How many of them some group holds.
        missing: Those that none does, by position.
        share: The least and the greatest share of respondents who answer a met pair together.
    """

    views: int
    groups: int
    cells: tuple[int, int]
    pairs: int
    met: int
    missing: tuple[tuple[int, int], ...]
    share: tuple[float, float]


def coverage_of(design: Design) -> Coverage:
    """Return what a design covers."""
    weights: Counter[tuple[int, int]] = Counter()
    for view in design.views:
        for group in view.groups:
            for pair in combinations(sorted(group.attributes), 2):
                weights[pair] += view.weight
    groups = {group for view in design.views for group in view.groups}
    count = len(design.attributes)
    missing = tuple(pair for pair in combinations(range(count), 2) if pair not in weights)
    shares = [weight / design.total_weight for weight in weights.values()] or [0.0]
    return Coverage(
        views=len(design.views),
        groups=len(groups),
        cells=(min(g.size for g in groups), max(g.size for g in groups)),
        pairs=math.comb(count, 2),
        met=len(weights),
        missing=missing,
        share=(min(shares), max(shares)),
    )


def people_per_view(design: Design, people: int) -> tuple[float, ...]:
    """Return how many of ``people`` respondents each view is expected to be drawn by."""
    return tuple(people * view.weight / design.total_weight for view in design.views)


def people_together(design: Design, attributes: Sequence[int], people: int) -> float:
    """Return how many of ``people`` are expected to answer some attributes in one group."""
    views = {view for view, _ in design.views_with(attributes)}
    return people * sum(design.views[view].weight for view in views) / design.total_weight
