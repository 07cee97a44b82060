"""Shares: a vector of counts divided so that all parts are needed to know anything.

Additive shares modulo M: all parts but one are uniform and independent of everything, the
last is what is missing. Any set of parts that lacks one is uniform, whatever the vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from deniable.bulk.keystream import TILE_WORDS
from deniable.errors import SharingError

if TYPE_CHECKING:
    from typing import Protocol

    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.uint32]

    class Words(Protocol):
        """Where uniform 32-bit words come from."""

        def words(self, count: int) -> Vector:
            """Return the next words, valid until the next call."""


WORD: Final = 2**32
"""The modulus of choice: a word is a share, and more people than there are can be counted."""

FEWEST = 2


def split(vector: Vector, parts: int, modulus: int, stream: Words) -> Vector:
    """Return ``parts`` rows that sum to a vector modulo ``modulus``."""
    if parts < FEWEST:
        problem = "a vector is shared among at least two"
        raise SharingError(problem, given=parts, expected="2 or more")
    check_modulus(modulus)
    result = np.empty((parts, vector.size), np.uint32)
    result[:-1] = uniform((parts - 1) * vector.size, modulus, stream).reshape(parts - 1, -1)
    result[-1] = subtract(vector, total_of(result[:-1], modulus), modulus)
    return result


def uniform(count: int, modulus: int, stream: Words) -> Vector:
    """Return exactly uniform numbers below ``modulus``.

    A word from the incomplete last stretch of multiples of the modulus is thrown again.
    """
    result = np.empty(count, np.uint32)
    limit = WORD - WORD % modulus
    filled = 0
    while filled < count:
        words = stream.words(min(count - filled, TILE_WORDS))
        kept = words if limit == WORD else words[words < limit]
        result[filled : filled + kept.size] = kept
        filled += kept.size
    return reduced(result, modulus)


def total_of(rows: Vector, modulus: int) -> Vector:
    """Return the sum of rows modulo ``modulus``."""
    total: Vector
    if modulus == WORD:
        total = rows.sum(axis=0, dtype=np.uint32)
    else:
        total = (rows.sum(axis=0, dtype=np.uint64) % np.uint64(modulus)).astype(np.uint32)
    return total


def subtract(left: Vector, right: Vector, modulus: int) -> Vector:
    """Return left − right modulo ``modulus``."""
    if modulus == WORD:
        return left - right
    wide = left.astype(np.uint64) + np.uint64(modulus) - right
    return (wide % np.uint64(modulus)).astype(np.uint32)


def reduced(numbers: Vector, modulus: int) -> Vector:
    """Return numbers modulo ``modulus``."""
    return numbers if modulus == WORD else numbers % np.uint32(modulus)


def check_modulus(modulus: int) -> None:
    """Refuse moduli that no word holds."""
    if not FEWEST <= modulus <= WORD:
        problem = "shares are taken modulo a number that a 32-bit word holds"
        raise SharingError(problem, given=modulus, expected=f"{FEWEST} to {WORD}")
