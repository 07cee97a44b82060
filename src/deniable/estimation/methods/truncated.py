"""Kikuchi's truncated scheme: no cell above what tables of one attribute less allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.method import Method, tabulate
from deniable.estimation.methods.rr_ind_joint import require_apart
from deniable.estimation.observation import observe
from deniable.estimation.unbiased import pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.estimation.observation import Source
    from deniable.estimation.table import Table


def estimate(source: Source, attributes: Sequence[str], *, rng: np.random.Generator) -> Table:
    """Return min over i of (max(π̂, 0), max(π̂ summed over attribute i, 0))."""
    del rng
    return _truncated(source, attributes, floor=0.0)


def estimate_as_printed(
    source: Source, attributes: Sequence[str], *, rng: np.random.Generator
) -> Table:
    """Return algorithm 4 to the letter, which lets negative limits through."""
    del rng
    return _truncated(source, attributes, floor=-np.inf)


def _truncated(source: Source, attributes: Sequence[str], *, floor: float) -> Table:
    """Cap each cell by its (w − 1)-way estimates (eq. 8 with |S'| = |S| − 1)."""
    observation = observe(source, attributes)
    dispersion = pooled(require_apart(observation))
    # The table with one attribute less, estimated by itself, is the sum of the whole one.
    table = np.maximum(dispersion.centre, 0)
    for axis in range(table.ndim if table.ndim > 1 else 0):
        limit = dispersion.centre.sum(axis=axis, keepdims=True)
        table = np.minimum(table, np.maximum(limit, floor))
    return tabulate(observation, table, dispersion)


METHOD = Method(
    "truncated",
    "Kikuchi III-E, eq. 8, algorithm 4, negative limits lifted to 0",
    "RR-Ind-Joint with each cell capped by the tables of one attribute less",
    estimate,
    loses=("the shares do not sum to 1",),
    proper=False,
)

AS_PRINTED = Method(
    "truncated-as-printed",
    "Kikuchi III-E, eq. 8, algorithm 4",
    "the same to the letter: negative limits are let through",
    estimate_as_printed,
    loses=("the shares do not sum to 1", "shares may be negative"),
    proper=False,
)
