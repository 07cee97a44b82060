"""The unbiased inverse of every sight of a table, pooled; shares may be negative."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.estimation.method import Method, tabulate
from deniable.estimation.observation import observe, require_together
from deniable.estimation.unbiased import pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from deniable.estimation.observation import Source
    from deniable.estimation.table import Table


def estimate(source: Source, attributes: Sequence[str], *, rng: np.random.Generator) -> Table:
    """Return π̂ = P⁻ᵀλ̂, two coins in O(m), several groups axis by axis (castell)."""
    del rng
    observation = observe(source, attributes)
    dispersion = pooled(require_together(observation))
    return tabulate(observation, dispersion.centre, dispersion)


METHOD = Method(
    "unbiased",
    "Imran eq. 4; Domingo eq. 2; Wang eq. 17; Kikuchi eq. 5",
    "the inverse of each block's and view's channel, averaged by precision",
    estimate,
    proper=False,
)
