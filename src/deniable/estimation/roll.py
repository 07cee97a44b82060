"""A roll: a sight that keeps distinct reports one by one, where a grid would be larger."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from deniable.estimation.axes import gathered, settled, widened
from deniable.estimation.route import Route, route_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from deniable.estimation.lens import Lens

    Array = NDArray[np.float64]
    Places = NDArray[np.int64]

Kind: TypeAlias = "tuple[Literal['likelihood', 'inverse', 'product'], int]"
"""L, U or L·U², and the power that each of its numbers is raised to."""


@dataclass(frozen=True, slots=True, eq=False)
class Roll:
    """Distinct reports one by one: for each group, the place of its value behind the lens."""

    block: int
    view: int
    order: tuple[int, ...]
    sizes: tuple[int, ...]
    lenses: tuple[Lens, ...]
    places: tuple[Places, ...]
    counts: Array
    routes: dict[Kind, Route] = field(default_factory=dict, repr=False)
    """What was worked out before; the same for other counts of the same reports."""

    @property
    def people(self) -> float:
        """Return the number of respondents."""
        return float(self.counts.sum())

    @property
    def effort(self) -> int:
        """Return how many numbers ``see`` or ``trace`` works out."""
        return self._route("likelihood").effort

    def recounted(self, counts: Array) -> Roll:
        """Return the same sight of other reports."""
        return replace(self, counts=counts)

    def among(self, axes: Sequence[int]) -> Roll:
        """Return the same sight of the smaller table that has only these axes."""
        return replace(self, order=tuple(axes.index(axis) for axis in self.order))

    def see(self, table: Array) -> Array:
        """Return λ for each distinct report."""
        return self._fold(self._route("likelihood"), table)

    def trace(self, weights: Array, shape: Sequence[int]) -> Array:
        """Return Lᵀw, report by report."""
        return widened(self._unfold(self._route("likelihood"), weights), self.order, shape)

    def invert(self, weights: Array) -> Array:
        """Return Uᵀw, report by report."""
        return self.moment(weights, 1)

    def moment(self, weights: Array, order: int) -> Array:
        """Return (Uᵀ)^order·w, report by report."""
        return self._unfold(self._route("inverse", order), weights)

    def spread(self, table: Array) -> Array:
        """Return U·table for each distinct report."""
        return self._fold(self._route("inverse"), table)

    def inside(self, seen: Array) -> Array:
        """Estimate the second moments by weighing each report with L[y, x] / λ[y]."""
        share = self.counts / (self.people * seen)
        squares = self._unfold(self._route("product"), share)
        result: Array = squares / self._unfold(self._route("likelihood"), share)
        return result

    def _route(self, kind: Literal["likelihood", "inverse", "product"], power: int = 1) -> Route:
        key = kind, power
        if key not in self.routes:
            self.routes[key] = route_of([_matrix(one, key) for one in self.lenses], self.places)
        return self.routes[key]

    def _fold(self, route: Route, table: Array) -> Array:
        """Return Σ_x π[x]·Π_g M_g[y_g, x_g] for each report y."""
        part = gathered(table, self.order)
        return route.fold(part.reshape([lens.cells for lens in self.lenses]))

    def _unfold(self, route: Route, weights: Array) -> Array:
        """Return Σ_y w[y]·Π_g M_g[y_g, x_g] for each cell x, one axis for each asked."""
        return settled(route.unfold(weights).reshape(-1), self.order, self.sizes)


def _matrix(lens: Lens, kind: Kind) -> Array:
    name, power = kind
    match name:
        case "likelihood":
            return lens.likelihood**power
        case "inverse":
            return lens.inverse**power
        case _:
            return lens.likelihood * lens.inverse**2
