"""EM from the product of the margins, stopped where reports that were held out are best told."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deniable.errors import EstimationError
from deniable.estimation.climb import climb, em_step, likelihood_of
from deniable.estimation.method import Method, tabulate
from deniable.estimation.observation import enclosing, evidence_of, observe, require_together
from deniable.estimation.unbiased import pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.evidence import Evidence
    from deniable.estimation.observation import Source
    from deniable.estimation.sight import Sight
    from deniable.estimation.table import Table

    Array = NDArray[np.float64]

FOLDS = 5
FEWEST = 10 * FOLDS
MOST_STEPS = 400
PATIENCE = 20
"""Steps without a better held-out likelihood before the best is believed to be past."""


def estimate(source: Source, attributes: Sequence[str], *, rng: np.random.Generator) -> Table:
    """Return EM after the number of steps that served held-out reports best.

    A large sparse table at the far end of EM reproduces the noise. Step 0 is independence,
    so a table of which the reports tell nothing more stays there.
    """
    names = enclosing(source, attributes)
    observation = observe(source, names)
    dispersion = pooled(require_together(observation))
    if observation.people < FEWEST:
        problem = "too few people to hold some out"
        raise EstimationError(problem, given=observation.people, expected=f"at least {FEWEST}")
    steps = _best_step(_folded(evidence_of(source), names, rng))
    table = product_of_margins(source, names)
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


class Fold(NamedTuple):
    """One split of the reports.

    Attributes:
        taught: What is learned from.
        held: What is held out.
        start: Independence, by what is learned from alone.
    """

    taught: tuple[Sight, ...]
    held: tuple[Sight, ...]
    start: Array


def _folded(evidence: Evidence, names: Sequence[str], rng: np.random.Generator) -> list[Fold]:
    """Split the reports at random so that each is held out once."""
    left = [batch.counts for batch in evidence.batches]
    folds = []
    for fold in range(FOLDS):
        out = [rng.binomial(counts, 1 / (FOLDS - fold)) for counts in left]
        left = [counts - taken for counts, taken in zip(left, out, strict=True)]
        rest = [b.counts - taken for b, taken in zip(evidence.batches, out, strict=True)]
        taught = _recounted(evidence, rest)
        held = observe(_recounted(evidence, out), names)
        start = product_of_margins(taught, names)
        folds.append(Fold(observe(taught, names).sights, held.sights, start))
    return folds


def _recounted(evidence: Evidence, counts: Sequence[NDArray[np.int64]]) -> Evidence:
    pairs = zip(evidence.batches, counts, strict=True)
    return replace(evidence, batches=tuple(replace(b, counts=number) for b, number in pairs))


def _best_step(folds: Sequence[Fold]) -> int:
    """Return the number of steps at which all held-out reports together are most likely."""
    tables = [fold.start for fold in folds]
    best, highest = 0, -np.inf
    for step in range(MOST_STEPS + 1):
        pairs = list(zip(folds, tables, strict=True))
        likelihood = sum(likelihood_of(fold.held, table) for fold, table in pairs)
        if likelihood > highest:
            best, highest = step, likelihood
        elif step - best >= PATIENCE:
            break
        tables = [em_step(fold.taught, table) for fold, table in pairs]
    return best


METHOD = Method(
    "held-out-em",
    "Domingo 2.1 (iterative Bayesian update), stopped by held-out likelihood",
    "EM from independence, stopped where held-out reports are most likely",
    estimate,
    loses=("stopping early draws the table towards independence of its attributes",),
)
