"""Adding: a sheet filled in by devices and summed by aggregators, wherever they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.bulk.keystream import Keystream
from deniable.channels.coin import fresh_id
from deniable.errors import SharingError
from deniable.sharing.aggregator import agreed_on, combine, shares_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from deniable.sharing.desk import Adding
    from deniable.sharing.shares import Vector
    from deniable.sharing.sheet import Sheet


def send_shares(
    sheet: Sheet,
    places: NDArray[np.int64],
    aggregators: Sequence[Adding],
    *,
    advance: Callable[[int], None] | None = None,
) -> int:
    """Let everybody send one share to each aggregator; return how many could not.

    Each device draws an id of its own. One who does not reach all is left out of the sum.

    Args:
        sheet: What is counted.
        places: Where each respondent's ones stand, a row each.
        aggregators: Those who add up.
        advance: Told how many respondents are done since the last call.
    """
    stream = Keystream()
    lost = 0
    for row in places:
        identity = fresh_id()
        shares = shares_for(sheet.vector(row), len(aggregators), stream)
        try:
            for aggregator, share in zip(aggregators, shares, strict=True):
                aggregator.accept(identity, share)
        except SharingError:
            lost += 1
        if advance is not None:
            advance(1)
    return lost


def gather(
    sheet: Sheet, aggregators: Sequence[Adding], *, margins: bool = True
) -> tuple[Vector, int]:
    """Return the sums and of how many: the aggregators agree on who is there, then show.

    ``margins``: whether tables must agree on the attributes that they share, see ``Sheet``.

    Raises:
        SharingError: Too few have reached all, or the sums cannot be right.
    """
    agreed = agreed_on(one.identities for one in aggregators)
    sums = combine([one.total(agreed) for one in aggregators])
    sheet.check(sums, len(agreed), margins=margins)
    return sums, len(agreed)
