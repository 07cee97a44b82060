"""Which reports can occur: ``channel.check`` for many reports at once.

A report that no coin could have led to is not counted anywhere: a hostile −1 is not the
last category, and a set that is no set supports nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels import LocalHash, Matrix, SubsetSelection, Unary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.channels import Channel

BITS = 32


def all_possible(channel: Channel, values: NDArray[np.integer[Any]]) -> bool:
    """Tell whether all of some reports, one in each row, can occur. Quick for plain cells."""
    if not values.size:
        return True
    if values.shape[1] == 1 and not isinstance(channel, Matrix | Unary):
        return bool(values.min() >= 0 and values.max() < channel.size)
    return bool(possible(channel, values).all())


def possible(channel: Channel, values: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Tell of each report, one in each row, whether it can occur."""
    limits = np.array(_limits(channel), np.int64)
    signed = values.astype(np.int64, copy=False)
    inside: NDArray[np.bool_] = np.all((signed >= 0) & (signed < limits), axis=1)
    if isinstance(channel, SubsetSelection):
        inside &= np.all(np.diff(signed, axis=1) > 0, axis=1)
    if isinstance(channel, Matrix):
        ever = np.array([any(column) for column in zip(*channel.rows, strict=True)])
        inside[inside] &= ever[signed[inside, 0]]
    return inside


def _limits(channel: Channel) -> list[int]:
    """Return for each integer of a report the number that it stays below."""
    match channel:
        case Matrix():
            return [len(channel.rows[0])]
        case Unary():
            whole, rest = divmod(channel.size, BITS)
            return [1 << BITS] * whole + ([1 << rest] if rest else [])
        case LocalHash():
            return [channel.prime, channel.prime, channel.buckets]
        case _:
            return [channel.size] * channel.width
