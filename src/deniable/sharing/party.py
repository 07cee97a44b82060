"""The secure sum of n parties (Domingo 4.2): everybody counts, nobody shows.

Party i draws r[i, 1] … r[i, n] that sum to 0 modulo n + 1 and sends r[i, j] to party j.
Party j adds what came to its own ones and says the sum aloud. The sum of all that was said
is the sum of the ones; up to n − 2 parties who lay everything together that they know see
two uniform numbers for the other two, tied by their sum only.

All cells of all tables go through at once, as one vector.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import numpy as np

from deniable.bulk.keystream import Keystream
from deniable.errors import SharingError
from deniable.sharing.shares import check_modulus, split, total_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deniable.sharing.shares import Vector, Words

FEWEST_PARTIES: Final = 3
"""Of two parties each would learn the other's vector: the sum less its own."""


class Party:
    """One of the n: it deals, collects, says one vector aloud, and knows the sum."""

    def __init__(
        self, number: int, parties: int, vector: Vector, stream: Words | None = None
    ) -> None:
        """Take part.

        Args:
            number: Which party this is, from 0.
            parties: How many there are, n: three or more.
            vector: What it adds: ones and noughts.
            stream: Where its numbers come from; a secure keystream of its own if not given.
        """
        check_parties(parties)
        if vector.size and int(vector.max()) > 1:
            problem = "a party adds ones and noughts"
            raise SharingError(problem, expected="a vector of cells marked or not")
        check_modulus(parties + 1)
        self.number = number
        self.parties = parties
        self.modulus = parties + 1
        self._vector = vector
        self._stream: Words = Keystream() if stream is None else stream
        self._collected = np.zeros(vector.size, np.uint64)
        self._dealt_by: set[int] = set()

    def deal(self) -> Vector:
        """Return what every party is sent: row j for party j, its own row included."""
        nothing = np.zeros(self._vector.size, np.uint32)
        return split(nothing, self.parties, self.modulus, self._stream)

    def collect(self, dealer: int, row: Vector) -> None:
        """Take in what a party dealt; the same party's row again is refused."""
        if not 0 <= dealer < self.parties or dealer in self._dealt_by:
            problem = "a row came from nobody known, or from the same party twice"
            raise SharingError(problem, given=dealer, expected="one row from each party")
        if row.shape != self._vector.shape or (row.size and int(row.max()) >= self.modulus):
            problem = "a row does not fit the tables"
            raise SharingError(problem, given=dealer, expected=f"numbers below {self.modulus}")
        self._dealt_by.add(dealer)
        self._collected += row

    def announce(self) -> Vector:
        """Return what this party says aloud, once everybody's row has come."""
        missing = sorted(set(range(self.parties)) - self._dealt_by)
        if missing:
            problem = "some parties have dealt nothing"
            expected = "every party's row; begin again without them"
            raise SharingError(problem, given=missing[:8], expected=expected)
        return ((self._collected + self._vector) % self.modulus).astype(np.uint32)


def check_parties(count: int) -> None:
    """Refuse sums of so few that the sum shows a part."""
    if count < FEWEST_PARTIES:
        problem = "a sum of one or two parties shows each the other's vector"
        raise SharingError(problem, given=count, expected=f"{FEWEST_PARTIES} parties or more")


def sum_of(announcements: Mapping[int, Vector], parties: int) -> Vector:
    """Return the sums, from what all the parties said aloud.

    Raises:
        SharingError: Somebody said nothing; without it the sums are uniform noise.
    """
    missing = sorted(set(range(parties)) - set(announcements))
    if missing:
        problem = "some parties have announced nothing"
        raise SharingError(
            problem, given=missing[:8], expected="all of them; begin again without those"
        )
    rows = np.stack([announcements[number] for number in range(parties)])
    return total_of(rows, parties + 1)


def digest_of(announcements: Mapping[int, Vector]) -> str:
    """Return the hash of what was said; parties who compare it see who told them differently."""
    digest = hashlib.sha256()
    for number in sorted(announcements):
        digest.update(number.to_bytes(4, "little"))
        digest.update(announcements[number].astype("<u4").tobytes())
    return digest.hexdigest()


def sum_together(vectors: Sequence[Vector]) -> Vector:
    """Carry the protocol out among parties in one process, each with a keystream of its own."""
    count = len(vectors)
    check_parties(count)
    parties = [Party(number, count, vector) for number, vector in enumerate(vectors)]
    for dealer in parties:
        for receiver, row in zip(parties, dealer.deal(), strict=True):
            receiver.collect(dealer.number, row)
    return sum_of({party.number: party.announce() for party in parties}, count)
