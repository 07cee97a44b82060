"""A measure: what can be derived from a table, its name and where it comes from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.inference.confidence import Scale
    from deniable.inference.form import Form

Asks: TypeAlias = Literal["cells", "pair", "two by two"]
"""Which tables a measure takes: any cells, two attributes, or two answers of two attributes."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a measure is told of the table besides its shares.

    Attributes:
        shape: The table's numbers of cells.
        people: How many respondents it rests on.
        noise: E φ̂² where nothing is associated: Σ Var(π̂_ij − π̂_i π̂_j)/(π_i π_j).
    """

    shape: tuple[int, ...]
    people: int
    noise: float


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of the registry.

    Attributes:
        name: What users call it.
        citation: Where it comes from.
        summary: What it says, in a sentence without a full stop.
        asks: Which tables it takes.
        make: Returns its form for a table.
        scale: On which scale its estimate is nearest to normal.
        least: Its smallest value.
        most: Its largest value.
        ordinal: Whether it depends on the order of the categories.
    """

    name: str
    citation: str
    summary: str
    asks: Asks
    make: Callable[[Setting], Form]
    scale: Scale = "plain"
    least: float = -math.inf
    most: float = math.inf
    ordinal: bool = False
