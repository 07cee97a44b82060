"""From an unbiased estimate, which may hold negative shares, to a proper distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ROUNDS = 50
"""Rounds of Dykstra's projections, after which cells still move by less than they are off."""


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


def nearest_with_margins(pair: Array, rows: Array, columns: Array) -> Array:
    """Return the distribution of two attributes nearest to a table, its margins (nearly) given.

    Margins are known far better than what two attributes do together. A projection that may
    move them gives up what is known for sure to even out what is not.

    By turns the margins are made right and negative shares 0 (Dykstra 1983).

    >>> pair = np.array([[0.7, -0.1], [0.0, 0.4]])
    >>> nearest_with_margins(pair, np.array([0.6, 0.4]), np.array([0.6, 0.4])).round(3).tolist()
    [[0.6, 0.0], [0.0, 0.4]]
    """
    count, width = pair.shape
    here, cut = pair, np.zeros_like(pair)
    for _ in range(ROUNDS):
        high, wide = rows - here.sum(axis=1), columns - here.sum(axis=0)
        level = here + high[:, None] / width + wide / count - high.sum() / pair.size + cut
        here = np.maximum(level, 0)
        cut = level - here
    result: Array = here / here.sum()
    return result
