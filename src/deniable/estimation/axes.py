"""The axes of a table: as groups have them, summed out and back, and as if independent."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def gathered(table: Array, order: Sequence[int]) -> Array:
    """Sum a table over the axes that were not asked and order the others by the groups."""
    dropped = tuple(axis for axis in range(table.ndim) if axis not in order)
    kept = sorted(order)
    result: Array = table.sum(axis=dropped) if dropped else table
    return np.ascontiguousarray(result.transpose([kept.index(axis) for axis in order]))


def settled(part: Array, order: Sequence[int], sizes: Sequence[int]) -> Array:
    """Give a map's result one axis for each asked axis of the table, ascending."""
    ascending = sorted(order)
    return part.reshape(sizes).transpose([order.index(axis) for axis in ascending])


def widened(part: Array, order: Sequence[int], shape: Sequence[int]) -> Array:
    """Repeat a result along the axes that were not asked."""
    wide = [size if axis in order else 1 for axis, size in enumerate(shape)]
    return np.broadcast_to(part.reshape(wide), tuple(shape))


def product_of_margins(table: Array) -> Array:
    """Return the table with the same margins in which the axes are independent.

    >>> product_of_margins(np.array([[0.5, 0.0], [0.25, 0.25]])).tolist()
    [[0.375, 0.125], [0.375, 0.125]]
    """
    axes = range(table.ndim)
    margins = [table.sum(axis=tuple(a for a in axes if a != axis)) for axis in axes]
    result: Array = reduce(np.multiply.outer, margins)
    return result
