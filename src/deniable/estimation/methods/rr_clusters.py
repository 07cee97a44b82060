"""RR-Clusters: the product of the clusters' own tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.estimation.method import Method
from deniable.estimation.methods.rr_independent import product_of
from deniable.estimation.observation import evidence_of, observe, require_together

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from deniable.estimation.observation import Observation, Source
    from deniable.estimation.table import Table


def estimate(source: Source, attributes: Sequence[str], *, rng: np.random.Generator) -> Table:
    """Return Π_C π̂^C(x^C) over the clusters, each of their tables proper (Domingo 4.1, 6.4).

    Attributes of one cluster were randomized together, and their table is that of its reports;
    clusters are taken to be independent of each other. The interval is that of the saturated
    estimate wherever reports carry it.
    """
    observation = observe(source, attributes)
    return product_of(source, observation, _clusters(observation, source), rng)


def _clusters(observation: Observation, source: Source) -> list[tuple[str, ...]]:
    """Return the attributes divided as the groups of a view that asks all of them divide them.

    Where views divide them differently, that is the division into the fewest clusters.
    """
    evidence, attributes = evidence_of(source), observation.names
    found: set[tuple[tuple[str, ...], ...]] = set()
    for batch in evidence.batches:
        parts = [
            tuple(name for name in attributes if evidence.names.index(name) in group)
            for group in batch.groups
        ]
        if sum(map(len, parts)) == len(attributes):
            found.add(tuple(sorted(part for part in parts if part)))
    if not found:
        require_together(observation)
    fewest = min(len(parts) for parts in found)
    return list(min(parts for parts in found if len(parts) == fewest))


METHOD = Method(
    "rr-clusters",
    "Domingo 4.1, algorithm 1; 6.4",
    "the product of the tables of clusters, each randomized as one cell",
    estimate,
    loses=("it takes the clusters to be independent of each other",),
)
