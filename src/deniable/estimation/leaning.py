"""How far a pair leans from the model towards independence: what held-out people say of it.

A model that knows of some dependence also makes a little up where there is none. For a pair
of attributes the people held out from each climb tell the two apart: they give each share
of the model, beside the product of its own margins, a likelihood. One pair's people are too
few to decide, so the spread of the shares over all pairs is estimated first (where nearly
all pairs are independent, the next one probably is), and a pair gets the expected share.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.inquiry import covering_of
from deniable.estimation.sight import merged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.estimation.latent_class import LatentClass

    Array = NDArray[np.float64]

MOST_ASKED = 120
"""Pairs that are asked about by themselves; the others get what these get on average."""

SHARES = np.linspace(0.0, 1.0, 9)
ROUNDS = 50
"""EM steps in which the spread of the shares is estimated."""

TINY = 1e-300


def lean(table: Array, share: float) -> Array:
    """Return the table with ``1 - share`` of it replaced by the product of its margins."""
    if share == 1:
        return table
    axes = range(table.ndim)
    margins = [table.sum(axis=tuple(a for a in axes if a != axis)) for axis in axes]
    product: Array = reduce(np.multiply.outer, margins)
    return share * table + (1 - share) * product


@dataclass(frozen=True, slots=True, eq=False)
class Leaning:
    """The share of the model in each pair that was asked about, and in the others."""

    shares: Mapping[tuple[str, ...], float]
    usual: float

    def of(self, pair: tuple[str, ...]) -> float:
        """Return the share of the model in a pair."""
        return self.shares.get(pair, self.usual)


def choose_leaning(
    fit: LatentClass, pairs: Sequence[tuple[str, ...]], *, rng: np.random.Generator
) -> Leaning:
    """Ask the folds; the spread of the shares is estimated by likelihood (empirical Bayes)."""
    if not fit.gain or not pairs:
        return Leaning({}, 1.0)
    asked = [pairs[place] for place in rng.permutation(len(pairs))[:MOST_ASKED]]
    likely = np.exp(np.array([_stable(_gains(fit, pair)) for pair in asked]))
    spread = np.full(len(SHARES), 1 / len(SHARES))
    for _ in range(ROUNDS):
        belongs = spread * likely
        belongs /= belongs.sum(axis=1, keepdims=True)
        # One pair's worth of doubt keeps every share possible.
        spread = (belongs.sum(axis=0) + 1 / len(SHARES)) / (len(asked) + 1)
    belongs = spread * likely
    belongs /= belongs.sum(axis=1, keepdims=True)
    shares = dict(zip(asked, (belongs @ SHARES).tolist(), strict=True))
    return Leaning(shares, float(spread @ SHARES))


def _stable(gains: Array) -> Array:
    shifted: Array = gains - gains.max()
    return shifted


def _gains(fit: LatentClass, names: Sequence[str]) -> Array:
    """Return how much likelier than independence each share makes held-out reports."""
    gains = np.zeros(len(SHARES))
    for fold, climb in enumerate(fit.climbs):
        table = climb.table(names)
        flat = lean(table, 0.0)
        for sight in merged(covering_of(fit.folds.evidence_held(fold), names)):
            odds = sight.see(table) / np.maximum(sight.see(flat), TINY) - 1
            change = np.log(np.maximum(1 + np.multiply.outer(SHARES, odds), TINY))
            gains += (sight.counts * change).reshape(len(SHARES), -1).sum(axis=1)
    return gains
