"""Sightings: who will be asked what together under a design, and through which channels."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from deniable.channels import Matrix
from deniable.estimation.listed import listed_of
from deniable.estimation.outlook import Glimpse, Outlook, part_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from deniable.channels import Channel
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
        often: Each view's weight.
        asking: For each attribute, the views that ask it.
        channels: The channels, by what Python calls each.
        lone: For each view what its channel is called, if it has one that tells of slices.
        parts: What was worked out already, by channels, axes and the table's numbers of cells.
        single: The same of one channel, by its slice's number of cells.
        alone: How often single attributes are asked, in each way.
    """

    design: Design
    where: tuple[dict[int, int], ...]
    often: tuple[int, ...]
    asking: tuple[frozenset[int], ...]
    channels: dict[int, Channel]
    lone: tuple[int | None, ...]
    parts: dict[tuple[Way, Axes], tuple[Part | Listed, ...]] = field(default_factory=dict)
    single: dict[tuple[int, Axes, int], Part | Listed] = field(default_factory=dict)
    alone: dict[Axes, Counter[Way]] = field(default_factory=dict)

    def outlook(self, table: Axes, truth: Array | None = None) -> Outlook:
        """Return what the design will tell about a table, given by its attributes' places.

        Args:
            table: The places of its attributes.
            truth: The shares expected; even ones if None.
        """
        sizes, names = self.design.sizes, self.design.names
        shape = tuple([sizes[attribute] for attribute in table])
        glimpses = self._glimpses(table, tuple(range(len(table))))
        return Outlook(tuple([names[a] for a in table]), shape, glimpses, truth)

    def parts_of(self, table: Axes) -> tuple[Glimpse, ...]:
        """Return how respondents are asked some of a table's attributes, but not all."""
        found: list[Glimpse] = []
        for count in range(1, len(table)):
            for axes in combinations(range(len(table)), count):
                found += self._glimpses(table, axes)
        return tuple(found)

    def _glimpses(self, table: Axes, asked: Axes) -> tuple[Glimpse, ...]:
        """Return the ways in which views ask these axes of a table only, those alike as one."""
        attributes = tuple([table[axis] for axis in asked])
        weights = self._weights(attributes)
        others = [self.asking[a] for axis, a in enumerate(table) if axis not in asked]
        if others:
            also = self._views(attributes) & frozenset().union(*others)
            weights = weights - self._weighed(attributes, also)
        shape = tuple([self.design.sizes[attribute] for attribute in table])
        found = []
        for way, weight in weights.items():
            alike = way
            if others:  # by their places in the table instead
                alike = tuple([(number, tuple([asked[at] for at in axes])) for number, axes in way])
            if (alike, shape) not in self.parts:
                self.parts[alike, shape] = self._parts(alike, shape)
            parts = self.parts[alike, shape]
            found.append(Glimpse(weight / self.design.total_weight, parts))
        return tuple(found)

    def _views(self, attributes: Axes) -> frozenset[int]:
        return frozenset.intersection(*[self.asking[attribute] for attribute in attributes])

    def _weights(self, attributes: Axes) -> Counter[Way]:
        """Return how often attributes are asked together, in each way.

        Of single attributes that is remembered: most views ask each, and every table wants it.
        """
        if len(attributes) > 1:
            return self._weighed(attributes, self._views(attributes))
        if attributes not in self.alone:
            self.alone[attributes] = self._weighed(attributes, self._views(attributes))
        return self.alone[attributes]

    def _weighed(self, attributes: Axes, views: Iterable[int]) -> Counter[Way]:
        """Return the weights of views that ask attributes, by way; those alike are added.

        A way is made of channels, and of which attributes each is asked about, by their places
        in ``attributes``.
        """
        weights: Counter[Way] = Counter()
        together: defaultdict[int, int] = defaultdict(int)
        apart: defaultdict[Axes, int] = defaultdict(int)
        lone, often = self.lone, self.often
        for view in views:
            number = lone[view]
            if number is not None:
                together[number] += often[view]
                continue
            row, where = self.design.channels[view], self.where[view]
            places = [where[attribute] for attribute in attributes]
            if len(row) > 1 and len(set(places)) == len(places):
                apart[tuple([id(row[place]) for place in places])] += often[view]
                continue
            met: dict[int, Axes] = {}
            for at, place in enumerate(places):
                met[place] = (*met.get(place, ()), at)
            if len(row) == 1 and isinstance(row[0], Matrix):
                if len(attributes) < len(where):
                    continue  # what it says of slices is not told by formula, nor used
                met[0] = tuple(sorted(met[0], key=attributes.__getitem__))
            way = tuple([(id(row[place]), axes) for place, axes in met.items()])
            weights[way] += often[view]
        every = tuple(range(len(attributes)))
        for number, weight in together.items():
            weights[((number, every),)] += weight
        for numbers, weight in apart.items():
            weights[tuple([(number, (at,)) for at, number in enumerate(numbers)])] += weight
        return weights

    def _parts(self, way: Way, shape: Sequence[int]) -> tuple[Part | Listed, ...]:
        """Work out what is told of a table of some shape in one way, group by group."""
        found = []
        for number, axes in way:
            channel = self.channels[number]
            cells = math.prod([shape[axis] for axis in axes])
            key = (number, axes, cells)
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
    channels = {id(channel): channel for row in design.channels for channel in row}
    lone = tuple(
        id(row[0]) if len(row) == 1 and not isinstance(row[0], Matrix) else None
        for row in design.channels
    )
    often = tuple(view.weight for view in design.views)
    return Sightings(design, where, often, tuple(map(frozenset, asking)), channels, lone)
