"""Every measure by name."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from deniable.errors import EstimationError, nearest
from deniable.inference.measures import association, information, odds, ordinal

if TYPE_CHECKING:
    from deniable.inference.measure import Measure

MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in chain(
        association.MEASURES, information.MEASURES, ordinal.MEASURES, odds.MEASURES
    )
}
"""The measures, those of association first."""


def measure_named(name: str) -> Measure:
    """Return a measure, or say which there are."""
    if name not in MEASURES:
        problem = f"there is no measure called {name!r}"
        raise EstimationError(problem, expected=nearest(name, MEASURES))
    return MEASURES[name]
