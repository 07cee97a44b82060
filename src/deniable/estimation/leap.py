"""Maximum likelihood by Newton's method, for tables of few cells seen in many blocks.

Through two coins the likelihood of a table that sums to 1 is a sum over report values of
c·ln(p·π + (1 − p)·T), so its curvature is known in closed form. Each leap goes to the best
distribution of the quadratic that touches the likelihood where it stands: a least-squares
problem with shares of at least 0. A dozen leaps do what takes EM thousands of steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.climb import GAP, Summit, climb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.stack import Stack

    Array = NDArray[np.float64]

MOST_CELLS = 256
"""Larger tables are climbed step by step: a leap costs the cube of the cells."""

MOST_LEAPS = 60
HALVINGS = 30
BIND = 1e3
"""How much more the sum of the shares weighs in the least squares than the likelihood does."""


def leap(stacks: Sequence[Stack], shape: Sequence[int], *, gap: float = GAP) -> Summit:
    """Return the maximum-likelihood distribution, to within ``gap`` nats."""
    table = np.full(tuple(shape), 1.0)
    table /= table.size
    if table.size > MOST_CELLS:
        return climb(stacks, table, gap=gap)
    members = [_members(stack, shape) for stack in stacks]
    likelihood = _likelihood(stacks, table)
    people = sum(stack.people for stack in stacks)
    for leaps in range(MOST_LEAPS):
        slope, bend, left = _derivatives(stacks, members, table)
        left -= people
        if left <= gap:
            return Summit(table, likelihood, left, leaps)
        aim = _best_of_quadratic(table.reshape(-1), slope, bend).reshape(table.shape)
        share, found = 1.0, -np.inf
        for _ in range(HALVINGS):
            tried = table + share * (aim - table)
            found = _likelihood(stacks, tried)
            if found > likelihood:
                break
            share /= 2
        if found <= likelihood:
            break
        table, likelihood = tried, found
    return climb(stacks, np.maximum(table, 1e-9) / np.maximum(table, 1e-9).sum(), gap=gap)


def _likelihood(stacks: Sequence[Stack], table: Array) -> float:
    total = 0.0
    for stack in stacks:
        seen = stack.see(table)
        came = stack.counts > 0
        if np.any(seen[came] <= 0):
            return -np.inf
        total += float(np.sum(stack.counts * np.log(np.where(came, seen, 1.0))))
    return total


def _members(stack: Stack, shape: Sequence[int]) -> Array:
    """Return which of the table's cells each of a stack's cells is the sum of, as 0 and 1."""
    places = np.indices(tuple(shape)).reshape(len(shape), -1)
    belongs = np.ravel_multi_index(tuple(places[axis] for axis in stack.order), stack.sizes)
    result = np.zeros((stack.counts.shape[1], places.shape[1]))
    result[belongs, np.arange(places.shape[1])] = 1
    return result


def _derivatives(
    stacks: Sequence[Stack], members: Sequence[Array], table: Array
) -> tuple[Array, Array, float]:
    """Return slope and curvature along the simplex, and the greatest slope with lies counted."""
    slope, lies = np.zeros(table.size), 0.0
    bend = np.zeros((table.size, table.size))
    for stack, member in zip(stacks, members, strict=True):
        seen = stack.see(table)
        odds = np.divide(stack.counts, seen, out=np.zeros_like(seen), where=stack.counts > 0)
        slope += (stack.truth * odds).sum(axis=0) @ member
        lies += float(np.sum(stack.lie * odds))
        curvature = (stack.truth**2 * odds / np.maximum(seen, 1e-300)).sum(axis=0)
        bend += (member.T * curvature) @ member
    return slope, bend, float(slope.max()) + lies


def _best_of_quadratic(here: Array, slope: Array, bend: Array) -> Array:
    """Maximize slope·(π − here) − ½(π − here)ᵀ·bend·(π − here) over the distributions."""
    from scipy.optimize import nnls  # noqa: PLC0415 -- slow to load

    scale = float(np.trace(bend)) / len(here)
    root = np.linalg.cholesky(bend + 1e-9 * scale * np.eye(len(here)))
    target = root.T @ here + np.linalg.solve(root, slope - slope.mean())
    weight = BIND * np.sqrt(scale)
    rows = np.vstack([root.T, np.full((1, len(here)), weight)])
    found, _ = nnls(rows, np.append(target, weight))
    result: Array = found / found.sum()
    return result
