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

from deniable.estimation.lens import PointLens
from deniable.estimation.sight import Lattice, merged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.climb import Seen
    from deniable.estimation.sight import Sight

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """What was reported on one group, a row for each block and view.

    Attributes:
        order: The table's axes that the group's attributes are, in the group's order.
        sizes: Their numbers of cells.
        blocks: The number of each row's block.
        views: The number of each row's view.
        truth: p of each row, as a column.
        lie: (1 − p)·T, rows × cells.
        counts: How often each cell was reported, rows × cells.
    """

    order: tuple[int, ...]
    sizes: tuple[int, ...]
    blocks: NDArray[np.int64]
    views: NDArray[np.int64]
    truth: Array
    lie: Array
    counts: Array

    @property
    def people(self) -> float:
        """Return the number of respondents."""
        return float(self.counts.sum())

    @property
    def effort(self) -> int:
        """Return how many numbers a map works out."""
        return self.counts.size

    @property
    def inverses(self) -> Array:
        """Return eq. 4 of each row: (o/n − (1 − p)·T) / p."""
        people = self.counts.sum(axis=1, keepdims=True)
        result: Array = (self.counts / np.maximum(people, 1) - self.lie) / self.truth
        return result

    @property
    def noise(self) -> Array:
        """Return E Σ_x U[Y, x]² at even π of each row: what one report's estimate is worth."""
        seen = self.truth / self.lie.shape[1] + self.lie
        spread = np.sum(seen * (1 - 2 * self.lie) + self.lie**2, axis=1)
        result: Array = spread / self.truth[:, 0] ** 2
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

    def reduced(self, places: Sequence[int], axes: Sequence[int]) -> Stack:
        """Return what the group tells of some of its attributes, as axes of a table.

        Two coins over a group are, for some attributes of it, two coins with T summed.

        Args:
            places: Which of the group's attributes, in the order wanted.
            axes: The table's axis that each of them is.
        """
        dropped = tuple(1 + place for place in range(len(self.sizes)) if place not in places)
        kept = sorted(places)
        turned = [0, *(1 + kept.index(place) for place in places)]
        whole = (len(self.counts), *self.sizes)
        lie, counts = (
            np.ascontiguousarray(
                part.reshape(whole).sum(axis=dropped).transpose(turned).reshape(len(part), -1)
            )
            for part in (self.lie, self.counts)
        )
        sizes = tuple(self.sizes[place] for place in places)
        return Stack(tuple(axes), sizes, self.blocks, self.views, self.truth, lie, counts)


def joined(parts: Sequence[Stack]) -> Stack:
    """Return stacks of the same axes, in the same order, as one."""
    if len(parts) == 1:
        return parts[0]
    rows = [np.concatenate([getattr(part, name) for part in parts]) for name in _ROWS]
    return Stack(parts[0].order, parts[0].sizes, *rows)


def seen_in(sights: Sequence[Sight]) -> list[Seen]:
    """Return what sights tell of a likelihood: alike ones merged, two coins of a group stacked."""
    alike: defaultdict[tuple[tuple[int, ...], tuple[int, ...]], list[Lattice]] = defaultdict(list)
    rest: list[Seen] = []
    for sight in merged(sights):
        one = len(sight.lenses) == 1 and isinstance(sight.lenses[0], PointLens)
        if one and isinstance(sight, Lattice):
            alike[sight.order, sight.sizes].append(sight)
        else:
            rest.append(sight)
    return [*rest, *(_stacked(one) if len(one) > 1 else one[0] for one in alike.values())]


def _stacked(sights: Sequence[Lattice]) -> Stack:
    lenses = [lens for sight in sights for lens in sight.lenses if isinstance(lens, PointLens)]
    return Stack(
        sights[0].order,
        sights[0].sizes,
        np.array([sight.block for sight in sights]),
        np.array([sight.view for sight in sights]),
        np.array([lens.truth for lens in lenses])[:, None],
        np.array([lens.lie for lens in lenses]),
        np.array([sight.counts.reshape(-1) for sight in sights]),
    )


_ROWS = ("blocks", "views", "truth", "lie", "counts")
