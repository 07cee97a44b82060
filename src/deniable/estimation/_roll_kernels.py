"""The loops of a roll: each report picks some cells of a table, a few on every axis.

An entry is a place on an axis, times its stride, and a factor. A report's row on each axis has
some entries; it picks the product of them all. The axes are divided in two, so that the
products of each half are made once and a report costs one multiplication for each pick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Places = NDArray[np.int64]


@compiled(inline="always")
def unroll(
    rows: Places,
    report: int,
    axes: tuple[int, int],
    start: Places,
    place: Places,
    factor: Array,
    places: Places,
    factors: Array,
) -> int:
    """Fill in all products of a report's entries on some axes; return how many there are."""
    count = 1
    places[0], factors[0] = 0, 1.0
    for axis in range(axes[0], axes[1]):
        one = rows[report, axis]
        begin, more = start[one], start[one + 1] - start[one]
        for old in range(count - 1, -1, -1):  # backwards: what is read is not yet written over
            at, times = places[old], factors[old]
            for new in range(more):
                places[old * more + new] = at + place[begin + new]
                factors[old * more + new] = times * factor[begin + new]
        count *= more
    return count


@compiled(fastmath=True)
def fold(
    table: Array,
    rows: Places,
    half: int,
    start: Places,
    place: Places,
    factor: Array,
    most: int,
    seen: Array,
) -> None:
    """Fill seen[i] with the sum of the cells that report i picks, each times its factors."""
    places, factors = np.empty(most, np.int64), np.empty(most)
    others, times = np.empty(most, np.int64), np.empty(most)
    axes = rows.shape[1]
    for i in range(len(rows)):
        left = unroll(rows, i, (0, half), start, place, factor, places, factors)
        right = unroll(rows, i, (half, axes), start, place, factor, others, times)
        total = 0.0
        for a in range(left):
            part, at = 0.0, places[a]
            for b in range(right):
                part += times[b] * table[at + others[b]]
            total += factors[a] * part
        seen[i] = total


@compiled(fastmath=True)
def unfold(
    weights: Array,
    rows: Places,
    half: int,
    start: Places,
    place: Places,
    factor: Array,
    most: int,
    table: Array,
) -> None:
    """Add to each cell the weights of the reports that pick it, times their factors."""
    places, factors = np.empty(most, np.int64), np.empty(most)
    others, times = np.empty(most, np.int64), np.empty(most)
    axes = rows.shape[1]
    for i in range(len(rows)):
        left = unroll(rows, i, (0, half), start, place, factor, places, factors)
        right = unroll(rows, i, (half, axes), start, place, factor, others, times)
        for a in range(left):
            force, at = weights[i] * factors[a], places[a]
            for b in range(right):
                table[at + others[b]] += force * times[b]
