"""The one door to randomness.

Every coin that decides what leaves a device is tossed here: nowhere else in the
package may the operating system be asked for random bytes (the linter checks).
A coin offers four tosses, each spending a fixed number of 32-bit words, so that
Python and the browser turn the same words into the same report:

==================  =====  ====================================================
toss                words  outcome
==================  =====  ====================================================
``heads(head)``     1      true with probability head / 2³²
``pick(bounds)``    1      cell v with probability (bounds[v] − bounds[v−1]) / 2³²
``even(size)``      1      cell v, as even as 2³² allows (``exact.even_weights``)
``below(bound)``    2      exactly uniform integer below ``bound``
==================  =====  ====================================================
"""

from __future__ import annotations

import os
from bisect import bisect_right
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

WORD = 2**32
"""A word is an integer below this."""

KEY_BYTES = 32
ID_BYTES = 16


class Coin(Protocol):
    """What a channel may toss."""

    def heads(self, head: int) -> bool:
        """Return true with probability ``head / 2**32``."""

    def pick(self, bounds: Sequence[int]) -> int:
        """Return the cell whose interval of cumulative weights contains the word."""

    def even(self, size: int) -> int:
        """Return one of ``size`` cells, as evenly as one word allows."""

    def below(self, bound: int) -> int:
        """Return an exactly uniform integer in ``range(bound)``."""


class WordCoin:
    """The four tosses, made of 32-bit words that a subclass supplies."""

    __slots__ = ()

    def word(self) -> int:
        """Return the next 32-bit word."""
        raise NotImplementedError

    def heads(self, head: int) -> bool:
        """Return true with probability ``head / 2**32``."""
        return self.word() < head

    def pick(self, bounds: Sequence[int]) -> int:
        """Return the cell whose interval of cumulative weights contains the word."""
        return bisect_right(bounds, self.word())

    def even(self, size: int) -> int:
        """Return one of ``size`` cells, as evenly as one word allows.

        The first ``2**32 % size`` cells weigh one more than the others.
        """
        word = self.word()
        weight, longer = divmod(WORD, size)
        turn = longer * (weight + 1)
        if word < turn:
            return word // (weight + 1)
        return longer + (word - turn) // weight

    def below(self, bound: int) -> int:
        """Return an exactly uniform integer in ``range(bound)``.

        Two words make a 64-bit number; the incomplete last stretch is thrown
        again (with probability below bound / 2**64: in practice, never).
        """
        limit = WORD * WORD - WORD * WORD % bound
        while True:
            number = self.word() * WORD + self.word()
            if number < limit:
                return number % bound


class SystemCoin(WordCoin):
    """The coin of the operating system. It keeps no state, so a fork repeats nothing."""

    __slots__ = ()

    def word(self) -> int:
        """Return four bytes of the operating system's generator."""
        return int.from_bytes(os.urandom(4), "little")


def fresh_key() -> bytes:
    """Return a new key for a keystream of coins (see ``deniable.bulk``)."""
    return os.urandom(KEY_BYTES)


def fresh_id() -> bytes:
    """Return a new report id, independent of everything else."""
    return os.urandom(ID_BYTES)
