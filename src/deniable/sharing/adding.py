"""Adding: a sheet filled in by devices and summed by aggregators, wherever they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from deniable.bulk.keystream import Keystream
from deniable.channels.coin import fresh_id
from deniable.errors import SharingError
from deniable.sharing.aggregator import agreed_on, combine, shares_for
from deniable.sharing.kind import check_kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from deniable.sharing.kind import Kind
    from deniable.sharing.shares import Vector
    from deniable.sharing.sheet import Sheet


class Adding(Protocol):
    """One who adds up shares, here or elsewhere."""

    def accept(self, identity: bytes, share: Vector, kind: Kind) -> None:
        """Keep a respondent's share, once."""

    @property
    def kind(self) -> Kind | None:
        """Return of what kind its shares are, once it is known."""

    @property
    def identities(self) -> frozenset[bytes]:
        """Return whose shares have come."""

    def total(self, agreed: Iterable[bytes]) -> Vector:
        """Return the sum of the shares of those whom all agreed on."""


def send_shares(
    sheet: Sheet,
    places: NDArray[np.int64],
    aggregators: Sequence[Adding],
    *,
    kind: Kind | None = None,
    advance: Callable[[int], None] | None = None,
) -> int:
    """Let everybody send one share to each aggregator; return how many could not.

    Each device draws an id of its own. One who does not reach all is left out of the sum.

    Args:
        sheet: What is counted.
        places: Where each respondent's ones stand, a row each.
        aggregators: Those who add up.
        kind: What the shares are made of; exact ones of the sheet if not given.
        advance: Told how many respondents are done since the last call.

    Raises:
        SharingError: An aggregator was reached and refuses; it would refuse everybody.
    """
    kind = kind_of(sheet) if kind is None else kind
    stream = Keystream()
    lost = 0
    for row in places:
        identity = fresh_id()
        shares = shares_for(sheet.vector(row), len(aggregators), stream)
        try:
            for aggregator, share in zip(aggregators, shares, strict=True):
                aggregator.accept(identity, share, kind)
        except SharingError as error:
            # Ids are fresh, so what is refused of one would be refused of everybody.
            if not isinstance(error.__cause__, OSError):
                raise
            lost += 1
        if advance is not None:
            advance(1)
    return lost


def gather(
    sheet: Sheet, aggregators: Sequence[Adding], *, kind: Kind | None = None
) -> tuple[Vector, int]:
    """Return the sums and of how many: the aggregators agree on who is there, then show.

    ``kind``: of what the shares must be made, exact ones of the sheet if not given.

    Raises:
        SharingError: The shares are of another kind, too few have reached all, or the sums
            cannot be right. No total is shown before the kind is known to be right.
    """
    kind = kind_of(sheet) if kind is None else kind
    check_kind(agreed_kind(aggregators), kind)
    agreed = agreed_on(one.identities for one in aggregators)
    totals = [one.total(agreed) for one in aggregators]
    if len({total.tobytes() for total in totals}) < len(totals):
        problem = "two aggregators hold the same shares, and so are one"
        raise SharingError(problem, given=len(totals), expected="each of them named once")
    if any(total.shape != (sheet.width,) for total in totals):
        problem = "a total does not fit the tables"
        given = [total.size for total in totals]
        raise SharingError(problem, given=given, expected=f"{sheet.width} words from each")
    sums = combine(totals)
    sheet.check(sums, len(agreed), margins=kind.epsilon is None)
    return sums, len(agreed)


def agreed_kind(aggregators: Sequence[Adding]) -> Kind:
    """Return of what kind everybody's shares are, or say that the aggregators differ."""
    found = [one.kind for one in aggregators]
    kinds = {kind for kind in found if kind is not None}
    if None in found or not kinds:
        problem = "an aggregator has no shares yet"
        raise SharingError(problem, expected="shares at every aggregator")
    first, *others = sorted(kinds, key=lambda kind: kind.text)
    if others:
        problem = "the aggregators hold shares of different kinds"
        given = " and ".join(kind.text for kind in (first, *others))
        raise SharingError(problem, given=given, expected="the same kind at all of them")
    return first
