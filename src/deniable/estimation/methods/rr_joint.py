"""RR-Joint: a marginal table in closed form from reports on many attributes at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.errors import EstimationError
from deniable.estimation.lens import PointLens
from deniable.estimation.method import Method, tabulate
from deniable.estimation.observation import observe, require_together
from deniable.estimation.unbiased import pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from deniable.estimation.observation import Source
    from deniable.estimation.table import Table


def estimate(source: Source, attributes: Sequence[str], *, rng: np.random.Generator) -> Table:
    """Return (λ̂_S − (1 − p)·T_S)/p, where T_S sums the fake distribution over the slice.

    For k-ary channels that is (λ̂_S − q·D/D_S)/(p − q). The table of all attributes is never
    laid out, so their number does not matter.
    """
    del rng
    observation = observe(source, attributes)
    joint = [
        sight
        for sight in require_together(observation)
        if len(sight.lenses) == 1 and isinstance(sight.lenses[0], PointLens)
    ]
    if not joint:
        problem = "the attributes were not randomized together as one cell by two coins"
        expected = "the design 'joint' or 'ask-one', or the method 'rr-ind-joint'"
        raise EstimationError(problem, expected=expected)
    dispersion = pooled(joint)
    return tabulate(observation, dispersion.centre, dispersion)


METHOD = Method(
    "rr-joint",
    "Domingo 3.2, protocol 2; Kikuchi eq. 1",
    "the marginal table of reports that are one cell of all their attributes",
    estimate,
    proper=False,
)
