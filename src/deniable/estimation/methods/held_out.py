"""EM from the product of the margins, stopped where reports that were held out are best told."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.climb import climb, em_step, likelihood_of
from deniable.estimation.method import Method, tabulate
from deniable.estimation.observation import enclosing, observe, require_together
from deniable.estimation.unbiased import pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.observation import Source
    from deniable.estimation.sight import Sight
    from deniable.estimation.table import Table

    Array = NDArray[np.float64]

FOLDS = 3
HELD_OUT = 0.1
MOST_STEPS = 400
PATIENCE = 12
"""Steps without a better held-out likelihood before a fold is believed to be past its best."""


def estimate(source: Source, attributes: Sequence[str], *, rng: np.random.Generator) -> Table:
    """Return EM after the number of steps that served held-out reports best.

    A large sparse table at the far end of EM reproduces the noise. Step 0 is independence,
    so a table of which the reports tell nothing more stays there.
    """
    names = enclosing(source, attributes)
    observation = observe(source, names)
    dispersion = pooled(require_together(observation))
    start = product_of_margins(source, names)
    best = [_best_step(*_thinned(observation.sights, rng), start) for _ in range(FOLDS)]
    steps = round(float(np.median(best)))
    table = start
    for _ in range(steps):
        table = em_step(observation.sights, table)
    reason = f"{steps} steps from independence explained held-out reports best"
    found = tabulate(observation, table, dispersion, reason=reason)
    return found if names == tuple(attributes) else found.marginalize(attributes)


def product_of_margins(source: Source, names: Sequence[str]) -> Array:
    """Return the product of the maximum-likelihood tables of single attributes, without zeros."""
    margins = []
    for name in names:
        alone = observe(source, (name,))
        even = np.full(alone.shape, 1 / alone.cells)
        summit = climb(alone.sights, even, gap=0.01)
        margins.append((alone.people * summit.table + even) / (alone.people + 1))
    return np.asarray(reduce(np.multiply.outer, margins))


def _thinned(sights: Sequence[Sight], rng: np.random.Generator) -> tuple[list[Sight], list[Sight]]:
    """Split the reports at random into those to learn from and those held out."""
    taught, held = [], []
    for sight in sights:
        out = rng.binomial(sight.counts.astype(np.int64), HELD_OUT).astype(np.float64)
        taught.append(sight.recounted(sight.counts - out))
        held.append(sight.recounted(out))
    return taught, held


def _best_step(taught: Sequence[Sight], held: Sequence[Sight], start: Array) -> int:
    table, best, highest = start, 0, likelihood_of(held, start)
    for step in range(1, MOST_STEPS + 1):
        table = em_step(taught, table)
        likelihood = likelihood_of(held, table)
        if likelihood > highest:
            best, highest = step, likelihood
        elif step - best >= PATIENCE:
            break
    return best


METHOD = Method(
    "held-out-em",
    "Domingo 2.1 (iterative Bayesian update), stopped by held-out likelihood",
    "EM from independence, stopped where held-out reports are most likely",
    estimate,
    loses=("stopping early draws the table towards independence of its attributes",),
)
