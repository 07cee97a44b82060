"""From an unbiased estimate, which may hold negative shares, to a proper distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def clip_and_rescale(table: Array) -> Array:
    """Return the table with negative shares set to 0 and the others scaled to sum 1.

    Domingo 6.4. That text calls the result the nearest distribution; it is not: see
    ``nearest_proper``.

    >>> clip_and_rescale(np.array([0.9, 0.3, -0.2])).tolist()
    [0.75, 0.25, 0.0]
    """
    kept = np.maximum(table, 0)
    total = kept.sum()
    if total <= 0:
        return np.full_like(kept, 1 / kept.size)
    result: Array = kept / total
    return result


def nearest_proper(table: Array) -> Array:
    """Return the distribution nearest to the table by Euclidean distance.

    It is max(π̂ − τ, 0) with the one τ that makes the sum 1 (Duchi et al., ICML 2008).

    >>> nearest_proper(np.array([0.9, 0.3, -0.2])).round(3).tolist()
    [0.8, 0.2, 0.0]
    """
    falling = np.sort(table, axis=None)[::-1]
    excess = np.cumsum(falling) - 1
    ranks = np.arange(1, falling.size + 1)
    last = int(np.flatnonzero(falling * ranks > excess)[-1])
    result: Array = np.maximum(table - excess[last] / (last + 1), 0)
    return result
