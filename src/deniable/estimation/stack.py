"""A stack: one group seen in many blocks through two coins, all in three arrays.

Adaptive designs make hundreds of blocks, each with a channel of its own. Taken one by one
they cost more to walk through than to compute with; stacked, a step of maximum likelihood
over all of them is a few array operations. A stack offers ``climb`` the same two maps as a
sight does.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels import KAry, TwoCoin
from deniable.channels.coin import WORD
from deniable.errors import EstimationError
from deniable.estimation.climb import GAP, Summit
from deniable.estimation.leap import leap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.protocol import Tally

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """What was reported on one group, a row for each block and view.

    Attributes:
        order: The table's axes that the group's attributes are, in the group's order.
        sizes: Their numbers of cells.
        blocks: The number of each row's block.
        truth: p of each row, as a column.
        lie: (1 − p)·T, rows × cells.
        counts: How often each cell was reported, rows × cells.
    """

    order: tuple[int, ...]
    sizes: tuple[int, ...]
    blocks: NDArray[np.int64]
    truth: Array
    lie: Array
    counts: Array

    @property
    def people(self) -> float:
        """Return the number of respondents."""
        return float(self.counts.sum())

    @property
    def inverses(self) -> Array:
        """Return eq. 4 of each row: (o/n − (1 − p)·T) / p."""
        people = self.counts.sum(axis=1, keepdims=True)
        result: Array = (self.counts / np.maximum(people, 1) - self.lie) / self.truth
        return result

    def see(self, table: Array) -> Array:
        """Return λ of every row."""
        dropped = tuple(axis for axis in range(table.ndim) if axis not in self.order)
        kept = sorted(self.order)
        part = table.sum(axis=dropped).transpose([kept.index(axis) for axis in self.order])
        result: Array = self.truth * part.reshape(1, -1) + self.lie * table.sum()
        return result

    def trace(self, weights: Array, shape: Sequence[int]) -> Array:
        """Return Σ over rows and reports of w·L, for every cell of a table of ``shape``."""
        flat = (self.truth * weights).sum(axis=0) + float(np.sum(self.lie * weights))
        ascending = sorted(self.order)
        part = flat.reshape(self.sizes).transpose([self.order.index(a) for a in ascending])
        wide = [size if axis in self.order else 1 for axis, size in enumerate(shape)]
        return np.broadcast_to(part.reshape(wide), tuple(shape))

    def reduced(self, place: int, axis: int) -> Stack:
        """Return what the group tells of one of its attributes, as the table's ``axis``.

        Two coins over a group are, for an attribute of it, two coins with T summed.
        """
        others = tuple(1 + other for other in range(len(self.sizes)) if other != place)
        rows = (len(self.counts), *self.sizes)
        lie, counts = (part.reshape(rows).sum(axis=others) for part in (self.lie, self.counts))
        return Stack((axis,), (self.sizes[place],), self.blocks, self.truth, lie, counts)

    def of(self, order: tuple[int, ...]) -> Stack:
        """Return the same reports as those on other axes of a table."""
        return Stack(order, self.sizes, self.blocks, self.truth, self.lie, self.counts)


def stacks_of(tally: Tally) -> dict[tuple[int, ...], Stack]:
    """Return a stack for each group of a tally, by the group's attributes.

    Raises:
        EstimationError: A group was reported on through anything but two coins, or its
            reports were counted together with those of other groups.
    """
    rows: defaultdict[tuple[int, ...], list[tuple[int, float, Array, Array]]] = defaultdict(list)
    sizes: dict[tuple[int, ...], tuple[int, ...]] = {}
    # One channel serves many blocks where nothing adapts; its fake weights are read once.
    read: dict[int, tuple[float, Array]] = {}
    for stratum, seen in sorted(tally.counts.items()):
        if len(stratum.groups) > 1:
            problem = "blocks are stacked from a tally that counts each group by itself"
            raise EstimationError(problem, expected="a tally that does not keep views together")
        (place,) = stratum.groups
        group = tally.design.views[stratum.view].groups[place]
        channel = tally.blocks[stratum.block].channels[stratum.view][place]
        if id(channel) not in read:
            read[id(channel)] = _coins(channel)
        counts = np.zeros(group.size)
        for (cell,), number in seen.items():
            counts[cell] = number
        rows[group.attributes].append((stratum.block, *read[id(channel)], counts))
        sizes[group.attributes] = group.sizes
    return {attributes: _stacked(sizes[attributes], found) for attributes, found in rows.items()}


def _coins(channel: object) -> tuple[float, Array]:
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


def _stacked(sizes: tuple[int, ...], rows: Sequence[tuple[int, float, Array, Array]]) -> Stack:
    blocks, truth, lie, counts = zip(*rows, strict=True)
    return Stack(
        tuple(range(len(sizes))),
        sizes,
        np.array(blocks),
        np.array(truth)[:, None],
        np.array(lie),
        np.array(counts),
    )


def most_likely(
    stacks: Mapping[tuple[int, ...], Stack], attributes: tuple[int, ...], *, gap: float = GAP
) -> Summit:
    """Return the maximum-likelihood table of one group, given every block and view.

    Besides the group's own reports, those of other groups count for the attributes they
    share with it, one by one.
    """
    own = stacks[attributes]
    sights = [own, *(_singly(stacks, attributes, axis) for axis in range(len(attributes)))]
    told = [sight for sight in sights if sight is not None]
    return leap(told, own.sizes, gap=gap)


def _singly(
    stacks: Mapping[tuple[int, ...], Stack], attributes: tuple[int, ...], axis: int
) -> Stack | None:
    """Return what all other groups tell of one attribute, in one stack."""
    parts = [
        stack.reduced(group.index(attributes[axis]), axis)
        for group, stack in stacks.items()
        if group != attributes and attributes[axis] in group
    ]
    if not parts:
        return None
    joined = [np.concatenate([getattr(p, name) for p in parts]) for name in _ARRAYS]
    return Stack((axis,), parts[0].sizes, *joined)


_ARRAYS = ("blocks", "truth", "lie", "counts")
