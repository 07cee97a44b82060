"""Sightings: who will be asked what together under a design, and through which channels."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from deniable.estimation.outlook import Glimpse, Outlook, part_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from deniable.estimation.outlook import Axes, Part
    from deniable.protocol import Design

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sightings:
    """A design arranged by attribute: who will be asked what together, and through what.

    Attributes:
        design: The design; its channels are those of the first block.
        where: For each view, the place of the group that holds an attribute.
        asking: For each attribute, the views that ask it.
        parts: Parts already worked out.
    """

    design: Design
    where: tuple[dict[int, int], ...]
    asking: tuple[frozenset[int], ...]
    parts: dict[tuple[int, int, Axes], Part]

    def outlook(self, table: Axes, truth: Array | None = None) -> Outlook:
        """Return what the design will tell about a table, given by its attributes' places.

        Args:
            table: The places of its attributes.
            truth: The shares expected; even ones if None.
        """
        sizes, names = self.design.sizes, self.design.names
        shape = tuple([sizes[attribute] for attribute in table])
        every = tuple(range(len(table)))
        views = frozenset.intersection(*[self.asking[attribute] for attribute in table])
        glimpses = self._glimpses(table, every, views)
        return Outlook(tuple([names[a] for a in table]), shape, glimpses, truth)

    def parts_of(self, table: Axes) -> tuple[Glimpse, ...]:
        """Return how respondents are asked some of a table's attributes, but not all."""
        found: list[Glimpse] = []
        for count in range(1, len(table)):
            for axes in combinations(range(len(table)), count):
                asked = frozenset.intersection(*[self.asking[table[axis]] for axis in axes])
                others = [self.asking[a] for axis, a in enumerate(table) if axis not in axes]
                found += self._glimpses(table, axes, asked.difference(*others))
        return tuple(found)

    def _glimpses(self, table: Axes, asked: Axes, views: Iterable[int]) -> tuple[Glimpse, ...]:
        """Return the ways in which views ask some axes of a table, those alike as one."""
        weights: Counter[tuple[tuple[int, Axes], ...]] = Counter()
        example: dict[tuple[tuple[int, Axes], ...], int] = {}
        for view in views:
            where, row = self.where[view], self.design.channels[view]
            met: dict[int, Axes] = {}
            for axis in asked:
                place = where[table[axis]]
                met[place] = (*met.get(place, ()), axis)
            alike = tuple([(id(row[place]), axes) for place, axes in met.items()])
            weights[alike] += self.design.views[view].weight
            example[alike] = view
        found = []
        for alike, weight in weights.items():
            parts = [self._part(example[alike], table, axes) for _, axes in alike]
            found.append(Glimpse(weight / self.design.total_weight, tuple(parts)))
        return tuple(found)

    def _part(self, view: int, table: Axes, axes: Axes) -> Part:
        channel = self.design.channels[view][self.where[view][table[axes[0]]]]
        cells = math.prod([self.design.sizes[table[axis]] for axis in axes])
        key = (id(channel), cells, axes)
        if key not in self.parts:
            self.parts[key] = part_of(channel, axes, cells)
        return self.parts[key]


def sightings_of(design: Design) -> Sightings:
    """Arrange a design by attribute."""
    where = tuple(
        {a: place for place, group in enumerate(view.groups) for a in group.attributes}
        for view in design.views
    )
    asking: list[set[int]] = [set() for _ in design.attributes]
    for view, places in enumerate(where):
        for attribute in places:
            asking[attribute].add(view)
    return Sightings(design, where, tuple(map(frozenset, asking)), {})
