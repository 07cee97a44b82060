"""The staircase channel that tells most about some directions of a table.

At a level ε every channel is a mixture of *staircase* columns: a report y has the odds
e^ε in a set S of cells and 1 elsewhere, P(y|x) = θ_S·(e^ε if x ∈ S else 1) (Kairouz, Oh
& Viswanath 2016). Of all 2^m sets the θ_S are chosen whose log det of the efficient
information on the directions asked about is largest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels import Matrix, epsilon_of, matrix
from deniable.errors import EpsilonError, EstimationError
from deniable.estimation.best_sets import GAP, balanced_weights, best_sets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.wish import Wish

    Array = NDArray[np.float64]

MOST_CELLS = 16
"""Cells whose 65,534 sets are all priced."""


@dataclass(frozen=True, slots=True, eq=False)
class Staircase:
    """The columns of a channel: sets of cells and their θ, for a level.

    Attributes:
        epsilon: The level.
        sets: A row of 0 and 1 for each column.
        weights: θ of each column.
    """

    epsilon: float
    sets: Array
    weights: Array

    def rows(self, epsilon: float | None = None) -> Array:
        """Return P(y|x), a row for each cell; at a smaller level if one is given."""
        odds = 1 + math.expm1(self.epsilon if epsilon is None else epsilon) * self.sets
        balanced = balanced_weights(self.weights, odds)
        if balanced is None:  # pragma: no cover -- the same sets at all but the same level
            raise AssertionError
        result: Array = (balanced[:, None] * odds).T
        return result


def staircase(epsilon: float, wish: Wish, gap: float = GAP) -> Staircase:
    """Return the columns of at most ε that tell most about what is wished, nearly; see ``GAP``."""
    size = len(wish.null)
    if size > MOST_CELLS:
        problem = "so many cells have too many sets to find the best channel among"
        raise EstimationError(problem, given=size, expected=f"at most {MOST_CELLS} cells")
    return Staircase(epsilon, *best_sets(epsilon, wish, gap))


def mixed(parts: Sequence[tuple[float, Staircase]], null: Array, rarest: float) -> Matrix:
    """Return the channel that is each of several with a given share, in exact integers.

    Args:
        parts: The shares, and what they are shares of; all for one level.
        null: The table that is expected.
        rarest: A report that fewer people send is given up, if the channel can do without.
    """
    epsilon = parts[0][1].epsilon
    sets = np.vstack([part.sets for _, part in parts])
    weights = np.concatenate([share * part.weights for share, part in parts])
    sets, same = np.unique(sets, axis=0, return_inverse=True)
    weights = np.bincount(same.reshape(-1), weights).astype(np.float64)
    often = weights * (1 + math.expm1(epsilon) * sets @ null)
    for least in (rarest, rarest / 2, rarest / 4, 0.0):
        kept = often >= least
        if kept.sum() < len(null):
            continue
        balanced = balanced_weights(weights[kept], 1 + math.expm1(epsilon) * sets[kept])
        if balanced is not None and np.linalg.matrix_rank(sets[kept]) == len(null):
            return _in_integers(Staircase(epsilon, sets[kept], balanced))
    problem = "the sets of a staircase channel do not tell all cells apart"
    raise EstimationError(problem, expected="a share that learns about the margins")


def _in_integers(made: Staircase) -> Matrix:
    for attempt in range(40):  # rounded to integers, it must not cost more than was asked
        shrunk = made.epsilon * (1 - (2.0**attempt - 1) * 2.0**-36)
        channel = matrix(made.rows(shrunk).tolist())
        if epsilon_of(channel) <= made.epsilon:
            return channel
    problem = "a staircase channel cannot be expressed in 32 bits at this epsilon"
    raise EpsilonError(problem, given=made.epsilon, expected="another epsilon or fewer cells")
