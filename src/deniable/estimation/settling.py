"""The pairs of a whole joint: from the model, towards independence or their own reports.

Two attributes at a time the reports say most for what they cost, and what is wrong with a
model's larger tables is nearly all wrong with its pairs. So every pair that was answered
together is settled once, and every larger table is raked to its pairs.
"""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

from deniable.estimation.inquiry import LARGEST, asked_together
from deniable.estimation.leaning import choose_leaning, lean
from deniable.estimation.observation import observe
from deniable.estimation.refinement import affordable, refine
from deniable.estimation.stack import seen_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from deniable.estimation.latent_class import LatentClass
    from deniable.estimation.refinement import Refinement

    Array = NDArray[np.float64]
    Pairs = dict[tuple[str, ...], Array]


def settle_pairs(fit: LatentClass, refinement: Refinement, *, rng: np.random.Generator) -> Pairs:
    """Return each pair's table, the attributes in the model's order.

    A pair that is neither leaned nor refined is the model's own and is left out, as are
    pairs of too many cells and those that nobody answered together.
    """
    together = asked_together(fit.folds.evidence)
    sizes = dict(zip(fit.model.names, fit.model.sizes, strict=True))
    pairs = [
        pair
        for pair in combinations(fit.model.names, 2)
        if prod(sizes[name] for name in pair) <= LARGEST
        and any(set(pair) <= one for one in together)
    ]
    leaning = choose_leaning(fit, pairs, rng=rng)
    steps = refinement.of(2) if pairs else 0.0
    settled: Pairs = {}
    for pair in pairs:
        share = leaning.of(pair)
        if share == 1 and not steps:
            continue
        table = lean(fit.model.table(pair), share)
        sights = seen_in(observe(fit.folds.evidence, pair).sights) if steps else []
        if steps and affordable(sights):
            table = refine(table, sights, steps)
        settled[pair] = table
    return settled
