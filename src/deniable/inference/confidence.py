"""How an interval follows from what was estimated: by the delta method, Fieller's way, or a curve.

Each knows, for any level, which values the reports do not speak against.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

from deniable.estimation.interval import quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Scale: TypeAlias = Literal["plain", "log", "atanh", "root", "logit"]
"""On which scale an estimate is nearest to normal."""


class Bounds(NamedTuple):
    """Where the truth lies, with the probability ``level``."""

    low: float
    high: float
    level: float

    def holds(self, truth: float) -> bool:
        """Tell whether a value is inside."""
        return self.low <= truth <= self.high


class Confidence(Protocol):
    """What is known of a number beyond its estimate."""

    def interval(self, level: float) -> Bounds:
        """Return the values that are not rejected at 1 − level."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody can say how sure the number is."""

    def interval(self, level: float) -> Bounds:
        """Return NaN for both bounds."""
        quantile(level)
        return Bounds(math.nan, math.nan, level)


@dataclass(frozen=True, slots=True)
class Normal:
    """The estimate is normal on some scale: value ± z·error there, carried back.

    Attributes:
        value: The estimate, on its natural scale.
        error: Its standard error on ``scale``.
        scale: Where it is nearest to normal.
        least: No value is below this.
        most: No value is above this.
    """

    value: float
    error: float
    scale: Scale
    least: float
    most: float

    def interval(self, level: float) -> Bounds:
        """Return the value on the scale, plus and minus z standard errors."""
        half = quantile(level) * self.error
        centre = to_scale(self.scale, self.value)
        low, high = from_scale(self.scale, centre - half), from_scale(self.scale, centre + half)
        return Bounds(max(low, self.least), min(high, self.most), level)


@dataclass(frozen=True, slots=True)
class Fieller:
    """A ratio N/D: the θ with (N − θD)² ≤ z²·Var(N − θD), whatever D may be (Fieller 1954).

    Attributes:
        numerator: N.
        denominator: D, positive in truth; its estimate may be near 0.
        variances: Var N, Cov(N, D), Var D.
        least: No ratio is below this.
        most: No ratio is above this.
        scale: Where the bounds are carried in the end.
    """

    numerator: float
    denominator: float
    variances: tuple[float, float, float]
    least: float
    most: float
    scale: Scale = "plain"

    def interval(self, level: float) -> Bounds:
        """Return the smallest interval that holds every θ that is not rejected."""
        low, high = self._ratio(level)
        return Bounds(to_scale(self.scale, low), to_scale(self.scale, high), level)

    def _ratio(self, level: float) -> tuple[float, float]:
        square = quantile(level) ** 2
        own, common, below = self.variances
        lead = self.denominator**2 - square * below
        half = self.numerator * self.denominator - square * common
        last = self.numerator**2 - square * own
        inner = half**2 - lead * last
        if lead > 0:
            root = math.sqrt(max(inner, 0))
            low, high = (half - root) / lead, (half + root) / lead
        elif inner <= 0:
            return self.least, self.most
        else:  # all but a stretch between two roots
            root = math.sqrt(inner)
            first, second = sorted(((half - root) / lead, (half + root) / lead)) if lead else (0, 0)
            low = self.least if first > self.least else second
            high = self.most if second < self.most else first
            if lead == 0 or low > high:
                return self.least, self.most
        return min(max(low, self.least), self.most), min(max(high, self.least), self.most)


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A test of every value along a path, inverted.

    Attributes:
        values: The measure's values along the path, from the one at the path's anchor on.
        below: For each, P(the statistic is no larger than the one seen).
        above: For each, P(it is no smaller).
        balance: How much of the level goes to each tail: 0 at the anchor, where only a large
            statistic speaks against it, 1 where both tails have half.
    """

    values: Array
    below: Array
    above: Array
    balance: Array

    def interval(self, level: float) -> Bounds:
        """Return the stretch of values that are not rejected.

        With few reports what was seen may be unusual everywhere along the path: nothing on it
        would have come out so far off. That speaks against the path and not for any of its
        values, and the interval is all of it.
        """
        quantile(level)
        rest = 1 - level
        # Both margins are positive inside; the first falls along the path, the second rises.
        falling = self.below - rest * self.balance / 2
        rising = self.above - rest * (1 - self.balance / 2)
        near, last = _crossing(rising), len(self.values) - 1
        far = last - _crossing(falling[::-1])
        if not near <= far:
            return Bounds(float(self.values.min()), float(self.values.max()), level)
        ends = np.interp((near, far), np.arange(last + 1), self.values)
        return Bounds(float(ends.min()), float(ends.max()), level)


def _crossing(margin: Array) -> float:
    """Return the place where the margin first becomes positive, between two points; or NaN."""
    inside = np.flatnonzero(margin > 0)
    if inside.size == 0:
        return math.nan
    first = int(inside[0])
    if first == 0:
        return 0.0
    before, after = margin[first - 1], margin[first]
    return float(first - 1 + before / (before - after))


def to_scale(scale: Scale, value: float) -> float:
    """Return a value on the scale.

    >>> to_scale("log", 1.0), to_scale("plain", 0.5)
    (0.0, 0.5)
    """
    turned: dict[Scale, Callable[[float], float]] = {
        "log": _log,
        "atanh": _atanh,
        "root": _root,
        "logit": _logit,
    }
    return turned[scale](value) if scale in turned else value


def from_scale(scale: Scale, value: float) -> float:
    """Return a value of the scale as it was."""
    if scale == "log":
        return math.exp(min(value, 700.0))
    if scale == "root":
        return max(value, 0.0) ** 2
    if scale == "logit":
        return (1 + math.tanh(value / 2)) / 2
    return math.tanh(value) if scale == "atanh" else value


def slope_of(scale: Scale, value: float) -> float:
    """Return the derivative of the scale at a value."""
    if scale == "log":
        return 1 / value if value > 0 else math.inf
    if scale == "atanh":
        return 1 / (1 - value**2) if abs(value) < 1 else math.inf
    if scale == "root":
        return 0.5 / math.sqrt(value) if value > 0 else math.inf
    if scale == "logit":
        return 1 / (value * (1 - value)) if 0 < value < 1 else math.inf
    return 1.0


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _logit(value: float) -> float:
    return _log(value) - _log(1 - value) if value < 1 else math.inf


def _root(value: float) -> float:
    return math.sqrt(max(value, 0.0))


def _atanh(value: float) -> float:
    return math.atanh(value) if abs(value) < 1 else math.copysign(math.inf, value)
