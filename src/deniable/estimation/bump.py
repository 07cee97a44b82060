"""The loop behind every two-coin axis: out = α·in + β·Σ(γ·in), in place, in few memory passes.

A two-coin channel, its transpose, its inverse and the squares of its inverse are all a
diagonal plus a matrix of rank one. Along one axis of a table that costs O(cells), where a
matrix product costs O(d·cells). Neighbouring axes are done together on blocks that fit
into the processor's cache, so that a table of many small axes is read and written once or
twice, not once for each axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

BLOCK = 2**15
"""Cells of a block that stays in the cache: 256 KiB."""

TILE = 2**16
"""Cells of a tile of columns of one axis, while that leaves rows of ``WIDE`` cells."""

WIDE = 2**12
"""Cells of a piece of a row whose running sums stay in the nearest cache."""

TALL = 2**15
"""Longest rows of which each worker can keep the running sums of all."""

NARROW = 2**11
"""Most cells of the axes done together when they are not the last ones."""

NARROWEST = 64
"""Cells of a row that are worth fetching from memory together."""

SMALL = 2**16
"""Tables up to this size are left to NumPy: no compilation, hardly slower."""

ALONE = 2**19
"""Tables up to this size are done by one worker: others would be waited for on a busy machine."""


@dataclass(frozen=True, slots=True, eq=False)
class Bump:
    """The matrix diag(own) + all · weightᵀ: what two coins do to one axis, in vectors.

    Attributes:
        own: What each cell keeps of itself.
        every: What each cell takes of the weighted sum of all.
        weight: What each cell gives to that sum.
    """

    own: Array
    every: Array
    weight: Array

    def dense(self) -> Array:
        """Return the matrix itself.

        >>> Bump(np.ones(2), np.array([1.0, 2.0]), np.ones(2)).dense().tolist()
        [[2.0, 1.0], [2.0, 3.0]]
        """
        return np.diag(self.own) + np.outer(self.every, self.weight)


def along(table: Array, bumps: Sequence[Bump | None]) -> Array:
    """Return the table with one bump applied along each axis; ``None`` leaves an axis alone."""
    if table.size <= SMALL:
        for axis, bump in enumerate(bumps):
            if bump is not None:
                table = _plain(table, axis, bump)
        return table
    result = np.array(table, dtype=np.float64, order="C")
    along_in_place(result, bumps)
    return result


def along_in_place(table: Array, bumps: Sequence[Bump | None]) -> None:
    """Do the same on the table itself, which must be contiguous; no second table is made."""
    shape = table.shape
    end = len(shape)
    while end:
        begin = _segment(shape, end)
        if any(bump is not None for bump in bumps[begin:end]):
            _mend_segment(table, shape, (begin, end), bumps)
        end = begin


def _segment(shape: Sequence[int], end: int) -> int:
    """Return where the axes begin that can be done together with the one before ``end``."""
    most = BLOCK if end == len(shape) else NARROW
    begin, cells = end - 1, shape[end - 1]
    while begin and cells * shape[begin - 1] <= most:
        begin -= 1
        cells *= shape[begin]
    return begin


def _mend_segment(
    table: Array, shape: Sequence[int], span: tuple[int, int], bumps: Sequence[Bump | None]
) -> None:
    from numba import get_num_threads  # noqa: PLC0415 -- slow to load

    from deniable.estimation import _axis_kernels as kernels  # noqa: PLC0415 -- compiles

    begin, end = span
    sizes = shape[begin:end]
    middle, inner = math.prod(sizes), math.prod(shape[end:])
    workers = 1 if table.size <= ALONE else get_num_threads()
    chosen = [_or_nothing(bump, size) for bump, size in zip(bumps[begin:end], sizes, strict=True)]
    own, every, weight = (
        np.concatenate([getattr(bump, name) for bump in chosen])
        for name in ("own", "every", "weight")
    )
    if span == (0, 1) and 1 < inner <= TALL:
        tall = table.reshape(middle, inner)
        if workers > 1:
            kernels.mend_tall(tall, workers, own, every, weight)
        else:
            kernels.mend_columns(tall, own, every, weight, np.empty(inner))
        return
    work = (
        table.reshape(-1, middle, inner),
        _tile(sizes, inner, workers),
        np.array(sizes, dtype=np.int64),
        np.array([bump is not None for bump in bumps[begin:end]]),
        own,
        every,
        weight,
    )
    if workers > 1:
        kernels.mend(workers, *work)
    else:
        kernels.mend_share((0, 1), *work)


def _tile(sizes: Sequence[int], inner: int, workers: int) -> int:
    """Return how many columns are done at once."""
    if len(sizes) > 1:
        return min(inner, max(NARROWEST, BLOCK // math.prod(sizes)))
    share = max(NARROWEST, -(-inner // workers))
    return min(inner, share, max(WIDE, TILE // sizes[0]))


def _or_nothing(bump: Bump | None, size: int) -> Bump:
    return bump or Bump(np.ones(size), np.zeros(size), np.zeros(size))


def _plain(table: Array, axis: int, bump: Bump) -> Array:
    shape = [1] * table.ndim
    shape[axis] = -1
    total = np.tensordot(table, bump.weight, axes=(axis, 0))
    return bump.own.reshape(shape) * table + bump.every.reshape(shape) * np.expand_dims(total, axis)
