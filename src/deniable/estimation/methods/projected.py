"""The proper distribution nearest to the unbiased estimate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from deniable.estimation.method import Method
from deniable.estimation.methods import unbiased
from deniable.estimation.simplex import nearest_proper

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from deniable.estimation.observation import Source
    from deniable.estimation.table import Table


def estimate(source: Source, attributes: Sequence[str], *, rng: np.random.Generator) -> Table:
    """Return the Euclidean projection of π̂ onto the simplex."""
    table = unbiased.estimate(source, attributes, rng=rng)
    return replace(table, estimate=nearest_proper(table.estimate))


METHOD = Method(
    "projected",
    "Duchi et al. 2008; what Domingo 6.4 means to do",
    "the distribution nearest to the unbiased estimate",
    estimate,
)
