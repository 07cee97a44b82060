"""How straight a measure is over the width of a standard error, and the delta method's error.

With R·Rᵀ the dispersion, g the slope and H its derivative, the estimate is off by
gᵀRz + ½·zᵀRᵀHRz for a standard normal z, to second order. The first part is the delta
method (Wang eq. 24); the second has the mean ½·tr(RᵀHR) and the variance ½·‖RᵀHR‖².
RᵀHR is found from exact slopes one standard error away on either side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.inference.confidence import slope_of
from deniable.inference.replicas import root_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.inference.confidence import Scale
    from deniable.inference.form import Form

    Array = NDArray[np.float64]

CLEAR = 2.5
"""Standard errors that what must be positive has to be above 0."""

CLEAR_OF_FOLD = 3.5
"""Standard errors that an association (V, or the root of χ²) has to be above 0."""

MOST_ADDED = 0.03
"""Variance that the bend may add to the first order's: the standard error is then within 5 %."""

MOST_SHIFT = 0.2
"""Standard errors by which the bend may shift the mean: a 95 % interval then keeps 94.5 %."""

STEEPEST = 1e9
"""A slope beyond this is an edge of the measure, not a slope."""


@dataclass(frozen=True, slots=True)
class Bend:
    """What the delta method says, and whether it may be believed.

    Attributes:
        error: √(gᵀΣg), on the measure's natural scale.
        straight: Whether that is the standard error to within 5 %.
        straight_on_scale: Whether the estimate is normal on the measure's own scale.
    """

    error: float
    straight: bool
    straight_on_scale: bool


def bend_of(form: Form, table: Array, dispersion: Array, scale: Scale) -> Bend:
    """Return how straight a form is around a table."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slope = form.whole.slope(table).reshape(-1)
        known = bool(np.all(np.isfinite(slope))) and float(np.abs(slope).max()) < STEEPEST
        if not known:
            return Bend(math.nan, straight=False, straight_on_scale=False)
        error = math.sqrt(max(float(slope @ dispersion @ slope), 0))
        if not _clear(form, table, dispersion) or _folds(form, table, error, scale):
            return Bend(error, straight=False, straight_on_scale=False)
        root = root_of(dispersion)
        slopes, values = _around(form, table, root)
        plain = _is_straight(slopes, root, error)
        if scale == "plain":
            return Bend(error, straight=plain, straight_on_scale=plain)
        steep = np.array([slope_of(scale, float(value)) for value in values.reshape(-1)])
        turned = slopes * steep.reshape(values.shape)[:, :, None]
        whole = error * slope_of(scale, float(form.whole.value(table)))
        return Bend(error, straight=plain, straight_on_scale=_is_straight(turned, root, whole))


def _clear(form: Form, table: Array, dispersion: Array) -> bool:
    """Tell whether all that must be positive is well above 0."""
    if form.positive is None:
        return True
    shares = form.positive @ table.reshape(-1)
    errors = np.sqrt(np.einsum("ij,jk,ik->i", form.positive, dispersion, form.positive))
    return bool(np.all(shares > CLEAR * errors))


def _folds(form: Form, table: Array, error: float, scale: Scale) -> bool:
    """Tell whether 0, where a measure of association has its fold, is too near."""
    if form.path is None or not form.path.folds:
        return False
    value = float(form.whole.value(table))
    return value < CLEAR_OF_FOLD * error * (0.5 if scale == "root" else 1)


def _around(form: Form, table: Array, root: Array) -> tuple[Array, Array]:
    """Return slopes (direction, side, cell) and values one standard error away on either side."""
    slopes, values = [], []
    for direction in root.T:
        sides = [table + sign * direction.reshape(table.shape) for sign in (1.0, -1.0)]
        slopes.append([form.whole.slope(side).reshape(-1) for side in sides])
        values.append([float(form.whole.value(side)) for side in sides])
    return np.array(slopes), np.array(values)


def _is_straight(slopes: Array, root: Array, error: float) -> bool:
    if not (np.all(np.isfinite(slopes)) and 0 < error < math.inf):
        return False
    turn = (slopes[:, 0] - slopes[:, 1]) @ root / 2
    turn = (turn + turn.T) / 2
    shift, added = abs(float(np.trace(turn))) / 2, float(np.sum(turn**2)) / 2
    return shift <= MOST_SHIFT * error and added <= MOST_ADDED * error**2
