"""Every set of k attributes in exactly one view: Baranyai's theorem, one attribute at a time.

⌈C(d, k) / ⌊d/k⌋⌉ views hold all k-sets so that no view holds an attribute twice. Views
start as bags of empty sets. When attribute l is placed, every view gives it to at most
one of its unfinished sets, and every partial set S is extended exactly as often as there
are k-sets that begin with S and l. The fractional choice that extends each copy of S with
probability (k − |S|)/(d − l) meets both demands; so an integral one exists (a flow), and it
is found by augmenting paths.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from typing import TypeAlias

Part: TypeAlias = tuple[int, ...]


def factorize(count: int, together: int) -> list[list[Part]]:
    """Return views that hold every set of ``together`` attributes exactly once.

    >>> [len(factorize(6, 2)), len(factorize(9, 3))]
    [5, 28]
    """
    per_view = count // together
    total = math.comb(count, together)
    views: list[Counter[Part]] = [Counter({(): per_view}) for _ in range(total // per_view)]
    if total % per_view:
        views.append(Counter({(): total % per_view}))
    for attribute in range(count):
        left = count - attribute
        for view, part in enumerate(_extend(views, together, left)):
            if part is not None:
                views[view][part] -= 1
                views[view][(*part, attribute)] += 1
                views[view] += Counter()  # drops what has fallen to zero
    return [sorted(view.elements()) for view in views]


def _extend(views: list[Counter[Part]], together: int, left: int) -> list[Part | None]:
    """Choose for each view the partial set that receives the next attribute, or none.

    ``left`` attributes are not placed yet, the next one included.
    """
    open_parts = [[part for part in view if len(part) < together] for view in views]
    need = [
        sum((together - len(part)) * view[part] for part in parts)
        for view, parts in zip(views, open_parts, strict=True)
    ]
    demand: dict[Part, int] = {}
    for parts in open_parts:
        for part in parts:
            if part not in demand:
                demand[part] = math.comb(left - 1, together - len(part) - 1)
    matching = _Matching(open_parts, demand)
    # A view whose sets need as many attributes as are left cannot do without this one.
    for view, wanted in enumerate(need):
        if wanted == left:
            matching.serve_view(view)
    for part in demand:
        matching.take_free_views(part)
    for part in demand:
        while matching.missing[part]:
            matching.serve_part(part)
    return matching.chosen


class _Matching:
    """Views on one side, partial sets with a demand on the other; grown by augmenting paths.

    An augmenting path never frees what is already served, so serving first the views that
    must be and then the demands serves both.
    """

    def __init__(self, open_parts: list[list[Part]], demand: dict[Part, int]) -> None:
        self.open_parts = open_parts
        self.missing = dict(demand)
        self.chosen: list[Part | None] = [None] * len(open_parts)
        self.holders: dict[Part, set[int]] = {part: set() for part in demand}
        self.offering: dict[Part, list[int]] = {part: [] for part in demand}
        for view, parts in enumerate(open_parts):
            for part in parts:
                self.offering[part].append(view)

    def _assign(self, view: int, part: Part) -> None:
        before = self.chosen[view]
        if before is not None:
            self.holders[before].discard(view)
            self.missing[before] += 1
        self.chosen[view] = part
        self.holders[part].add(view)
        self.missing[part] -= 1

    def serve_view(self, start: int) -> None:
        """Give a view some part, moving other views to other parts where needed."""
        if self.chosen[start] is not None:
            return
        came_from: dict[Part, int] = {}
        reached_by: dict[int, Part] = {}
        queue = deque([start])
        while queue:
            view = queue.popleft()
            for part in self.open_parts[view]:
                if part in came_from:
                    continue
                came_from[part] = view
                if self.missing[part]:
                    self._shift_views(part, came_from, reached_by)
                    return
                for other in sorted(self.holders[part]):
                    if other not in reached_by and other != start:
                        reached_by[other] = part
                        queue.append(other)
        raise AssertionError  # the fractional solution exists, so a path does

    def _shift_views(
        self, part: Part, came_from: dict[Part, int], reached_by: dict[int, Part]
    ) -> None:
        while True:
            view = came_from[part]
            self._assign(view, part)
            if view not in reached_by:
                return
            part = reached_by[view]

    def take_free_views(self, part: Part) -> None:
        """Give a part the views that nobody asks for yet."""
        for view in self.offering[part]:
            if not self.missing[part]:
                return
            if self.chosen[view] is None:
                self._assign(view, part)

    def serve_part(self, start: Part) -> None:
        """Find a free view for a part, moving other parts to other views where needed."""
        came_from: dict[int, Part] = {}
        reached_by: dict[Part, int] = {}
        queue = deque([start])
        while queue:
            part = queue.popleft()
            for view in self.offering[part]:
                if view in came_from:
                    continue
                came_from[view] = part
                other = self.chosen[view]
                if other is None:
                    self._shift_parts(view, came_from, reached_by)
                    return
                if other not in reached_by and other != start:
                    reached_by[other] = view
                    queue.append(other)
        raise AssertionError  # the fractional solution exists, so a path does

    def _shift_parts(
        self, view: int, came_from: dict[int, Part], reached_by: dict[Part, int]
    ) -> None:
        while True:
            part = came_from[view]
            self._assign(view, part)
            if part not in reached_by:
                return
            view = reached_by[part]
