"""A form: a measure as a function of shares, with its exact slope."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from deniable.inference.confidence import Scale

    Array = NDArray[np.float64]
    Map: TypeAlias = Callable[[Array], Array]


@dataclass(frozen=True, slots=True)
class Smooth:
    """A function of shares.

    Attributes:
        value: From arrays whose last axes are the table's to one number each.
        slope: From one table to the derivative by each of its cells.
    """

    value: Map
    slope: Map


@dataclass(frozen=True, slots=True)
class Path:
    """Tables from one where the measure has its extreme value to the one that was found.

    There the slope is 0 and the delta method knows nothing.

    Attributes:
        anchor: From a table to the nearest one where the measure is extreme.
        distance: From tables, which need not be proper, and an anchor to a statistic that
            grows with the distance from it.
        folds: Whether the measure's root is a distance from the anchor, |x| and not x².
    """

    anchor: Map
    distance: Callable[[Array, Array], Array]
    folds: bool = True


@dataclass(frozen=True, slots=True)
class Form:
    """A measure for tables of one shape.

    Attributes:
        whole: The measure itself.
        positive: Which sums of cells must be well above 0 for the delta method: one row each.
        fraction: Numerator and denominator, for ratios.
        carried: The scale to which the bounds of the fraction are carried.
        path: Where the slope vanishes at an extreme value.
        target: What the measure estimates, as a function of the true shares, if that is not
            the measure itself: a correction for noise is none of the truth's.
    """

    whole: Smooth
    positive: Array | None = None
    fraction: tuple[Smooth, Smooth] | None = None
    carried: Scale = "plain"
    path: Path | None = None
    target: Map | None = None

    def truth(self, table: Array) -> float:
        """Return what the measure estimates, where the true shares are these."""
        return float(self.whole.value(table) if self.target is None else self.target(table))


def ratio(
    numerator: Smooth,
    denominator: Smooth,
    *,
    positive: Array | None = None,
    otherwise: float = np.nan,
) -> Form:
    """Return the form N/D, with the slope (∇N − (N/D)·∇D)/D; ``otherwise`` where D is 0."""

    def value(table: Array) -> Array:
        above, below = numerator.value(table), denominator.value(table)
        fallback = np.full_like(above, otherwise)
        return np.divide(above, below, out=fallback, where=below > 0)

    def slope(table: Array) -> Array:
        below = denominator.value(table)
        share = numerator.value(table) / below
        return (numerator.slope(table) - share * denominator.slope(table)) / below

    return Form(Smooth(value, slope), positive, (numerator, denominator))


def linear(weights: Array) -> Smooth:
    """Return Σ w·π over all axes of the weights."""
    axes = tuple(range(-weights.ndim, 0))

    def value(table: Array) -> Array:
        return np.asarray(np.sum(weights * table, axis=axes))

    def slope(_: Array) -> Array:
        return weights

    return Smooth(value, slope)


def every_cell(cells: int) -> Array:
    """Return one row for each cell."""
    return np.eye(cells)


def margins_of(shape: tuple[int, int]) -> Array:
    """Return one row for each row and each column of a two-way table."""
    rows, columns = shape
    across = np.kron(np.eye(rows), np.ones(columns))
    down = np.kron(np.ones(rows), np.eye(columns))
    return np.vstack([across, down])
