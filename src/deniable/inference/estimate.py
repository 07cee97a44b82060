"""An estimate: one inferred number, its standard error, and an interval at the level asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from deniable.inference.confidence import Bounds, Confidence

How: TypeAlias = Literal["delta", "bootstrap", "fieller", "likelihood", "formula", "unknown"]
"""Where a standard error or an interval comes from."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """One inferred number.

    Attributes:
        name: What was derived: ``"cramers-v"``.
        of: The attributes it is of.
        value: The number itself.
        standard_error: How far it is off, typically; NaN where nobody can say.
        confidence: What the intervals follow from.
        how: Where the interval comes from.
        error_how: Where the standard error comes from.
        people: How many respondents it rests on.
        citation: Where the measure and its error come from.
        notes: What to keep in mind; each a sentence without a full stop.
    """

    name: str
    of: tuple[str, ...]
    value: float
    standard_error: float
    confidence: Confidence
    how: How
    error_how: How
    people: int
    citation: str = ""
    notes: tuple[str, ...] = ()

    def interval(self, level: float = 0.95) -> Bounds:
        """Return the interval that holds the truth with the probability ``level``."""
        return self.confidence.interval(level)

    def __str__(self) -> str:
        """Say the estimate in a line."""
        low, high, level = self.interval()
        head = f"{self.name} of {' and '.join(self.of)}: {self.value:.4g}"
        if math.isnan(low):
            return f"{head}; how sure that is, is unknown (n = {self.people:,})"
        where = f"{level:.0%} interval {low:.4g} to {high:.4g} by {self.how}"
        return f"{head}, standard error {self.standard_error:.2g}, {where} (n = {self.people:,})"
