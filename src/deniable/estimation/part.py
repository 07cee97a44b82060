"""A part of a table: sums over attributes, and shares among those of given categories."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.estimation.covariance import MOST_DENSE, Covariance, Curve, Dense

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def summed(table: Array, kept: Sequence[int]) -> Array:
    """Sum a table over all axes but some, and order these as asked."""
    dropped = tuple(axis for axis in range(table.ndim) if axis not in kept)
    ascending = sorted(kept)
    result: Array = table.sum(axis=dropped).transpose([ascending.index(axis) for axis in kept])
    return result


def marginal_covariance(covariance: Covariance, kept: Sequence[int], people: int) -> Dense | None:
    """Return the covariance of the sums over all axes but some; None if they are too many."""
    shape = covariance.centre.shape
    centre = summed(covariance.centre, kept)
    if centre.size > MOST_DENSE:
        return None
    weights = _members(shape, kept).reshape(centre.size, *shape)
    return Dense(centre, covariance.between(weights), people)


def _members(shape: Sequence[int], kept: Sequence[int]) -> Array:
    """Return, for each cell of the marginal table, which cells of the table it is the sum of."""
    sizes = [shape[axis] for axis in kept]
    places = np.indices(shape).reshape(len(shape), -1)
    belongs = np.ravel_multi_index(tuple(places[axis] for axis in kept), sizes)
    result = np.zeros((math.prod(sizes), places.shape[1]))
    result[belongs, np.arange(places.shape[1])] = 1
    return result


def ratio_covariance(covariance: Covariance, index: tuple[Any, ...], people: int) -> Dense | None:
    """Return the covariance of cells over their sum, and Fieller's curve of each."""
    centre = covariance.centre
    places = np.arange(centre.size).reshape(centre.shape)[index]
    cells = places.reshape(-1)
    whole = float(centre[index].sum())
    if cells.size > MOST_DENSE or whole <= 0:
        return None
    weights = np.zeros((cells.size, centre.size))
    weights[np.arange(cells.size), cells] = 1
    joint = covariance.between(weights.reshape(-1, *centre.shape))
    ratio = centre[index] / whole
    turn = (np.eye(cells.size) - ratio.reshape(-1, 1)) / whole
    # Fieller: (r̂ − r)²·Â² ≤ z²·Var(a − r·A) = z²·(V(a) − 2r·C(a, A) + r²·V(A)).
    own, common = np.diag(joint), joint.sum(axis=1)
    bend = Curve(
        own.reshape(places.shape) / whole**2,
        -2 * common.reshape(places.shape) / whole**2,
        np.full(places.shape, joint.sum() / whole**2),
    )
    return Dense(ratio, turn @ joint @ turn.T, people, bend)
