"""Which tables the folds are asked about, and what they saw of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb, prod
from typing import TYPE_CHECKING

from deniable.estimation.observation import observe, positions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from deniable.estimation.evidence import Evidence
    from deniable.estimation.latent_class import LatentClass
    from deniable.estimation.sight import Sight

TABLES = (8, 28, 12, 8, 4, 4)
"""Tables of each width, from one attribute on, that the folds are asked about."""

LARGEST = 2**13
"""Cells of a table that the folds are asked about."""


def asked_together(evidence: Evidence) -> list[set[str]]:
    """Return the sets of attributes that one person answered, none within another."""
    found = {
        frozenset(evidence.names[a] for group in batch.groups for a in group)
        for batch in evidence.batches
    }
    return [set(one) for one in found if not any(one < other for other in found)]


def some_tables(fit: LatentClass, width: int, rng: np.random.Generator) -> list[tuple[str, ...]]:
    """Draw some tables of a width that are small enough and were answered by one person."""
    names, sizes = fit.model.names, dict(zip(fit.model.names, fit.model.sizes, strict=True))
    together = asked_together(fit.folds.evidence)

    def fits(table: Sequence[str]) -> bool:
        small = prod(sizes[name] for name in table) <= LARGEST
        return small and any(set(table) <= one for one in together)

    wanted = TABLES[width - 1]
    if comb(len(names), width) <= 10 * wanted:
        possible = [table for table in combinations(names, width) if fits(table)]
        order = rng.permutation(len(possible))[:wanted]
        return [possible[place] for place in order]
    drawn = (tuple(rng.choice(names, width, replace=False).tolist()) for _ in range(10 * wanted))
    return [table for table in drawn if fits(table)][:wanted]


def covering_of(evidence: Evidence, attributes: Sequence[str]) -> tuple[Sight, ...]:
    """Return the sights of the whole table only; with many batches far sooner than all."""
    wanted = set(positions_of(evidence.names, tuple(attributes)))
    batches = [
        batch
        for batch in evidence.batches
        if wanted <= {attribute for group in batch.groups for attribute in group}
    ]
    if not batches:
        return ()
    return observe(replace(evidence, batches=tuple(batches)), attributes).covering
