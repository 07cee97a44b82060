"""All that was reported through two coins, read once: a stack for each group, any table."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels import KAry, TwoCoin
from deniable.channels.coin import WORD
from deniable.errors import EstimationError
from deniable.estimation.climb import GAP
from deniable.estimation.collected import collected_from
from deniable.estimation.leap import leap
from deniable.estimation.observation import asked_of, attributes_of
from deniable.estimation.stack import Stack, joined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.channels import Channel
    from deniable.estimation.climb import Summit
    from deniable.estimation.collected import Collected
    from deniable.estimation.evidence import Batch
    from deniable.estimation.observation import Source

    Array = NDArray[np.float64]
    Row = tuple[int, int, float, Array, Array]


@dataclass(frozen=True, slots=True, eq=False)
class Stacks:
    """A stack for each group.

    Attributes:
        names: All attributes.
        sizes: Their numbers of cells.
        by_group: The stacks, by their groups' attributes.
        collected: How each group's reports were made.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    by_group: Mapping[tuple[int, ...], Stack]
    collected: Mapping[tuple[int, ...], Collected]

    def on(self, attributes: Sequence[int]) -> tuple[Stack, ...]:
        """Return what all groups tell of a table, a stack for each set of its axes."""
        parts: defaultdict[tuple[int, ...], list[Stack]] = defaultdict(list)
        for group, stack in self.by_group.items():
            axes = tuple(axis for axis, asked in enumerate(attributes) if asked in group)
            if axes:
                places = [group.index(attributes[axis]) for axis in axes]
                parts[axes].append(stack.reduced(places, axes))
        return tuple(joined(same) for same in parts.values())

    def most_likely(self, attributes: Sequence[int], *, gap: float = GAP) -> Summit:
        """Return the maximum-likelihood table of some attributes, given every block and view.

        Besides the reports on all of them those on some of them count.
        """
        return leap(self.on(attributes), [self.sizes[a] for a in attributes], gap=gap)


def stacks_of(source: Source) -> Stacks:
    """Return a stack for each group of what was counted.

    Raises:
        EstimationError: A group was reported on through anything but two coins, or its
            reports were counted together with those of other groups.
    """
    rows: defaultdict[tuple[int, ...], list[Row]] = defaultdict(list)
    # One channel serves many blocks where nothing adapts; its fake weights are read once.
    read: dict[int, tuple[float, Array]] = {}
    asked: defaultdict[tuple[int, ...], list[tuple[int, int, tuple[Channel, ...]]]]
    asked = defaultdict(list)
    for block, view, batch, together in asked_of(source):
        if len(batch.groups) > 1:
            problem = "blocks are stacked where each group was counted by itself"
            raise EstimationError(problem, expected="a tally that does not keep views together")
        (channel,) = batch.channels
        if id(channel) not in read:
            read[id(channel)] = _coins(channel)
        row = (block, view, *read[id(channel)], _counted(batch, channel.size))
        rows[batch.groups[0]].append(row)
        asked[batch.groups[0]].append((block, view, together))
    names, sizes = attributes_of(source)
    stacks = {
        group: _stacked([sizes[attribute] for attribute in group], found)
        for group, found in rows.items()
    }
    collected = {group: collected_from(found) for group, found in asked.items()}
    return Stacks(names, sizes, stacks, collected)


def _coins(channel: Channel) -> tuple[float, Array]:
    match channel:
        case TwoCoin(head=head, fake=weights):
            fake = np.array(weights, np.float64) / WORD
        case KAry(head=head, size=size):
            weight, longer = divmod(WORD, size)
            fake = (weight + (np.arange(size) < longer)) / WORD
        case _:
            problem = "only reports of two coins can be stacked"
            raise EstimationError(problem, expected="channel = 'two-coin' or 'k-ary'")
    truth = head / WORD
    return truth, (1 - truth) * fake


def _counted(batch: Batch, cells: int) -> Array:
    counts: Array = np.bincount(batch.reports[0][:, 0], batch.counts, cells).astype(np.float64)
    return counts


def _stacked(sizes: Sequence[int], rows: Sequence[Row]) -> Stack:
    blocks, views, truth, lie, counts = zip(*rows, strict=True)
    return Stack(
        tuple(range(len(sizes))),
        tuple(sizes),
        np.array(blocks),
        np.array(views),
        np.array(truth)[:, None],
        np.array(lie),
        np.array(counts),
    )
