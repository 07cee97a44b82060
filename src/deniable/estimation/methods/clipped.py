"""The unbiased estimate, negative shares set to 0 and the rest rescaled."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from deniable.estimation.method import Method
from deniable.estimation.methods import unbiased
from deniable.estimation.simplex import clip_and_rescale

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from deniable.estimation.observation import Source
    from deniable.estimation.table import Table


def estimate(source: Source, attributes: Sequence[str], *, rng: np.random.Generator) -> Table:
    """Return max(π̂, 0) / Σ max(π̂, 0)."""
    table = unbiased.estimate(source, attributes, rng=rng)
    return replace(table, estimate=clip_and_rescale(table.estimate))


METHOD = Method(
    "clipped",
    "Domingo 6.4",
    "the unbiased estimate with negative shares set to 0 and the others rescaled",
    estimate,
    loses=("rescaling takes from large cells what clipping gave to empty ones",),
)
