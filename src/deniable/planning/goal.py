"""Goal: what the answers shall be good for, and how many people there are."""

from __future__ import annotations

import math
from dataclasses import dataclass

from deniable.errors import EstimationError


@dataclass(frozen=True, slots=True)
class Goal:
    """What a plan is for.

    Attributes:
        people: How many will answer.
        level: The level of the intervals.
        width: The width wanted of every interval, or None.
        simultaneous: Whether all intervals of a table shall hold at once.
        association: Cramér's V that a test shall notice, or None.
        power: The power wanted, or None.
        significance: The level of the tests.
    """

    people: float
    level: float = 0.95
    width: float | None = None
    simultaneous: bool = False
    association: float | None = None
    power: float | None = None
    significance: float = 0.05

    def __post_init__(self) -> None:
        """Refuse what cannot be wanted."""
        if isinstance(self.people, bool) or not math.isfinite(self.people) or self.people < 1:
            problem = "the number of people must be at least 1"
            raise EstimationError(problem, given=self.people, expected="such as 20000")
        for name, value, example in (
            ("level of an interval", self.level, 0.95),
            ("width of an interval", self.width, 0.05),
            ("association (Cramér's V)", self.association, 0.1),
            ("power", self.power, 0.8),
            ("level of a test", self.significance, 0.05),
        ):
            if value is not None and not 0 < value < 1:
                problem = f"the {name} must be above 0 and below 1"
                raise EstimationError(problem, given=value, expected=f"such as {example}")
        if self.power is not None and self.power <= self.significance:
            problem = "a power must be above the level of the test"
            expected = f"above {self.significance:g}, such as 0.8"
            raise EstimationError(problem, given=self.power, expected=expected)
