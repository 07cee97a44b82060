"""Raking: a table scaled until its pairs are those that are known better.

Of all tables with the given pairs, iterative proportional fitting ends at the one nearest
to where it began, in Kullback–Leibler divergence: what the model says about three
attributes and more is kept, what the reports say about two is put in. One round nearly
gets there when the model was fitted to the same reports.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation import _kernels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ROUNDS = 2
LARGE = 2**16
"""Tables of more cells are raked once round: more would take longer than it is worth."""

TINY = 1e-15


def rake(table: Array, pairs: Mapping[tuple[int, int], Array]) -> Array:
    """Return the table with the given pairs, approximately; axes ascend in each key."""
    if not pairs:
        return table
    raked = np.ascontiguousarray(table, np.float64).copy()
    for _ in range(ROUNDS if table.size <= LARGE else 1):
        for (first, second), wanted in pairs.items():
            view = raked.reshape(_five(raked.shape, first, second))
            found = np.zeros(wanted.shape)
            _kernels.sum_pair(view, found)
            _kernels.scale_pair(view, np.where(found > TINY, wanted / np.maximum(found, TINY), 0.0))
    raked /= raked.sum()
    return raked


def _five(shape: tuple[int, ...], first: int, second: int) -> tuple[int, int, int, int, int]:
    """Return the shape with all axes before, between and after two of them joined."""
    between, after = shape[first + 1 : second], shape[second + 1 :]
    return prod(shape[:first]), shape[first], prod(between), shape[second], prod(after)
