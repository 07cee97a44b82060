"""Which channel for m cells at level ε?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from deniable.channels.exact import check_size
from deniable.channels.k_ary import KAry, k_ary
from deniable.channels.local_hash import local_hash
from deniable.channels.matrix import rounded_laplace
from deniable.channels.moments import variances
from deniable.channels.subset import SubsetSelection, best_subset, subset
from deniable.channels.unary import optimized_unary, symmetric_unary
from deniable.errors import ChannelError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.channels.contract import Channel

BUILDERS: dict[str, Callable[[float, int], Channel]] = {
    "k-ary": k_ary,
    "subset": subset,
    "symmetric-unary": symmetric_unary,
    "optimized-unary": optimized_unary,
    "local-hash": local_hash,
    "rounded-laplace": rounded_laplace,
}
"""Channels by name, each built for a level and a number of cells."""


def channel_for(name: str, epsilon: float, size: int) -> Channel:
    """Return the named channel, or the best one, of at most ``epsilon`` over ``size`` cells."""
    if name == "best":
        return best(epsilon, size)
    if not isinstance(name, str) or name not in BUILDERS:
        problem = f"there is no channel called {name!r}"
        raise ChannelError(problem, expected=nearest(str(name), [*BUILDERS, "best"]))
    return BUILDERS[name](epsilon, size)


def best(epsilon: float, size: int) -> KAry | SubsetSelection:
    """Return the channel of least total variance: k-ary, or subset selection for more cells.

    The change is near m = 1.5·(e^ε + 1).

    k-ary is subset selection with s = 1, and it is sent in fewer bytes.

    >>> best(1.0, 4).kind, best(1.0, 16).kind
    ('k-ary', 'subset')
    """
    check_size(size)
    if best_subset(epsilon, size) == 1:
        return k_ary(epsilon, size)
    return subset(epsilon, size)


def mean_error(channel: Channel, people: int = 1) -> float:
    """Return the root mean squared error of a cell at even π, by the closed formula."""
    even = [1 / channel.size] * channel.size
    total = float(sum(variances(channel, even)))
    return math.sqrt(total / channel.size / people)
