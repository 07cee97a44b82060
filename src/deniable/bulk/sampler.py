"""Sampler: one channel, applied to many cells at once.

A sampler turns a keystream's words into exactly the reports that the channel itself
would make of them, row after row (``tests/exact/test_bulk_samplers.py`` compares them).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from deniable.bulk import _kernels
from deniable.bulk.keystream import TILE_WORDS
from deniable.channels import KAry, LocalHash, Matrix, SubsetSelection, TwoCoin, Unary
from deniable.errors import ChannelError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from deniable.bulk.keystream import Keystream
    from deniable.channels import Channel

    Integers: TypeAlias = NDArray[np.unsignedinteger[Any]]
    Words: TypeAlias = NDArray[np.uint32]

WORD: Final = 2**32
WIDE: Final = 2**64


@dataclass(frozen=True, slots=True)
class Sampler:
    """A channel made ready for many cells.

    Attributes:
        channel: What is sampled; it also finishes the rows that toss again.
        words: Words read for each row.
        dtype: The integers of cells and reports.
        loop: The loop: cells, words, where the reports go, where the numbers of rows go that
            must toss again; returns how many those are.
    """

    channel: Channel
    words: int
    dtype: np.dtype[np.unsignedinteger[Any]]
    loop: Callable[[Integers, Words, Integers, Words], int]

    def randomize(self, cells: Integers, stream: Keystream) -> Integers:
        """Return a report of each cell: one integer a row, or ``width`` of them.

        The caller has made sure that every cell is below ``channel.size``.
        """
        width = self.channel.width
        out = np.empty(cells.size if width == 1 else (cells.size, width), self.dtype)
        rows = TILE_WORDS // self.words
        if rows == 0:
            return self._one_by_one(cells, stream, out)
        again = np.empty(min(rows, cells.size), np.uint32)
        for start in range(0, cells.size, rows):
            part = cells[start : start + rows]
            words = stream.words(part.size * self.words)
            redone = self.loop(part, words, out[start : start + rows], again)
            if redone:
                # The words change with the next toss.
                kept = {
                    int(r): words[r * self.words :][: self.words].copy() for r in again[:redone]
                }
                for row, begun in kept.items():
                    out[start + row] = self.channel.randomize(int(part[row]), stream.coin(begun))
        return out

    def _one_by_one(self, cells: Integers, stream: Keystream, out: Integers) -> Integers:
        """Randomize cells of which even one needs more words than a tile holds."""
        coin = stream.coin(np.empty(0, np.uint32))
        for row, cell in enumerate(cells):
            out[row] = self.channel.randomize(int(cell), coin)
        return out


def sampler_of(channel: Channel) -> Sampler:
    """Make a channel ready for many cells."""
    match channel:
        case KAry():
            return _k_ary(channel)
        case TwoCoin():
            return _two_coin(channel)
        case Matrix():
            return _matrix(channel)
        case SubsetSelection():
            return _subset(channel)
        case Unary():
            return _unary(channel)
        case LocalHash():
            return _local_hash(channel)
        case _:
            problem = "this channel cannot be applied in bulk"
            raise ChannelError(problem, given=getattr(channel, "kind", type(channel).__name__))


def dtype_for(limit: int) -> np.dtype[np.unsignedinteger[Any]]:
    """Return the smallest unsigned integers that hold every number below ``limit``.

    >>> dtype_for(256).name, dtype_for(257).name
    ('uint8', 'uint16')
    """
    return np.min_scalar_type(limit - 1)


def _k_ary(channel: KAry) -> Sampler:
    head, size = np.uint64(channel.head), np.uint64(channel.size)

    def loop(cells: Integers, words: Words, out: Integers, _: Words) -> int:
        _kernels.even_coins(cells, words, out, head, size)
        return 0

    return Sampler(channel, 2, dtype_for(channel.size), loop)


def _two_coin(channel: TwoCoin) -> Sampler:
    head = np.uint64(channel.head)
    bounds, guide, shift = _searchable([channel.bounds])

    def loop(cells: Integers, words: Words, out: Integers, _: Words) -> int:
        _kernels.picked_coins(cells, words, out, head, bounds[0], guide[0], shift)
        return 0

    return Sampler(channel, 2, dtype_for(channel.size), loop)


def _matrix(channel: Matrix) -> Sampler:
    bounds, guide, shift = _searchable(channel.bounds)

    def loop(cells: Integers, words: Words, out: Integers, _: Words) -> int:
        _kernels.picked_columns(cells, words, out, bounds, guide, shift)
        return 0

    return Sampler(channel, 1, dtype_for(max(bounds.shape)), loop)


def _subset(channel: SubsetSelection) -> Sampler:
    head = np.uint64(channel.head)
    bounds = _bounds(range(channel.size - channel.chosen, channel.size))

    def loop(cells: Integers, words: Words, out: Integers, again: Words) -> int:
        sets = out.reshape(cells.size, channel.chosen)
        return int(_kernels.subset_coins(cells, words, sets, again, head, bounds))

    return Sampler(channel, 1 + 2 * channel.chosen, dtype_for(channel.size), loop)


def _unary(channel: Unary) -> Sampler:
    keep, flip = np.uint64(channel.keep), np.uint64(channel.flip)

    def loop(cells: Integers, words: Words, out: Integers, _: Words) -> int:
        parts = out.reshape(cells.size, channel.width)
        _kernels.bit_coins(cells, words, parts, keep, flip, channel.size)
        return 0

    return Sampler(channel, channel.size, np.dtype(np.uint32), loop)


def _local_hash(channel: LocalHash) -> Sampler:
    head = np.uint64(channel.head)
    field, buckets = _bounds([channel.prime, channel.buckets])

    def loop(cells: Integers, words: Words, out: Integers, again: Words) -> int:
        return int(_kernels.hashed_coins(cells, words, out, again, head, field, buckets))

    return Sampler(channel, 6, dtype_for(channel.prime), loop)


def _bounds(bounds: Sequence[int]) -> NDArray[np.uint64]:
    """Return for each bound itself, the largest number that is kept, and (2**64 − 1) // bound."""
    lines = [(bound, WIDE - 1 - WIDE % bound, (WIDE - 1) // bound) for bound in bounds]
    return np.array(lines, np.uint64)


def _searchable(
    bounds: Sequence[Sequence[int]],
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], np.uint64]:
    """Return cumulative weights and, by the highest bits of a word, where to begin in them."""
    table = np.array(bounds, np.uint64)
    bits = min(16, max(4, 2 + (table.shape[1] - 1).bit_length()))
    starts = np.arange(2**bits, dtype=np.uint64) << np.uint64(32 - bits)
    guide = np.stack([np.searchsorted(line, starts, side="right") for line in table])
    return table, guide.astype(np.uint32), np.uint64(32 - bits)
