"""Aggregators: two or more who do not collude, instead of n parties who must all be there.

Every device sends one share to each. Each adds up what it got, and only the totals are
laid together. What all of them but one know is uniform noise. A respondent who reached
some aggregators and not others is left out: they agree on who is counted before anybody
shows a total.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from deniable.bulk.keystream import Keystream
from deniable.errors import SharingError
from deniable.sharing.kind import check_kind, check_tables, kind_of
from deniable.sharing.shares import WORD, split, total_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deniable.sharing.kind import Kind
    from deniable.sharing.shares import Vector, Words
    from deniable.sharing.sheet import Sheet

FEWEST_PEOPLE = 3
"""Totals of fewer people than this are not shown: one of two would know the other."""


class Aggregator:
    """One who adds up shares. It never sees a vector, and shows a total only once."""

    def __init__(
        self,
        cells: int,
        fewest: int = FEWEST_PEOPLE,
        *,
        kind: Kind | None = None,
        sheet: Sheet | None = None,
    ) -> None:
        """Begin with nothing.

        Args:
            cells: The width of the sheet.
            fewest: Of how many people a total must be, at least. Whoever asks for the total
                says of whom: a great number leaves them no way to name one and friends.
            kind: What shares must be made of; that of the first share if not given.
            sheet: What they must count, where only their level is left to the first share.
        """
        self.cells = cells
        self.fewest = max(fewest, FEWEST_PEOPLE)
        self.kind = kind
        self._asked = None if sheet is None else kind_of(sheet)
        self._shares: dict[bytes, Vector] = {}
        self._shown: str | None = None

    def accept(self, identity: bytes, share: Vector, kind: Kind) -> None:
        """Keep a respondent's share. The same bytes again are welcome, others are not."""
        if self._asked is not None:
            check_tables(kind, self._asked)
        if self.kind is not None:
            check_kind(kind, self.kind)
        if self._shown is not None:
            problem = "the total was shown already"
            raise SharingError(problem, expected="shares before the sum is closed")
        if share.shape != (self.cells,) or share.dtype != np.uint32:
            problem = "a share does not fit the tables"
            raise SharingError(problem, given=share.size, expected=f"{self.cells} words")
        before = self._shares.get(identity)
        if before is not None and not np.array_equal(before, share):
            problem = "another share came under the same id"
            raise SharingError(problem, given=identity.hex(), expected="the same share, or none")
        self._shares[identity] = share
        self.kind = kind

    @property
    def identities(self) -> frozenset[bytes]:
        """Return whose shares are here."""
        return frozenset(self._shares)

    def total(self, agreed: Iterable[bytes]) -> Vector:
        """Return the sum of the shares of those whom all aggregators agreed on.

        A second set would show, by difference, what those in only one of them said.
        """
        counted = sorted(set(agreed))
        if len(counted) < self.fewest:
            problem = "too few people have arrived at every aggregator"
            raise SharingError(problem, given=len(counted), expected=f"{self.fewest} or more")
        missing = [identity for identity in counted if identity not in self._shares]
        if missing:
            problem = "some of those agreed on never arrived here"
            raise SharingError(problem, given=len(missing), expected="those whom all have")
        mark = hashlib.sha256(b"".join(counted)).hexdigest()
        if self._shown not in {None, mark}:
            problem = "a total of other people was shown already"
            raise SharingError(problem, expected="the same people; a difference would expose some")
        self._shown = mark
        result = np.zeros(self.cells, np.uint32)
        for identity in counted:
            result += self._shares[identity]
        return result


def shares_for(vector: Vector, aggregators: int, stream: Words | None = None) -> Vector:
    """Return what a device sends: row k for aggregator k."""
    return split(vector, aggregators, WORD, Keystream() if stream is None else stream)


def agreed_on(lists: Iterable[frozenset[bytes]]) -> frozenset[bytes]:
    """Return those who have arrived at every aggregator."""
    return frozenset.intersection(*lists)


def combine(totals: Sequence[Vector]) -> Vector:
    """Return the sums, from the totals of all aggregators."""
    return total_of(np.stack(totals), WORD)
