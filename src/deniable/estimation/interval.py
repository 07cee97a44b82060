"""Intervals for the true shares of a table's cells.

The bounds are the roots of (π̂ − t)² = z²·Var(t), where π̂ is the *unprojected* estimate
and Var(t) its variance if the true share were t: Wilson's interval, carried through the
channel. It keeps its level near 0 and 1, where π̂ ± z·se does not, and it does not matter
that a table shown to people was projected onto proper distributions.

Noise puts π̂ below 0 where few people are. Taken as it stands, π̂ = −3 standard errors would
give the interval from 0 to 0, and the unluckiest reports would look the surest. So an
estimate beyond 0 or 1 is read as 0 or 1: no interval becomes narrower by bad luck, and one
that is widened holds its share more often than it says, up to (1 + level)/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from deniable.errors import EstimationError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.estimation.covariance import Curve

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """Where the true shares lie.

    Attributes:
        low: The lower bounds, one for each cell; NaN where nothing can be said.
        high: The upper bounds.
        level: The probability with which an interval holds its true share.
        simultaneous: Whether all the intervals hold at once with that probability.
        caveat: What keeps the level from being sure; empty if nothing does.
    """

    low: Array
    high: Array
    level: float
    simultaneous: bool
    caveat: str = ""

    @property
    def width(self) -> Array:
        """Return high − low."""
        result: Array = self.high - self.low
        return result

    def covers(self, truth: Array) -> NDArray[np.bool_]:
        """Tell for each cell whether its interval holds the true share."""
        result: NDArray[np.bool_] = (self.low <= truth) & (truth <= self.high)
        return result


def quantile(level: float, *, comparisons: int = 1) -> float:
    """Return z for two-sided intervals at a level, Bonferroni's for several comparisons.

    >>> round(quantile(0.95), 2), round(quantile(0.95, comparisons=10), 2)
    (1.96, 2.81)
    """
    if not 0 < level < 1:
        problem = "the level of an interval must be between 0 and 1"
        raise EstimationError(problem, given=level, expected="a probability such as 0.95")
    return float(-special.ndtri((1 - level) / 2 / comparisons))


def comparisons_of(cells: int) -> int:
    """Return how many intervals of a table say something of their own: of two cells it is one.

    >>> comparisons_of(2), comparisons_of(6)
    (1, 6)
    """
    return cells if cells > 2 else 1  # noqa: PLR2004 -- two shares sum to one


def score_bounds(centre: Array, curve: Curve, z: float) -> tuple[Array, Array]:
    """Return the roots of (centre − t)² = z²·Var(t), within [0, 1].

    Where the parabola opens downwards any share is possible (a ratio whose denominator
    may be 0).
    """
    centre = np.clip(centre, 0, 1)
    lead = 1 - z**2 * curve.square
    half = centre + z**2 * curve.linear / 2
    product = centre**2 - z**2 * curve.constant
    inner = half**2 - lead * product
    root = np.sqrt(np.maximum(inner, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (half - root) / lead, (half + root) / lead
    unbounded = lead <= 0
    low = np.where(unbounded, 0.0, np.clip(low, 0, 1))
    high = np.where(unbounded, 1.0, np.clip(high, 0, 1))
    return low, high
