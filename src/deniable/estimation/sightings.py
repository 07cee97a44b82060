"""Sightings: who will be asked what together under a design, and through which channels."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from deniable.channels import Matrix
from deniable.estimation.listed import listed_of
from deniable.estimation.outlook import Glimpse, Outlook, part_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from deniable.estimation.listed import Listed
    from deniable.estimation.outlook import Axes, Part
    from deniable.protocol import Design

    Array = NDArray[np.float64]
    Way = tuple[tuple[int, Axes], ...]


@dataclass(frozen=True, eq=False)
class Sightings:
    """A design arranged by attribute: who will be asked what together, and through what.

    Attributes:
        design: The design; its channels are those of the first block.
        where: For each view, the place of the group that holds an attribute.
        asking: For each attribute, the views that ask it.
        parts: What was worked out already, by channels, axes and the table's numbers of cells.
        single: The same of one channel, by its slice's number of cells.
    """

    design: Design
    where: tuple[dict[int, int], ...]
    asking: tuple[frozenset[int], ...]
    parts: dict[tuple[Way, Axes], tuple[Part | Listed, ...]] = field(default_factory=dict)
    single: dict[tuple[int, Axes, int], Part | Listed] = field(default_factory=dict)

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
        weights: Counter[Way] = Counter()
        example: dict[Way, int] = {}
        for view in views:
            row = self.design.channels[view]
            if len(row) == 1:  # one group holds all of them
                alike: Way = ((id(row[0]), asked),)
                if isinstance(row[0], Matrix):
                    if len(asked) < len(self.where[view]):
                        continue  # what it says of slices is not told by formula, nor used
                    alike = ((id(row[0]), tuple(sorted(asked, key=table.__getitem__))),)
            else:
                where = self.where[view]
                met: dict[int, Axes] = {}
                for axis in asked:
                    place = where[table[axis]]
                    met[place] = (*met.get(place, ()), axis)
                alike = tuple([(id(row[place]), axes) for place, axes in met.items()])
            weights[alike] += self.design.views[view].weight
            example[alike] = view
        shape = tuple([self.design.sizes[attribute] for attribute in table])
        found = []
        for alike, weight in weights.items():
            if (alike, shape) not in self.parts:
                self.parts[alike, shape] = self._parts(example[alike], table, alike)
            parts = self.parts[alike, shape]
            found.append(Glimpse(weight / self.design.total_weight, parts))
        return tuple(found)

    def _parts(self, view: int, table: Axes, alike: Way) -> tuple[Part | Listed, ...]:
        """Work out what a view tells of a table, group by group."""
        found = []
        for _, axes in alike:
            channel = self.design.channels[view][self.where[view][table[axes[0]]]]
            cells = math.prod([self.design.sizes[table[axis]] for axis in axes])
            key = (id(channel), axes, cells)
            if key not in self.single:
                if isinstance(channel, Matrix) and cells == channel.size:
                    self.single[key] = listed_of(channel, axes)
                else:
                    self.single[key] = part_of(channel, axes, cells)
            found.append(self.single[key])
        return tuple(found)


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
    return Sightings(design, where, tuple(map(frozenset, asking)))
