"""Dependence of two attributes, from 0 to 1 (Domingo eq. 8 and 9)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError
from deniable.estimation.simplex import clip_and_rescale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def correlation(table: Array) -> float:
    """Return |r|, Pearson's, of two ordinal attributes scored by their places (eq. 8).

    >>> correlation(np.array([[0.5, 0.0], [0.0, 0.5]]))
    1.0
    """
    joint = table / table.sum()
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    scores = [np.arange(size) - np.arange(size) @ share for size, share in _sides(rows, columns)]
    spread = float(rows @ scores[0] ** 2) * float(columns @ scores[1] ** 2)
    if spread <= 0:
        return 0.0
    return min(abs(float(scores[0] @ joint @ scores[1])) / math.sqrt(spread), 1.0)


def cramers_v(table: Array) -> float:
    """Return V = √(χ²/n / min(r − 1, c − 1)) (eq. 9; under the sum stands e, not f).

    A category that nobody is in counts neither as a row nor as a column.

    >>> cramers_v(np.array([[0.2, 0.2], [0.3, 0.3]]))
    0.0
    """
    joint = table / table.sum()
    joint = joint[joint.sum(axis=1) > 0][:, joint.sum(axis=0) > 0]
    smaller = min(joint.shape) - 1
    if smaller < 1:
        return 0.0
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    square = float(np.sum((joint - expected) ** 2 / expected))
    return min(math.sqrt(square / smaller), 1.0)


def dependences(
    tables: Mapping[tuple[int, int], Array], sizes: Sequence[int], ordinal: Sequence[bool]
) -> Array:
    """Return the matrix of dependences: |r| where both attributes are ordinal, else V.

    Estimated tables may hold negative cells; they are clipped and the rest rescaled.
    """
    count = len(sizes)
    result = np.eye(count)
    for (one, two), table in tables.items():
        if table.shape != (sizes[one], sizes[two]):
            problem = f"the table of attributes {one} and {two} does not fit them"
            raise EstimationError(problem, given=table.shape, expected=f"{sizes[one], sizes[two]}")
        proper = clip_and_rescale(np.asarray(table, np.float64))
        measure = correlation if ordinal[one] and ordinal[two] else cramers_v
        result[one, two] = result[two, one] = measure(proper)
    return result


def _sides(rows: Array, columns: Array) -> list[tuple[int, Array]]:
    return [(len(rows), rows), (len(columns), columns)]
