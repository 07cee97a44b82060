"""The unbiased estimate of a table from all sights of it, and how sure it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.covariance import Dispersion
from deniable.estimation.sight import merged, noise_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.estimation.sight import Sight


def pooled(sights: Sequence[Sight]) -> Dispersion:
    """Return the weighted mean of the sights' inverses; each must have the whole table.

    A sight weighs n / noise, its people over what one report is worth at even π: the
    weights do not look at the reports, so the mean is as unbiased as its parts.
    """
    sights = merged(sights)
    weights = np.array([sight.people / noise_of(sight) for sight in sights])
    weights /= weights.sum()
    centre = sum(
        weight * sight.invert(sight.counts / sight.people)
        for weight, sight in zip(weights, sights, strict=True)
    )
    parts = tuple(zip(weights.tolist(), sights, strict=True))
    return Dispersion(np.asarray(centre), parts)
