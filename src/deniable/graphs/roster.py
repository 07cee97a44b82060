"""A roster: who is in a graph, which is public, and who is asked about whom."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from deniable.errors import DataError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

Ends: TypeAlias = Literal[1, 2]
"""How many of its two ends report an edge."""

FEWEST: Final = 3
MOST: Final = 10_000
"""People of whom every pair fits into memory, and every triangle can be looked for."""


@dataclass(frozen=True)
class Roster:
    """The people of a graph, in an order.

    With one end, everybody is asked about half of the others: those who follow in the order,
    round the circle. So every pair is reported once, and nobody has more to say than others.
    With two, everybody is asked about everybody.

    Attributes:
        names: The people. That they are in the graph is no secret; with whom they are joined is.
        ends: How many ends report an edge.
    """

    names: tuple[str, ...]
    ends: Ends = 1

    def __post_init__(self) -> None:
        """Refuse what is no roster."""
        if not FEWEST <= len(self.names) <= MOST:
            problem = "a graph has too few or too many people"
            raise DataError(problem, given=len(self.names), expected=f"{FEWEST} to {MOST:,}")
        if len(set(self.names)) < len(self.names):
            problem = "a roster names somebody twice"
            raise DataError(problem, expected="every name once")
        if self.ends not in (1, 2):
            problem = "an edge is reported by one of its ends or by both"
            raise DataError(problem, given=self.ends, expected="1 or 2")

    def __len__(self) -> int:
        """Return how many people there are."""
        return len(self.names)

    @property
    def width(self) -> int:
        """Return about how many others a person is asked at most."""
        return len(self) - 1 if self.ends == 2 else len(self) // 2  # noqa: PLR2004 -- both ends

    def asked(self, name: str) -> tuple[str, ...]:
        """Return about whom a person is asked, in order.

        >>> Roster(("Ann", "Bob", "Cy", "Di")).asked("Cy")
        ('Di',)
        >>> Roster(("Ann", "Bob", "Cy")).asked("Cy")
        ('Ann',)
        """
        place = self.place(name)
        steps = np.flatnonzero(self.whom[place] >= 0)
        return tuple(self.names[int(self.whom[place, step])] for step in steps)

    def place(self, name: str) -> int:
        """Return a person's place in the order."""
        if name not in self._places:
            problem = "somebody is not on the roster"
            raise DataError(problem, given=name, expected=nearest(name, self.names))
        return self._places[name]

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def whom(self) -> NDArray[np.int64]:
        """Return the places of those about whom each is asked, −1 where nobody is left.

        With an even number of people and one end, the opposite ones are asked by the first half.
        """
        count = len(self)
        places, steps = np.arange(count)[:, None], np.arange(1, self.width + 1)
        found = (places + steps) % count
        if self.ends == 1 and count % 2 == 0:
            found[count // 2 :, -1] = -1
        return found
