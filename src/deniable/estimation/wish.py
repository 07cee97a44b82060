"""A wish: which directions of a table a channel is to tell about, and which it has to fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Wish:
    """What a channel is to tell about.

    Attributes:
        null: The table near which it is to tell, flat.
        nuisance: Directions that are fitted as well, one column each.
        wanted: The directions asked about.
        known: The information along both, the nuisance first, that there is anyway.
        share: The share of respondents who will go through the channel.
    """

    null: Array
    nuisance: Array
    wanted: Array
    known: Array
    share: float

    @property
    def directions(self) -> Array:
        """Return all directions, the nuisance first."""
        return np.hstack([self.nuisance, self.wanted])

    def information(self, rows: Array) -> Array:
        """Return Σ_y (Dᵀ P_y)(Dᵀ P_y)ᵀ / λ_y, what one report of a channel tells."""
        slopes, seen = self.directions.T @ rows, self.null @ rows
        result: Array = (slopes / seen) @ slopes.T
        return result

    def efficient(self, whole: Array) -> Array:
        """Return the information on what is wanted when the nuisance is fitted as well."""
        first = self.nuisance.shape[1]
        crossed = whole[:first, first:]
        inner = np.linalg.solve(whole[:first, :first], crossed)
        result: Array = whole[first:, first:] - crossed.T @ inner
        return result
