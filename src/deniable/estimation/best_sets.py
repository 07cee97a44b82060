"""The sets of cells that a staircase channel is best made of: a concave program.

log det of the efficient information is maximized over θ by Newton's method with a
barrier, over those sets that matter; which do is found by pricing all 2^m of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.estimation.wish import Wish

    Array = NDArray[np.float64]
    Sets = NDArray[np.intp]

GAP = 0.01
"""What the log determinant may fall short of the best for each direction asked about, where the
channel is one that people will answer through."""

ROUNDS = 16
STEPS = 40
TIGHTER = 0.2
"""What the barrier is multiplied with when a step of Newton's has come to rest."""

FRESH = 0.1
"""Share of the channel that sets get when they enter."""

IDLE = 1e-2
"""Share of the largest θ below which a set makes room for others."""

NEGLIGIBLE = 1e-2
"""Share of the largest θ below which a column is left out."""

BALANCING = 30
EXACT = 1e-13
LARGEST_SHIFT = 3.0
"""How many e-folds a θ may move where rows are made to sum to 1."""


def best_sets(epsilon: float, wish: Wish, gap: float = GAP) -> tuple[Array, Array]:
    """Return the sets of the best channel, a row of 0 and 1 each, and their θ.

    Args:
        epsilon: The level.
        wish: What it is to tell about.
        gap: What log det may fall short of the best for each direction asked about.
    """
    program = Program(math.expm1(epsilon), wish, gap * wish.wanted.shape[1])
    every = _every_set(len(wish.null))
    lines = program.lines(every)
    # To begin with: those sets of each number of cells that a channel of all sets alike would
    # gain most from. All single cells are among them, and these span all rows.
    alike = program.even_weight(len(every))
    prices = program.prices(lines, program.whole(lines, np.full(len(every), alike)))
    chosen = _with_complements(_largest_of_each(every, prices), len(every))
    weights = np.full(len(chosen), program.even_weight(len(chosen)))
    before = -np.inf
    for _ in range(ROUNDS):
        weights, duals = program.solved(every[chosen], weights)
        reached = program.value(lines[chosen], weights)
        prices = program.prices(lines, program.whole(lines[chosen], weights))
        beyond = prices - program.columns(every) @ duals
        beyond[chosen] = -np.inf
        if beyond.max() < program.gap / 2 or reached - before < program.gap / 5:
            break
        before = reached
        fresh = _largest(beyond, 2 * len(wish.null))
        chosen, weights = program.joined(every, chosen, weights, fresh)
    return _without_the_least(every[chosen], weights, math.expm1(epsilon))


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """max log det J(θ), J the efficient information, with θ ≥ 0 and Σ θ_S·s(x) = 1 for all x."""

    gain: float
    wish: Wish
    gap: float

    def even_weight(self, sets: int) -> float:
        """Return θ if all of some sets weigh alike, the complement of each among them."""
        return 2 / (self.gain + 2) / sets

    def columns(self, sets: Array) -> Array:
        """Return s: e^ε within a set, 1 outside."""
        result: Array = 1 + self.gain * sets
        return result

    def lines(self, sets: Array) -> Array:
        """Return u with θ·u·uᵀ the information of a set's column."""
        columns = self.columns(sets)
        scale = np.sqrt(self.wish.share / (columns @ self.wish.null))
        result: Array = (columns @ self.wish.directions) * scale[:, None]
        return result

    def whole(self, lines: Array, weights: Array) -> Array:
        """Return the information of everything."""
        result: Array = self.wish.known + (lines.T * weights) @ lines
        return result

    def prices(self, lines: Array, whole: Array) -> Array:
        """Return ∂ log det J / ∂θ for each set: uᵀI⁻¹u, less the nuisance's part of it."""
        first = self.wish.nuisance.shape[1]
        inner = lines[:, :first]
        all_ = np.sum((lines @ np.linalg.inv(whole)) * lines, axis=1)
        part = np.sum((inner @ np.linalg.inv(whole[:first, :first])) * inner, axis=1)
        result: Array = all_ - part
        return result

    def value(self, lines: Array, weights: Array) -> float:
        """Return log det J."""
        first = self.wish.nuisance.shape[1]
        whole = self.whole(lines, weights)
        inner = float(np.linalg.slogdet(whole[:first, :first])[1])
        outer = float(np.linalg.slogdet(whole)[1])
        return outer - inner

    def joined(self, every: Array, chosen: Sets, weights: Array, fresh: Sets) -> tuple[Sets, Array]:
        """Return the sets with fresh ones among them, those that weigh nothing left out.

        Fresh sets come with their complements: a set and its complement, weighing alike, fill
        all rows alike, so that a share of them beside the rest is a channel whatever they are.
        """
        entering = _with_complements(fresh, len(every))
        share = np.concatenate(
            [(1 - FRESH) * weights, np.full(len(entering), FRESH * self.even_weight(len(entering)))]
        )
        together, places = np.unique(np.concatenate([chosen, entering]), return_inverse=True)
        theta = np.bincount(places.reshape(-1), share).astype(np.float64)
        single = every[together].sum(axis=1) == 1  # these span all rows
        kept = single | np.isin(together, entering) | (theta > IDLE * theta.max())
        balanced = balanced_weights(theta[kept], self.columns(every[together[kept]]))
        if balanced is None:
            return together, theta
        return together[kept], balanced

    def solved(self, sets: Array, weights: Array) -> tuple[Array, Array]:
        """Return the best θ of some sets, and the worth of a share in each cell's row."""
        lines, columns = self.lines(sets), self.columns(sets)
        rows = columns.shape[1]
        barrier = 1.0 / len(sets)
        duals = np.zeros(rows)
        for _ in range(STEPS):
            step, duals, decrement = self._newton(lines, columns, weights, barrier)
            longest = 1.0
            falling = step < 0
            if falling.any():
                longest = min(1.0, 0.95 / float(-step[falling].min()))
            weights = self._moved(lines, weights, longest * step, barrier)
            if decrement < barrier:
                if barrier * len(sets) <= self.gap / 5:
                    break
                barrier *= TIGHTER
        return weights, duals

    def _newton(
        self, lines: Array, columns: Array, weights: Array, barrier: float
    ) -> tuple[Array, Array, float]:
        """Return Newton's step relative to θ, the multipliers, and the decrement."""
        seen = self.seen(lines, weights)
        sums = columns.T * weights  # what a relative change of θ does to the rows
        # The objective bends by BBᵀ and the barrier by 1: B has far fewer columns than rows.
        bent = self.bent(seen)
        core = np.linalg.inv(barrier * np.eye(bent.shape[1]) + bent.T @ bent)

        def solved(right: Array) -> Array:
            """Return (BBᵀ + barrier)⁻¹ of some columns (Woodbury 1950)."""
            result: Array = (right - bent @ (core @ (bent.T @ right))) / barrier
            return result

        slope = np.sum(seen[:, self.wish.nuisance.shape[1] :] ** 2, axis=1) + barrier
        risen, turned = solved(slope), solved(sums.T)
        missing = 1 - sums.sum(axis=1)
        duals = np.linalg.solve(sums @ turned, sums @ risen - missing)
        step: Array = risen - turned @ duals
        return step, duals, float(barrier * step @ step + np.sum((step @ bent) ** 2))

    def seen(self, lines: Array, weights: Array) -> Array:
        """Return √θ·u on axes along which the information is 1, those of the nuisance first."""
        root = np.linalg.cholesky(self.whole(lines, weights))
        result: Array = np.linalg.solve(root, (lines * np.sqrt(weights)[:, None]).T).T
        return result

    def bent(self, seen: Array) -> Array:
        """Return B with BBᵀ = (a + n)² − n² = a² + 2·a·n, cell by cell.

        Here n = vvᵀ of the nuisance's axes v and a = wwᵀ of those asked about, w; a square of
        a sum of products is a sum of products of pairs.
        """
        first = self.wish.nuisance.shape[1]
        inner, asked = seen[:, :first], seen[:, first:]
        one, other = np.triu_indices(asked.shape[1])
        twice = np.where(one == other, 1.0, math.sqrt(2))
        among = asked[:, one] * asked[:, other] * twice
        between = math.sqrt(2) * (inner[:, :, None] * asked[:, None, :]).reshape(len(seen), -1)
        return np.hstack([among, between])

    def _moved(self, lines: Array, weights: Array, step: Array, barrier: float) -> Array:
        """Return θ after as much of a step as raises the objective."""

        def height(theta: Array) -> float:
            return self.value(lines, theta) + barrier * float(np.log(theta).sum())

        before = height(weights)
        for _ in range(20):
            tried: Array = weights * (1 + step)
            if height(tried) >= before - 1e-12:
                return tried
            step = step / 2
        return weights


@lru_cache(maxsize=2)
def _every_set(size: int) -> Array:
    """Return all sets of cells but none and all, a row each; a set's complement mirrors it."""
    numbers = np.arange(1, 2**size - 1)
    result: Array = (numbers[:, None] >> np.arange(size) & 1).astype(np.float64)
    result.setflags(write=False)
    return result


def _with_complements(sets: Sets, every: int) -> Sets:
    return np.unique(np.concatenate([sets, every - 1 - sets]))


def _largest(prices: Array, most: int) -> Sets:
    most = min(most, len(prices))
    return np.argpartition(prices, -most)[-most:]


def _largest_of_each(every: Array, prices: Array) -> Sets:
    """Return the sets of the largest prices, as many as there are cells for each number of them.

    The larger a set, the more of a row it fills: prices tell sets of one size apart only.
    """
    cells, sizes = every.shape[1], every.sum(axis=1)
    alike = [np.flatnonzero(sizes == size) for size in range(1, cells)]
    return np.concatenate([places[_largest(prices[places], cells)] for places in alike])


def _without_the_least(sets: Array, weights: Array, gain: float) -> tuple[Array, Array]:
    """Return those sets only that weigh something, if the others can take over the rest."""
    for least in (NEGLIGIBLE, NEGLIGIBLE / 10, NEGLIGIBLE / 100, 0.0):
        kept = weights >= least * weights.max()
        balanced = balanced_weights(weights[kept], 1 + gain * sets[kept])
        if balanced is not None:
            return sets[kept], balanced
    problem = "the best sets of a staircase channel do not make a channel"
    raise EstimationError(problem, expected="margins that are nowhere nearly 0")


def balanced_weights(weights: Array, odds: Array) -> Array | None:
    """Return the θ nearest in entropy whose rows sum to 1, or None if no such θ was found."""
    shift = np.zeros(odds.shape[1])
    for _ in range(BALANCING):
        tried: Array = weights * np.exp(odds @ shift)
        missing = 1 - tried @ odds
        if np.abs(missing).max() < EXACT:
            return tried
        shift = shift + np.linalg.lstsq((odds.T * tried) @ odds, missing)[0]
        if np.abs(odds @ shift).max() > LARGEST_SHIFT:
            return None
    return None
