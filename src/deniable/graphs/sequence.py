"""A sequence: one inferred number for each person, with its standard error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.interval import quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """One number for each person.

    Attributes:
        name: What was counted: ``"degree"``.
        people: Who.
        values: The unbiased estimates; they may be below 0.
        standard_errors: How far each is off, typically.
        most: What no such number exceeds.
    """

    name: str
    people: tuple[str, ...]
    values: Array
    standard_errors: Array
    most: float

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Return for each person the interval that holds the truth with this probability.

        Its ends are whole numbers, as the truth is, with a correction for that.
        """
        half = quantile(level) * self.standard_errors + 0.5
        low, high = np.ceil(self.values - half), np.floor(self.values + half)
        return np.clip(low, 0, self.most), np.clip(high, 0, self.most)

    @property
    def spread(self) -> float:
        """Return how much the true numbers differ from person to person: a standard deviation.

        The estimates differ by that and by their errors; 0 if their errors explain it all.
        """
        left = float(np.var(self.values, ddof=1) - np.mean(self.standard_errors**2))
        return math.sqrt(max(left, 0.0))

    @property
    def reliability(self) -> float:
        """Return which share of the estimates' variance is that of the true numbers.

        0: the people cannot be told apart; 1: nothing is noise.
        """
        own = self.spread**2
        noise = float(np.mean(self.standard_errors**2))
        return own / (own + noise) if own else 0.0

    @property
    def shrunken(self) -> Array:
        """Return the estimates drawn toward their mean as far as they are noise.

        Nearly the least mean squared error that a linear rule has (Robbins's empirical Bayes),
        and never much above that of saying the mean of everybody as far as that is known. They
        are biased: too low where the truth is high.
        """
        mean = max(float(np.mean(self.values)), 0.0)
        result: Array = np.clip(mean + self.reliability * (self.values - mean), 0, self.most)
        return result
