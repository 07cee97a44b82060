"""Trees: the whole joint from the tables of pairs, which name only what depends on what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.estimation.growth import fit_junction_tree, fit_tree
from deniable.estimation.method import Method, table_of
from deniable.estimation.observation import evidence_of, observe

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from deniable.estimation.observation import Source
    from deniable.estimation.table import Table


def estimate_by_tree(
    source: Source, attributes: Sequence[str], *, rng: np.random.Generator
) -> Table:
    """Return Π P(v | parent of v) over the tree, summed over the other attributes."""
    observe(source, attributes)  # what is wrong with the question comes before a long fit
    return table_of(fit_tree(evidence_of(source), rng=rng), source, attributes)


def estimate_by_junction_tree(
    source: Source, attributes: Sequence[str], *, rng: np.random.Generator
) -> Table:
    """Return Π P(v | parents of v) over the junction tree, summed over the other attributes."""
    observe(source, attributes)
    return table_of(fit_junction_tree(evidence_of(source), rng=rng), source, attributes)


TREE = Method(
    "tree",
    "Chow & Liu 1968, from pairs debiased by likelihood",
    "a tree of the pairs that tell most of each other; any table of any attributes",
    estimate_by_tree,
    loses=("attributes that do not hang together are independent given those between them",),
    fit=fit_tree,
)

JUNCTION_TREE = Method(
    "junction-tree",
    "Lauritzen & Spiegelhalter 1988, from pairs debiased by likelihood",
    "a tree of cliques, as wide as held-out reports say; any table of any attributes",
    estimate_by_junction_tree,
    loses=("three attributes together are told by their pairs alone",),
    fit=fit_junction_tree,
)
