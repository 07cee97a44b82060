"""The loops of ``bump``: a diagonal plus a matrix of rank one, along the axes of a large table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import prange

from deniable.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Sizes = NDArray[np.int64]
    Flags = NDArray[np.bool_]

LOOSE = {"reassoc", "contract", "nsz"}
"""Sums may be taken in any order, so that they become vector instructions."""


PAIR = 2
"""An axis of two cells is a two by two matrix; loops over two would only slow it down."""

AT_ONCE = 4
"""Rows that are summed together, so that the running sums are touched less often."""


@compiled(fastmath=LOOSE)
def mend_rows(block: Array, own: Array, every: Array, weight: Array) -> None:
    """Apply a bump to each row."""
    if block.shape[1] == PAIR:
        keep, lose = own[0] + every[0] * weight[0], every[0] * weight[1]
        gain, hold = every[1] * weight[0], own[1] + every[1] * weight[1]
        for row in range(block.shape[0]):
            first, second = block[row, 0], block[row, 1]
            block[row, 0] = keep * first + lose * second
            block[row, 1] = gain * first + hold * second
        return
    for row in range(block.shape[0]):
        total = 0.0
        for cell in range(block.shape[1]):
            total += weight[cell] * block[row, cell]
        for cell in range(block.shape[1]):
            block[row, cell] = own[cell] * block[row, cell] + every[cell] * total


@compiled(fastmath=LOOSE)
def mend_planes(block: Array, own: Array, every: Array, weight: Array, totals: Array) -> None:
    """Apply a bump along the middle axis, running along the last one."""
    depth, width = block.shape[1], block.shape[2]
    if depth == PAIR:
        keep, lose = own[0] + every[0] * weight[0], every[0] * weight[1]
        gain, hold = every[1] * weight[0], own[1] + every[1] * weight[1]
        for plane in range(block.shape[0]):
            for place in range(width):
                first, second = block[plane, 0, place], block[plane, 1, place]
                block[plane, 0, place] = keep * first + lose * second
                block[plane, 1, place] = gain * first + hold * second
        return
    for plane in range(block.shape[0]):
        for place in range(width):
            totals[place] = 0.0
        for cell in range(depth):
            share = weight[cell]
            for place in range(width):
                totals[place] += share * block[plane, cell, place]
        for cell in range(depth):
            mine, of_all = own[cell], every[cell]
            for place in range(width):
                block[plane, cell, place] = (
                    mine * block[plane, cell, place] + of_all * totals[place]
                )


@compiled(fastmath=LOOSE)
def gather_columns(block: Array, weight: Array, totals: Array) -> None:
    """Add the weighted sum of the rows to the totals."""
    depth, width = block.shape
    cell = 0
    while cell + AT_ONCE <= depth:
        a, b, c, d = weight[cell], weight[cell + 1], weight[cell + 2], weight[cell + 3]
        for place in range(width):
            totals[place] += (
                a * block[cell, place]
                + b * block[cell + 1, place]
                + c * block[cell + 2, place]
                + d * block[cell + 3, place]
            )
        cell += AT_ONCE
    while cell < depth:
        for place in range(width):
            totals[place] += weight[cell] * block[cell, place]
        cell += 1


@compiled(fastmath=LOOSE)
def spread_columns(block: Array, own: Array, every: Array, totals: Array) -> None:
    """Give each row what it keeps of itself and takes of the sum."""
    for cell in range(block.shape[0]):
        mine, of_all = own[cell], every[cell]
        for place in range(block.shape[1]):
            block[cell, place] = mine * block[cell, place] + of_all * totals[place]


@compiled(parallel=True)
def mend_tall(table: Array, workers: int, own: Array, every: Array, weight: Array) -> None:
    """Apply one bump along the first axis of a matrix; each worker has some of the rows."""
    depth, inner = table.shape
    parts = np.zeros((workers, inner))
    for worker in prange(workers):
        first, last = depth * worker // workers, depth * (worker + 1) // workers
        gather_columns(table[first:last], weight[first:last], parts[worker])
    totals = parts.sum(axis=0)
    for worker in prange(workers):
        first, last = depth * worker // workers, depth * (worker + 1) // workers
        spread_columns(table[first:last], own[first:last], every[first:last], totals)


@compiled(fastmath=LOOSE)
def mend_columns(block: Array, own: Array, every: Array, weight: Array, totals: Array) -> None:
    """Apply one bump along the first axis of some columns, row after row, in two looks."""
    width = block.shape[1]
    totals[:width] = 0.0
    gather_columns(block, weight, totals)
    spread_columns(block, own, every, totals)


@compiled()
def mend_axes(
    block: Array,
    width: int,
    sizes: Sizes,
    touched: Flags,
    own: Array,
    every: Array,
    weight: Array,
    totals: Array,
) -> None:
    """Apply the bumps of several axes to one block that fits into the cache.

    The vectors of all axes stand one after another.
    """
    inner = width
    last = own.size
    for axis in range(sizes.size - 1, -1, -1):
        size = sizes[axis]
        first = last - size
        if touched[axis]:
            vectors = own[first:last], every[first:last], weight[first:last]
            if inner == 1:
                mend_rows(block.reshape(-1, size), *vectors)
            else:
                mend_planes(block.reshape(-1, size, inner), *vectors, totals)
        inner *= size
        last = first


@compiled()
def mend_share(
    turn: tuple[int, int],
    table: Array,
    tile: int,
    sizes: Sizes,
    touched: Flags,
    own: Array,
    every: Array,
    weight: Array,
) -> None:
    """Do the share of ``mend`` of the worker with this number, of so many workers.

    Each worker has one piece of memory for all its tiles: asking for a new one each time
    takes longer than the arithmetic.
    """
    worker, workers = turn
    outer, middle, inner = table.shape
    tiles = (inner + tile - 1) // tile
    alone = sizes.size == 1 and inner > 1
    totals = np.empty(tile if alone else middle * tile)
    room = np.empty(0 if alone or tile == inner else middle * tile)
    for job in range(worker, outer * tiles, workers):
        plane, start = job // tiles, job % tiles * tile
        width = min(tile, inner - start)
        if alone:
            mend_columns(table[plane, :, start : start + width], own, every, weight, totals)
        elif width == inner:
            block = table[plane].reshape(-1)
            mend_axes(block, width, sizes, touched, own, every, weight, totals)
        else:  # rows far apart fight for the same lines of the cache: work on a copy
            copy = room[: middle * width].reshape(middle, width)
            copy[:] = table[plane, :, start : start + width]
            mend_axes(copy.reshape(-1), width, sizes, touched, own, every, weight, totals)
            table[plane, :, start : start + width] = copy


@compiled(parallel=True)
def mend(
    workers: int,
    table: Array,
    tile: int,
    sizes: Sizes,
    touched: Flags,
    own: Array,
    every: Array,
    weight: Array,
) -> None:
    """Apply the bumps of the axes that make up the middle axis of (outer, middle, inner)."""
    for worker in prange(workers):
        mend_share((worker, workers), table, tile, sizes, touched, own, every, weight)
