"""The expected error of the worst cell: the largest of several normal errors."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import erf

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

POINTS = 400
BEYOND = 9.0
"""Standard errors within which all of the largest error lies."""


def largest_of(errors: Array) -> float:
    """Return E max |Z| of the cells of a table with these standard errors, nearly.

    The shares sum to 1, so that the errors hang together: two cells are one. For more, m
    alike count as m − 2/3 independent ones, which is right within one per cent.

    >>> round(largest_of(np.array([1.0, 1.0])), 4)
    0.7979
    """
    scale = float(errors.max())
    if not np.isfinite(scale) or scale == 0:
        return scale
    if np.all(errors == scale):
        return scale * _largest_alike(errors.size)
    spread = errors[errors > 0] / scale
    return scale * _integral(spread, effective(spread.size) / spread.size)


def effective(cells: int) -> float:
    """Return how many independent errors the cells of a table are as good as."""
    return 1 if cells <= 2 else cells - 2 / 3  # noqa: PLR2004 -- two cells are one


@lru_cache(maxsize=1024)
def _largest_alike(cells: int) -> float:
    return _integral(np.ones(1), effective(cells))


def _integral(errors: Array, power: float) -> float:
    """Return ∫ 1 − Π P(|Z| ≤ x)^power dx."""
    points = np.linspace(0, BEYOND, POINTS)
    inside = np.prod(erf(points[:, None] / errors / np.sqrt(2)), axis=1)
    return float(np.trapezoid(1 - inside**power, points))
