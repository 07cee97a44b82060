"""A route: how a table is met with reports that are kept one by one.

What a report says of an axis is a level and a few cells that stand out of it: those of a
reported set, or the one cell of two coins. With the sum over the axis as one more cell, a
report then picks a few cells of the table instead of weighing all. A group with few
different reports is met with the table once for each of them, and a report picks that one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Places = NDArray[np.int64]

MOST_MET = 2**23
"""Cells of a table that groups were met with: 64 MiB."""


class Entries(NamedTuple):
    """A matrix row by row: the entries of row r are ``start[r]`` to ``start[r + 1]``.

    Place m of m cells stands for the sum of all of them.
    """

    start: Places
    place: Places
    factor: Array


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """How one kind of map goes through the groups, an axis for each.

    Attributes:
        met: The matrix of each group whose values are met with the table; nothing for others.
        shape: The axes of the table that reports pick from.
        entries: The rows of all axes, one axis after another; places are times the strides.
        rows: For each report its row on each axis.
        half: How many axes are in the first half.
        most: The most picks of a report in either half.
        effort: About how many numbers are worked out.
    """

    met: tuple[Array | None, ...]
    shape: tuple[int, ...]
    entries: Entries
    rows: Places
    half: int
    most: int
    effort: int

    def fold(self, table: Array) -> Array:
        """Return Σ_x π[x]·Π_g M_g[y_g, x_g] for each report y; an axis for each group."""
        from deniable.estimation._roll_kernels import fold  # noqa: PLC0415 -- slow to load

        for axis, matrix in enumerate(self.met):
            if matrix is not None:
                table = _along(matrix, table, axis)
        cells = _with_sums(table, self).reshape(-1)
        seen = np.empty(len(self.rows))
        fold(cells, self.rows, self.half, *self.entries, self.most, seen)
        return seen

    def unfold(self, weights: Array) -> Array:
        """Return Σ_y w[y]·Π_g M_g[y_g, x_g] for each cell x."""
        from deniable.estimation._roll_kernels import unfold  # noqa: PLC0415 -- slow to load

        table = np.zeros(self.shape)
        unfold(weights, self.rows, self.half, *self.entries, self.most, table.reshape(-1))
        table = _without_sums(table, self)
        for axis, matrix in enumerate(self.met):
            if matrix is not None:
                table = _along(matrix.T, table, axis)
        return table


def route_of(matrices: Sequence[Array], places: Sequence[Places]) -> Route:
    """Return the cheapest way: which groups are met with the table, and which pick."""
    picking = [_entries(matrix) for matrix in matrices]
    best: tuple[float, tuple[bool, ...]] | None = None
    for chosen in product((False, True), repeat=len(matrices)):
        effort = _effort(matrices, picking, chosen, len(places[0]))
        if best is None or effort < best[0]:
            best = effort, chosen
    assert best is not None  # noqa: S101
    effort, chosen = best
    met = tuple(m if yes else None for m, yes in zip(matrices, chosen, strict=True))
    entries = [
        _themselves(len(matrix)) if yes else one
        for matrix, one, yes in zip(matrices, picking, chosen, strict=True)
    ]
    shape = _shape(matrices, chosen)
    half = _half([_most(one) for one in entries])
    firsts = np.cumsum([0, *(len(one.start) - 1 for one in entries)])
    rows = np.stack([at + first for at, first in zip(places, firsts, strict=False)], axis=1)
    most = max(math.prod(_most(one) for one in part) for part in (entries[:half], entries[half:]))
    return Route(met, shape, _strided(entries, shape), rows, half, most, int(effort))


def _effort(
    matrices: Sequence[Array], picking: Sequence[Entries], met: Sequence[bool], reports: int
) -> float:
    """Return how many numbers a map works out this way; too large a table is out of question."""
    cells = math.prod(_shape(matrices, met))
    if cells > MOST_MET and any(met):
        return math.inf
    work = float(cells)
    picks = 1.0
    size = math.prod(matrix.shape[1] for matrix in matrices)
    for matrix, one, yes in zip(matrices, picking, met, strict=True):
        if yes:
            size = size // matrix.shape[1] * matrix.shape[0]
            work += size * matrix.shape[1]
        else:
            picks *= len(one.place) / max(1, len(matrix))
    return work + picks * reports


def _shape(matrices: Sequence[Array], met: Sequence[bool]) -> tuple[int, ...]:
    pairs = zip(matrices, met, strict=True)
    return tuple(len(matrix) if yes else matrix.shape[1] + 1 for matrix, yes in pairs)


def _entries(matrix: Array) -> Entries:
    """Return each row as its level, which stands for the sum, and the cells that differ.

    The level is a row's lowest number or its highest, whichever more cells have.
    """
    low, high = matrix.min(axis=1), matrix.max(axis=1)
    lower = (matrix == low[:, None]).sum() >= (matrix == high[:, None]).sum()
    level = low if lower else high
    who, cells = np.nonzero(matrix != level[:, None])
    count = np.bincount(who, minlength=len(matrix)) + 1
    start = np.concatenate([[0], np.cumsum(count)])
    place = np.full(start[-1], matrix.shape[1])
    factor = np.empty(start[-1])
    factor[start[1:] - 1] = level
    spikes = np.ones(start[-1], bool)
    spikes[start[1:] - 1] = False
    place[spikes], factor[spikes] = cells, (matrix - level[:, None])[who, cells]
    return Entries(start, place, factor)


def _themselves(values: int) -> Entries:
    """Return what picks row r by itself."""
    return Entries(np.arange(values + 1), np.arange(values), np.ones(values))


def _most(entries: Entries) -> int:
    return int(np.diff(entries.start).max(initial=1))


def _half(most: Sequence[int]) -> int:
    """Return how many of the axes make as many picks as all others, or nearly."""
    sums = [math.prod(most[:half]) + math.prod(most[half:]) for half in range(1, max(2, len(most)))]
    return 1 + int(np.argmin(sums))


def _strided(entries: Sequence[Entries], shape: Sequence[int]) -> Entries:
    """Return the rows of all axes one after another."""
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    begins = np.cumsum([0, *(len(one.place) for one in entries)])
    starts = [one.start[:-1] + begin for one, begin in zip(entries, begins, strict=False)]
    places = [one.place * stride for one, stride in zip(entries, strides, strict=True)]
    return Entries(
        np.concatenate([*starts, begins[-1:]]),
        np.concatenate(places),
        np.concatenate([one.factor for one in entries]),
    )


def _with_sums(part: Array, route: Route) -> Array:
    """Return the table with its sum over an axis beside the cells, where reports pick."""
    result = np.empty(route.shape)
    cells = tuple(slice(size) for size in part.shape)
    result[cells] = part
    for axis, matrix in enumerate(route.met):
        if matrix is None:
            (*before, own), after = cells[: axis + 1], cells[axis + 1 :]
            full = tuple(slice(None) for _ in before)
            total = result[(*full, own, *after)].sum(axis=axis)
            result[(*full, own.stop, *after)] = total
    return result


def _without_sums(part: Array, route: Route) -> Array:
    """Return the cells with what stands for their sum added to each; the transpose of that."""
    for axis, matrix in enumerate(route.met):
        if matrix is None:
            turned = np.moveaxis(part, axis, 0)
            turned[:-1] += turned[-1]
            part = np.moveaxis(turned[:-1], 0, axis)
    return part


def _along(matrix: Array, table: Array, axis: int) -> Array:
    """Return the table with one axis mapped."""
    before, after = table.shape[:axis], table.shape[axis + 1 :]
    if not after:
        last: Array = table.reshape(-1, matrix.shape[1]) @ matrix.T
        return last.reshape(*before, len(matrix))
    result: Array = matrix @ table.reshape(math.prod(before), matrix.shape[1], math.prod(after))
    return result.reshape(*before, len(matrix), *after)
