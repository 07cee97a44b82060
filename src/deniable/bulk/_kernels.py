"""The hot loops of bulk randomization: the four tosses of ``channels.coin``, many rows at a time.

Every loop reads a fixed number of 32-bit words per row, in the order in which the device
would toss them, and so turns the same words into the same report. Where the device's
``below`` would throw its words again (with probability below bound / 2**64), the row's
number is written to ``again`` and the caller finishes the row with the device's own code.

Integers are unsigned throughout: numba makes a float of an unsigned and a signed one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from deniable.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Unsigned: TypeAlias = NDArray[np.unsignedinteger[Any]]
    Words: TypeAlias = NDArray[np.uint32]
    Wide: TypeAlias = NDArray[np.uint64]

HALF = np.uint64(32)
ONE = np.uint64(1)
NONE = np.uint64(0)
LOW = np.uint64(0xFFFFFFFF)
BITS = 32
WIDE_BITS = 64
SIX, LOW_SIX = np.uint64(6), np.uint64(63)
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
PLACES = np.zeros(WIDE_BITS, np.uint64)
PLACES[[(0x03F79D71B4CB0A89 << bit & (1 << WIDE_BITS) - 1) >> 58 for bit in range(WIDE_BITS)]] = (
    range(WIDE_BITS)
)
"""Where a single bit stands, by the six highest bits of its product with ``DE_BRUIJN``."""

FAIR = 65_536
"""Up to this size ``word * size >> 32`` is the even cell or the one after it."""


@compiled(inline="always")
def even(word: np.uint64, size: np.uint64, weight: np.uint64, longer: np.uint64) -> np.uint64:
    """Return ``WordCoin.even``: the first ``longer`` cells weigh ``weight + 1``, the rest one less.

    Cell v begins at ``v * weight + min(v, longer)``, never before v / size of all words, and
    less than one weight after it; so the multiplication misses by one cell at most.
    """
    cell = word * size >> HALF
    begins = cell * weight + min(cell, longer)
    return cell - ONE if word < begins else cell


@compiled(inline="always")
def even_of_many(word: np.uint64, weight: np.uint64, longer: np.uint64) -> np.uint64:
    """Return ``WordCoin.even`` for more cells than ``FAIR``."""
    turn = longer * (weight + ONE)
    if word < turn:
        return word // (weight + ONE)
    return longer + (word - turn) // weight


@compiled(inline="always")
def remainder(number: np.uint64, bound: np.uint64, magic: np.uint64) -> np.uint64:
    """Return ``number % bound`` by multiplication; ``magic`` is (2**64 − 1) // bound.

    The upper half of number · magic is the quotient or one less, so one subtraction mends it.
    """
    high, low = number >> HALF, number & LOW
    magic_high, magic_low = magic >> HALF, magic & LOW
    left, right = high * magic_low, low * magic_high
    carried = (low * magic_low >> HALF) + (left & LOW) + (right & LOW) >> HALF
    quotient = high * magic_high + (left >> HALF) + (right >> HALF) + carried
    rest = number - quotient * bound
    return rest - bound if rest >= bound else rest


@compiled()
def even_coins(
    cells: Unsigned, words: Words, out: Unsigned, head: np.uint64, size: np.uint64
) -> None:
    """Randomize by ``KAry``: two words a row."""
    weight = (ONE << HALF) // size
    longer = (ONE << HALF) % size
    if size <= np.uint64(FAIR):
        for row in range(cells.size):
            truth = np.uint64(words[2 * row]) < head
            fake = even(np.uint64(words[2 * row + 1]), size, weight, longer)
            out[row] = np.uint64(cells[row]) if truth else fake
    else:
        for row in range(cells.size):
            truth = np.uint64(words[2 * row]) < head
            fake = even_of_many(np.uint64(words[2 * row + 1]), weight, longer)
            out[row] = np.uint64(cells[row]) if truth else fake


@compiled()
def picked_coins(
    cells: Unsigned,
    words: Words,
    out: Unsigned,
    head: np.uint64,
    bounds: Wide,
    guide: Words,
    shift: np.uint64,
) -> None:
    """Randomize by ``TwoCoin``: two words a row."""
    for row in range(cells.size):
        truth = np.uint64(words[2 * row]) < head
        word = np.uint64(words[2 * row + 1])
        fake = np.uint64(guide[word >> shift])
        while word >= bounds[fake]:
            fake += ONE
        out[row] = np.uint64(cells[row]) if truth else fake


@compiled()
def picked_columns(
    cells: Unsigned, words: Words, out: Unsigned, bounds: Wide, guide: Words, shift: np.uint64
) -> None:
    """Randomize by ``Matrix``: one word a row; ``bounds`` and ``guide`` have a line per answer."""
    for row in range(cells.size):
        answer = np.intp(cells[row])
        word = np.uint64(words[row])
        column = np.uint64(guide[answer, word >> shift])
        while word >= bounds[answer, column]:
            column += ONE
        out[row] = column


@compiled()
def bit_coins(
    cells: Unsigned, words: Words, out: Unsigned, keep: np.uint64, flip: np.uint64, size: int
) -> None:
    """Randomize by ``Unary``: one word a cell of each row; the first cell is the lowest bit."""
    for row in range(cells.shape[0]):
        answer = np.intp(cells[row])
        at = row * size
        for part in range(out.shape[1]):
            packed = NONE
            for cell in range(part * BITS, min(size, part * BITS + BITS)):
                odds = keep if cell == answer else flip
                bit = np.uint64(np.uint64(words[at + cell]) < odds)
                packed |= bit << np.uint64(cell % BITS)
            out[row, part] = packed


@compiled()
def subset_coins(
    cells: Unsigned,
    words: Words,
    out: Unsigned,
    again: Words,
    head: np.uint64,
    bounds: Wide,
) -> int:
    """Randomize by ``SubsetSelection``: one word, and two for each of the s cells, a row.

    ``bounds`` has a line (bound, largest number kept, magic) for each of the bounds
    m − s … m − 1; the first is tossed for only if the truth is out. The set is gathered as
    bits, so that it comes out ascending.
    """
    chosen = out.shape[1]
    size = np.intp(bounds[chosen - 1, 0]) + 1
    bits = np.zeros(size // WIDE_BITS + 1, np.uint64)
    redone = 0
    for row in range(cells.size):
        at = row * (2 * chosen + 1)
        answer = np.uint64(cells[row])
        inside = np.uint64(words[at]) < head
        at += 1
        kept = True
        for place in range(1 if inside else 0, chosen):
            bound = bounds[place, 0]
            number = np.uint64(words[at]) << HALF | np.uint64(words[at + 1])
            kept = kept and number <= bounds[place, 1]
            cell = remainder(number, bound, bounds[place, 2])
            cell += np.uint64(cell >= answer)
            last = bound - ONE + np.uint64(bound > answer)
            met = bits[cell >> SIX] >> (cell & LOW_SIX) & ONE
            cell = last if met else cell
            bits[cell >> SIX] |= ONE << (cell & LOW_SIX)
            at += 2
        if inside:
            bits[answer >> SIX] |= ONE << (answer & LOW_SIX)
        spread(bits, out[row])
        if not kept:
            again[redone] = row
            redone += 1
    return redone


@compiled(inline="always")
def spread(bits: Wide, out: Unsigned) -> None:
    """Write the numbers of the bits that are set, ascending, and clear them."""
    place = 0
    for part in range(bits.size):
        left = bits[part]
        while left != NONE:
            lowest = left & (~left + ONE)
            out[place] = np.uint64(part * WIDE_BITS) + PLACES[lowest * DE_BRUIJN >> np.uint64(58)]
            place += 1
            left ^= lowest
        bits[part] = NONE


@compiled()
def hashed_coins(
    cells: Unsigned,
    words: Words,
    out: Unsigned,
    again: Words,
    head: np.uint64,
    field: Wide,
    buckets: Wide,
) -> int:
    """Randomize by ``LocalHash``: six words a row; two lines (bound, largest kept, magic)."""
    prime, top, magic = field[0], field[1], field[2]
    size = buckets[0]
    weight = (ONE << HALF) // size
    longer = (ONE << HALF) % size
    redone = 0
    for row in range(cells.size):
        at = 6 * row
        one = np.uint64(words[at]) << HALF | np.uint64(words[at + 1])
        two = np.uint64(words[at + 2]) << HALF | np.uint64(words[at + 3])
        factor = remainder(one, prime, magic)
        shift = remainder(two, prime, magic)
        hashed = remainder(factor * np.uint64(cells[row]) + shift, prime, magic)
        bucket = remainder(hashed, size, buckets[2])
        truth = np.uint64(words[at + 4]) < head
        fake = even_of_many(np.uint64(words[at + 5]), weight, longer)
        out[row, 0] = factor
        out[row, 1] = shift
        out[row, 2] = bucket if truth else fake
        if one > top or two > top:
            again[redone] = row
            redone += 1
    return redone


@compiled()
def drawn_views(words: Words, out: Words, again: Words, ends: Wide, total: Wide) -> int:
    """Draw a view for each row by cumulative weights: two words a row."""
    redone = 0
    for row in range(out.size):
        number = np.uint64(words[2 * row]) << HALF | np.uint64(words[2 * row + 1])
        ticket = remainder(number, total[0], total[2])
        low, high = 0, ends.size - 1
        while low < high:
            middle = (low + high) // 2
            if ticket < ends[middle]:
                high = middle
            else:
                low = middle + 1
        out[row] = low
        if number > total[1]:
            again[redone] = row
            redone += 1
    return redone


@compiled()
def shuffled(order: Words, words: Words) -> None:
    """Shuffle in place (Fisher–Yates): two words a row, even to within size / 2**64."""
    for last in range(order.size - 1, 0, -1):
        bound = np.uint64(last + 1)
        high, low = np.uint64(words[2 * last]), np.uint64(words[2 * last + 1])
        place = np.intp(high * bound + (low * bound >> HALF) >> HALF)
        order[last], order[place] = order[place], order[last]


@compiled()
def composed(cell: Unsigned, column: Unsigned, size: np.uint64) -> None:
    """Append one attribute to the cells of a group: the last attribute runs fastest."""
    for row in range(cell.size):
        cell[row] = np.uint64(cell[row]) * size + np.uint64(column[row])


@compiled()
def looked_up(
    numbers: NDArray[np.integer[Any]], first: int, table: NDArray[np.int64], out: Unsigned
) -> int:
    """Write ``table[number − first]`` for each number; return how many have no entry, or −1."""
    size = np.uint64(table.size)
    outside = 0
    for row in range(numbers.size):
        place = np.uint64(np.int64(numbers[row]) - first)  # below first: a huge number
        cell = table[np.intp(place)] if place < size else np.int64(-1)
        if cell < 0:
            outside += 1
        out[row] = np.uint64(cell)
    return outside
