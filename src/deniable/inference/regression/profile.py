"""Intervals by the profile likelihood: the values that a likelihood-ratio test does not reject."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.estimation.interval import quantile
from deniable.inference.confidence import Bounds

if TYPE_CHECKING:
    from deniable.inference.confidence import Confidence
    from deniable.inference.regression.fitted import Fitted

CLOSE = 1e-3
"""The root of the deviance is found to within this many standard errors."""

MOST_FITS = 40
FARTHEST = 25.0
"""A change of a linear predictor beyond which a bound is infinite."""


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The likelihood of a coefficient with all other parameters at their best.

    Attributes:
        fitted: The model at its maximum.
        place: The coefficient's place.
        error: Its standard error, the length of the first step; NaN if it is not known.
    """

    fitted: Fitted
    place: int
    error: float

    def interval(self, level: float) -> Bounds:
        """Return where twice the loss of likelihood is z²."""
        z = quantile(level)
        return Bounds(self._bound(-1, z), self._bound(1, z), level)

    def _bound(self, side: int, z: float) -> float:
        """Return the bound on one side by the secant of the root of the deviance."""
        reach = float(self.fitted.reach()[self.place])
        centre = float(self.fitted.peak.theta[self.place])
        error = self.error if math.isfinite(self.error) else 1 / reach
        near, far = 0.0, math.inf  # distances known to be inside and outside
        root_near, root_far = 0.0, math.inf
        distance = z * error
        for _ in range(MOST_FITS):
            if distance * reach > FARTHEST and far == math.inf:
                distance = FARTHEST / reach
            root = self._root(centre + side * distance)
            if abs(root - z) < CLOSE:
                return centre + side * distance
            if root < z:
                if distance * reach >= FARTHEST:
                    return side * math.inf
                near, root_near = distance, root
            else:
                far, root_far = distance, root
            distance = _next(near, root_near, far, root_far, z)
        return centre + side * distance

    def _root(self, value: float) -> float:
        held = self.fitted.holding(self.place, value)
        return math.sqrt(max(2 * (self.fitted.peak.likelihood - held.likelihood), 0.0))


def _next(near: float, root_near: float, far: float, root_far: float, z: float) -> float:
    """Return a distance between one inside and one outside, or farther out."""
    if math.isinf(far):
        growth = z / root_near if root_near > 0 else 2.0
        return near * min(max(growth, 1.05), 2.0)
    if math.isinf(root_far):
        return (near + far) / 2
    share = (z - root_near) / (root_far - root_near)
    return near + (far - near) * min(max(share, 0.05), 0.95)


@dataclass(frozen=True, slots=True, eq=False)
class Exponential:
    """What is known of e^x, where something is known of x.

    Attributes:
        inner: What is known of x.
    """

    inner: Confidence

    def interval(self, level: float) -> Bounds:
        """Return the bounds, carried."""
        low, high, _ = self.inner.interval(level)
        return Bounds(_exp(low), _exp(high), level)


def _exp(value: float) -> float:
    return math.exp(value) if value < 700 else math.inf  # noqa: PLR2004
