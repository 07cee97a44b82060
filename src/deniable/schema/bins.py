"""Bins: the cells of a numeric attribute, declared before anyone is asked.

Bin i holds edges[i] <= x < edges[i+1]; the last one also holds its upper edge,
unless that is infinite. The page tells people so, and so do the names.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from decimal import Decimal
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Final

from deniable.schema.canonical import spell_number

if TYPE_CHECKING:
    from collections.abc import Sequence

FEWEST_EDGES: Final = 2

# What both Python and JavaScript read as the same number; no underscores, no "nan".
_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)


def edges_fault(edges: Sequence[float]) -> str | None:
    """Say what keeps ``edges`` from bounding bins, if anything does."""
    if len(edges) < FEWEST_EDGES:
        return f"has {len(edges)} edges, not 2 or more"
    if any(math.isnan(edge) for edge in edges):
        return "has an edge that is not a number"
    if any(low >= high for low, high in pairwise(edges)):
        return "has edges that do not increase"
    if len(edges) == FEWEST_EDGES and all(map(math.isinf, edges)):
        return "has a single bin that holds every number"
    return None


def bin_names(edges: Sequence[float]) -> tuple[str, ...]:
    """Name each bin by its interval.

    >>> bin_names((-math.inf, 18, 65, 99))
    ('(-inf, 18)', '[18, 65)', '[65, 99]')
    """
    spelled = [spell_edge(edge) for edge in edges]
    last = len(edges) - 2
    return tuple(
        f"{'(' if math.isinf(edges[i]) else '['}{low}, {high}"
        f"{']' if i == last and math.isfinite(edges[i + 1]) else ')'}"
        for i, (low, high) in enumerate(pairwise(spelled))
    )


def spell_edge(edge: float) -> str:
    """Print an edge, which may be infinite, the same way in every language."""
    return spell_number(edge) if math.isfinite(edge) else str(edge)


def bin_of(answer: object, edges: Sequence[float]) -> int | None:
    """Return the bin that holds ``answer``, or None when there is none.

    >>> [bin_of(x, (0, 10, 20)) for x in (0, 9.99, "10", 20, 20.1)]
    [0, 0, 1, 1, None]
    """
    number = _number(answer)
    if number is None or math.isinf(number):
        return None
    if number == edges[-1]:
        return len(edges) - 2
    found = bisect_right(edges, number) - 1
    return found if 0 <= found < len(edges) - 1 else None


def _number(answer: object) -> float | None:
    if isinstance(answer, bool):
        return None
    if isinstance(answer, str):
        return float(answer) if _NUMBER.fullmatch(answer) else None
    if isinstance(answer, Real | Decimal):
        try:
            number = float(answer)
        except (OverflowError, ValueError):  # a huge integer; a signalling NaN
            return None
        return None if math.isnan(number) else number
    return None
