"""An arrangement: a table's cells summed into the shape that a measure takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.estimation.table import Axis, Table
    from deniable.inference.measure import Asks

    Array = NDArray[np.float64]

PAIR = 2


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """Which cells are summed.

    Attributes:
        shape: Of the arranged table.
        weights: Arranged cells × cells; None for every cell by itself.
        notes: What was chosen, for a reader.
    """

    shape: tuple[int, ...]
    weights: Array | None = None
    notes: tuple[str, ...] = ()

    def apply(self, cells: Array) -> Array:
        """Return flattened tables, one or a row for each, arranged."""
        summed = cells if self.weights is None else cells @ self.weights.T
        return np.asarray(summed.reshape(*cells.shape[:-1], *self.shape))


def arrange(table: Table, asks: Asks, of: Mapping[str, Sequence[str]]) -> Arrangement:
    """Return the arrangement that a measure asks for.

    Raises:
        EstimationError: The table has too few or too many attributes, or answers.
    """
    for name in of:
        if name not in table.names:
            problem = f"the table has no attribute {name!r}"
            raise EstimationError(problem, expected=nearest(name, table.names))
    if asks == "cells":
        return Arrangement(table.shape)
    if len(table.axes) != PAIR:
        problem = "this measure is of two attributes"
        raise EstimationError(problem, given=", ".join(table.names), expected="two of them")
    if asks == "pair":
        return Arrangement(table.shape)
    chosen = [_sides(axis, of.get(axis.name, ())) for axis in table.axes]
    rows, columns = (sides for sides, _ in chosen)
    weights = np.asarray(np.kron(rows, columns), dtype=np.float64)
    return Arrangement((PAIR, PAIR), weights, tuple(note for _, note in chosen))


def _sides(axis: Axis, answers: Sequence[str]) -> tuple[Array, str]:
    """Return which categories are on either side: the answer first, then the others."""
    if not answers and len(axis.categories) == PAIR:
        answers = axis.categories[::-1]
    if not 1 <= len(answers) <= PAIR or len(set(answers)) != len(answers):
        problem = f"which answers of {axis.name!r} are compared?"
        expected = "one of " + ", ".join(axis.categories[:8]) + ", or two with a comma"
        raise EstimationError(problem, given=",".join(answers) or None, expected=expected)
    sides = np.zeros((PAIR, len(axis.categories)))
    first = axis.place(answers[0])
    sides[0, first] = 1
    if len(answers) == PAIR:
        sides[1, axis.place(answers[1])] = 1
        return sides, f"{axis.name}: {answers[0]} compared with {answers[1]}"
    sides[1] = 1 - sides[0]
    return sides, f"{axis.name}: {answers[0]} compared with all others"
