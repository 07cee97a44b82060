"""The different rows of a matrix of integers, and which of them each row is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

LARGEST_KEY = 2**62
SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""2⁶⁴ over the golden ratio: its odd multiples spread neighbours far apart."""


def distinct_rows(rows: Rows) -> tuple[Rows, Rows]:
    """Return the different rows, and the place of each row among them.

    A row that fits into one number is sorted as one number, and the different rows ascend;
    wide rows come in an order of their own, the same every time.

    >>> found, places = distinct_rows(np.array([[1, 2], [0, 3], [1, 2]]))
    >>> found.tolist(), places.tolist()
    ([[0, 3], [1, 2]], [1, 0, 1])
    """
    if not rows.size:
        return rows, np.zeros(len(rows), np.int64)
    least = rows.min(axis=0)
    spans = (rows.max(axis=0) - least + 1).tolist()
    if math.prod(spans) > LARGEST_KEY:
        return _wide(rows)
    keys = np.ravel_multi_index(tuple((rows - least).T), spans)
    different, places = np.unique(keys, return_inverse=True)
    found = np.stack(np.unravel_index(different, spans), axis=1) + least
    return found.astype(rows.dtype), places.reshape(-1)


def _wide(rows: Rows) -> tuple[Rows, Rows]:
    """Tell rows apart by a mixture of their numbers; where two share one, by the rows."""
    factors = SPREAD * (2 * np.arange(rows.shape[1], dtype=np.uint64) + np.uint64(1))
    mixed = (rows.astype(np.uint64) ^ (rows.astype(np.uint64) << np.uint64(32))) * factors
    keys = (mixed ^ (mixed >> np.uint64(29))).sum(axis=1, dtype=np.uint64)
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    found = rows[first]
    if not np.array_equal(found[places], rows):
        found, places = np.unique(rows, axis=0, return_inverse=True)
    return found, places.reshape(-1)
