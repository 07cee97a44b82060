"""Whole people: a table with more cells than people, most of whose cells hold nobody.

A model expects a little of a person in very many cells. Spread like that the table is right
on average in every cell and far from what the people are like as a whole: its total variation
from any table of whole people is large. Of all tables that put nobody or one person into a
cell, the nearest on average has them where most of a person is expected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def whole_people(table: Array, people: int) -> Array:
    """Return the table with its cells of less than one person expected made whole.

    As many of them hold one person as are expected in all of them together, those with the
    largest shares; the others hold nobody. Cells of one person or more, and tables with no
    more cells than people, stay.

    >>> whole_people(np.array([0.5, 0.2, 0.15, 0.15]), 2).tolist()
    [0.5, 0.5, 0.0, 0.0]
    """
    if table.size <= people:
        return table
    expected = people * table.reshape(-1)
    small = np.flatnonzero(expected < 1)
    whole = round(float(expected[small].sum()))
    if not whole:
        return table
    result = expected.copy()
    result[small] = 0
    result[small[np.argpartition(-expected[small], whole - 1)[:whole]]] = 1
    made: Array = result / result.sum()
    return made.reshape(table.shape)
