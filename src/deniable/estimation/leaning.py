"""How far a table leans from the model towards independence: what held-out people say of it.

A model that knows of some dependence also makes a little up where there is none. For a
table of few attributes the people held out from each climb tell the two apart: they give
each share of the model, beside the product of its own margins, a likelihood. One table's
people are too few to decide, so the spread of the shares over all tables of that width is
estimated first (where nearly all pairs are independent, the next one probably is), and a
table gets the expected share.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.inquiry import LARGEST, some_tables
from deniable.estimation.observation import observe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.latent_class import LatentClass

    Array = NDArray[np.float64]

WIDEST = 4
"""Tables of more attributes are left to the model: asking would take too long."""

FEWEST = 2
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
    """How shares of the model are spread over the tables of each width, two attributes first."""

    spread: tuple[Array, ...]

    def share(self, fit: LatentClass, names: Sequence[str]) -> float:
        """Return the expected share of the model in a table, given its held-out reports."""
        place = len(names) - FEWEST
        if not 0 <= place < len(self.spread) or not _is_askable(fit, names):
            return 1.0
        likely = self.spread[place] * np.exp(_stable(_gains(fit, names)))
        return float(SHARES @ likely / likely.sum())


def choose_leaning(fit: LatentClass, *, rng: np.random.Generator) -> Leaning:
    """Estimate the spread of the shares over tables by maximum likelihood (empirical Bayes)."""
    if not fit.gain:
        return Leaning(())
    widths = range(FEWEST, min(WIDEST, len(fit.model.names)) + 1)
    return Leaning(tuple(_spread(fit, some_tables(fit, width, rng)) for width in widths))


def _spread(fit: LatentClass, tables: Sequence[Sequence[str]]) -> Array:
    spread = np.full(len(SHARES), 1 / len(SHARES))
    if not tables:
        return spread
    likely = np.exp(np.array([_stable(_gains(fit, names)) for names in tables]))
    for _ in range(ROUNDS):
        belongs = spread * likely
        belongs /= belongs.sum(axis=1, keepdims=True)
        # One table's worth of doubt keeps every share possible.
        spread = (belongs.sum(axis=0) + 1 / len(SHARES)) / (len(tables) + 1)
    return spread


def _is_askable(fit: LatentClass, names: Sequence[str]) -> bool:
    return prod(len(fit.model.part(name)) for name in names) <= LARGEST


def _stable(gains: Array) -> Array:
    shifted: Array = gains - gains.max()
    return shifted


def _gains(fit: LatentClass, names: Sequence[str]) -> Array:
    """Return how much likelier than independence each share makes held-out reports."""
    gains = np.zeros(len(SHARES))
    for fold, climb in enumerate(fit.climbs):
        table = climb.table(names)
        flat = lean(table, 0.0)
        for sight in observe(fit.folds.evidence_held(fold), names).covering:
            odds = sight.see(table) / np.maximum(sight.see(flat), TINY) - 1
            for place, share in enumerate(SHARES):
                change = np.log(np.maximum(1 + share * odds, TINY))
                gains[place] += np.sum(sight.counts * change)
    return gains
