"""Measures of association between nominal attributes: χ², φ² and Cramér's V."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.inference.form import Form, Path, Smooth, margins_of
from deniable.inference.measure import Measure, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def independent(table: Array) -> Array:
    """Return the product of the margins of a two-way table, or of each of several."""
    result: Array = table.sum(axis=-1, keepdims=True) * table.sum(axis=-2, keepdims=True)
    return result


def away(tables: Array, anchor: Array) -> Array:
    """Return Σ (π_ij − π_i π_j)²/(a_i a_j) with the anchor's margins, defined for any sign."""
    left = tables - independent(tables)
    return np.asarray(np.sum(left**2 / np.maximum(anchor, 1e-12), axis=(-2, -1)))


def phi_squared() -> Smooth:
    """Return φ² = Σ (π_ij − π_i π_j)²/(π_i π_j) and its slope within the shares of sum 1."""

    def value(table: Array) -> Array:
        product = independent(table)
        left = (table - product) ** 2
        parts = np.divide(left, product, out=np.zeros_like(left), where=product > 0)
        return np.asarray(parts.sum(axis=(-2, -1)))

    def slope(table: Array) -> Array:
        # of Σ π²/(π_i π_j) − 1, which is the same where the shares sum to 1
        rows, columns = table.sum(axis=1), table.sum(axis=0)
        odds = table / np.outer(rows, columns)
        across = (odds * table).sum(axis=1) / rows
        down = (odds * table).sum(axis=0) / columns
        result: Array = 2 * odds - across[:, None] - down[None, :]
        return result

    return Smooth(value, slope)


def chi_squared(setting: Setting) -> Form:
    """Return χ² = nφ² (Wang eq. 26)."""
    return _of_phi(setting, lambda phi: setting.people * phi, lambda _: setting.people)


def cramers_v(setting: Setting) -> Form:
    """Return V = √(φ²/(min(r, c) − 1))."""
    most = min(setting.shape) - 1
    return _of_phi(setting, lambda phi: np.sqrt(phi / most), lambda phi: 0.5 / np.sqrt(phi * most))


def cramers_v_corrected(setting: Setting) -> Form:
    """Return Ṽ of Bergsma (2013), his (r − 1)(c − 1)/(n − 1) replaced by what the channel adds.

    Where nothing is associated E φ̂² is ``noise``; his correction is that of n* plain answers
    with (r − 1)(c − 1)/(n* − 1) = noise. Without randomization n* = n.
    """
    rows, columns = setting.shape
    effective = 1 + (rows - 1) * (columns - 1) / setting.noise
    least = min(size - (size - 1) ** 2 / (effective - 1) for size in (rows, columns)) - 1
    most = max(least, 1e-9)

    def value(phi: Array) -> Array:
        return np.minimum(np.sqrt(np.maximum(phi - setting.noise, 0) / most), 1.0)

    def slope(phi: float) -> float:
        return 0.5 / np.sqrt((phi - setting.noise) * most) if phi > setting.noise else np.inf

    plain = cramers_v(setting).whole.value
    return replace(_of_phi(setting, value, slope), target=plain)


def _of_phi(
    setting: Setting, turned: Callable[[Array], Array], turning: Callable[[float], float]
) -> Form:
    phi = phi_squared()
    whole = Smooth(
        lambda table: np.asarray(turned(phi.value(table))),
        lambda table: turning(float(phi.value(table))) * phi.slope(table),
    )
    rows, columns = setting.shape
    return Form(whole, margins_of((rows, columns)), path=Path(independent, away))


MEASURES = (
    Measure(
        "cramers-v",
        "Cramér (1946)",
        "association from 0 to 1; pushed up by noise, see cramers-v-corrected",
        "pair",
        cramers_v,
        least=0.0,
        most=1.0,
    ),
    Measure(
        "cramers-v-corrected",
        "Bergsma (2013), with the channel's own noise",
        "association from 0 to 1, less what noise alone would show",
        "pair",
        cramers_v_corrected,
        least=0.0,
        most=1.0,
    ),
    Measure(
        "chi-squared",
        "Pearson (1900); Wang eq. 26",
        "χ² that the true answers of these respondents would have had",
        "pair",
        chi_squared,
        scale="root",
        least=0.0,
    ),
)
