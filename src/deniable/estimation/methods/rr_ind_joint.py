"""RR-Ind-Joint: the joint table from attributes randomized one by one, by castell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.errors import EstimationError
from deniable.estimation.method import Method, tabulate
from deniable.estimation.observation import observe, require_together
from deniable.estimation.unbiased import pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from deniable.estimation.observation import Observation, Source
    from deniable.estimation.sight import Sight
    from deniable.estimation.table import Table


def estimate(source: Source, attributes: Sequence[str], *, rng: np.random.Generator) -> Table:
    """Return (⊗P_i)⁻ᵀ·λ̂, axis by axis (Kikuchi algorithm 3)."""
    del rng
    observation = observe(source, attributes)
    dispersion = pooled(require_apart(observation))
    return tabulate(observation, dispersion.centre, dispersion)


def require_apart(observation: Observation) -> list[Sight]:
    """Return the sights in which every attribute was randomized on its own."""
    sights = require_together(observation)
    apart = [sight for sight in sights if len(sight.lenses) == len(observation.shape)]
    if not apart:
        problem = "the attributes were not randomized each on its own"
        expected = "the design 'independent', or the method 'rr-joint'"
        raise EstimationError(problem, expected=expected)
    return apart


METHOD = Method(
    "rr-ind-joint",
    "Kikuchi III-C, eq. 3–6, algorithm 3",
    "the inverse of attributes randomized one by one, applied axis by axis",
    estimate,
    proper=False,
)
