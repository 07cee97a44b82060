"""Every estimator by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.errors import EstimationError, nearest
from deniable.estimation.methods import (
    classic,
    clipped,
    consistency,
    default,
    held_out,
    hybrid,
    maximum_likelihood,
    projected,
    rr_adjustment,
    rr_clusters,
    rr_ind_joint,
    rr_independent,
    rr_joint,
    trees,
    truncated,
    two_step,
    unbiased,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from deniable.estimation.method import Method
    from deniable.estimation.observation import Source
    from deniable.estimation.table import Table

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        default.METHOD,
        maximum_likelihood.METHOD,
        held_out.METHOD,
        trees.JUNCTION_TREE,
        trees.TREE,
        unbiased.METHOD,
        projected.METHOD,
        clipped.METHOD,
        rr_independent.METHOD,
        rr_joint.METHOD,
        rr_clusters.METHOD,
        rr_ind_joint.METHOD,
        hybrid.METHOD,
        truncated.METHOD,
        truncated.AS_PRINTED,
        rr_adjustment.METHOD,
        classic.BY_CLIENTS,
        classic.BY_BLOCKS,
        classic.LAST_TWO,
        maximum_likelihood.JOINT_EM,
        consistency.LEAST_SQUARES,
        consistency.LEAST_ABSOLUTE,
        two_step.METHOD,
    )
}
"""The methods, those of general use first."""

SPARSE = 5.0
"""People per cell, in plain answers, below which a table is called sparse."""


def method_named(name: str) -> Method:
    """Return a method, or say which there are."""
    if name not in METHODS:
        problem = f"there is no method called {name!r}"
        raise EstimationError(problem, expected=nearest(name, METHODS))
    return METHODS[name]


def estimate(
    source: Source,
    attributes: Sequence[str],
    *,
    rng: np.random.Generator,
    method: str = "default",
) -> Table:
    """Return the table of some attributes by the named method.

    The default says in ``reason`` what it chose and why. For several tables of the same
    reports, ``method_named(method).prepare(source, rng=rng)`` fits once.

    Args:
        source: A tally, or evidence.
        attributes: The table's attributes, in the order wanted.
        rng: Where a method throws dice: for held-out reports, for instance.
        method: A name in ``METHODS``.
    """
    return method_named(method).estimate(source, attributes, rng=rng)
