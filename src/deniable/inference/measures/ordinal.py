"""Measures for ordered categories: Pearson's r of their places, Kendall's τ-b, γ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.inference.form import Form, Smooth, ratio
from deniable.inference.measure import Measure, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def pearson(setting: Setting) -> Form:
    """Return Cov(x, y)/√(Var x·Var y), where x and y are the places 0, 1, … of the answers."""
    rows, columns = (np.arange(size, dtype=np.float64) for size in setting.shape)
    first, second = np.meshgrid(rows, columns, indexing="ij")
    covariance = _covariance(first, second)
    spread = _root_of_product(_covariance(first, first), _covariance(second, second))
    return ratio(covariance, spread)


def kendall(setting: Setting) -> Form:
    """Return τ-b = (C − D)/√((1 − Σπ_i²)(1 − Σπ_j²)), C and D the shares of pairs."""
    return ratio(_pairs(setting, 0.0), _root_of_product(_untied(1), _untied(0)))


def gamma(setting: Setting) -> Form:
    """Return γ = (C − D)/(C + D)."""
    return ratio(_pairs(setting, 0.0), _pairs(setting, 1.0))


def _pairs(setting: Setting, both: float) -> Smooth:
    """Return C − D, or C + D, as the quadratic form Σ π·(S_r π S_cᵀ)."""
    signs = []
    for size in setting.shape:
        places = np.arange(size)
        sign = np.sign(places[:, None] - places[None, :]).astype(np.float64)
        signs.append(np.abs(sign) if both else sign)
    rows, columns = signs

    def crossed(table: Array) -> Array:
        result: Array = rows @ table @ columns.T
        return result

    def value(table: Array) -> Array:
        return np.asarray(np.sum(table * crossed(table), axis=(-2, -1)))

    return Smooth(value, lambda table: 2 * crossed(table))


def _untied(axis: int) -> Smooth:
    """Return 1 − Σ π_i² over the margin that is left when ``axis`` is summed away."""

    def value(table: Array) -> Array:
        margin = table.sum(axis=axis - 2)
        return np.asarray(1 - np.sum(margin**2, axis=-1))

    def slope(table: Array) -> Array:
        result: Array = -2 * table.sum(axis=axis, keepdims=True) + 0 * table
        return result

    return Smooth(value, slope)


def _covariance(first: Array, second: Array) -> Smooth:
    """Return E[xy] − E[x]·E[y]."""

    def value(table: Array) -> Array:
        product = np.sum(table * first * second, axis=(-2, -1))
        return np.asarray(product - _mean(table, first) * _mean(table, second))

    def slope(table: Array) -> Array:
        return first * second - first * _mean(table, second) - second * _mean(table, first)

    return Smooth(value, slope)


def _mean(table: Array, scores: Array) -> Array:
    return np.asarray(np.sum(table * scores, axis=(-2, -1)))


def _root_of_product(one: Smooth, other: Smooth) -> Smooth:
    """Return √(f·g), 0 where either is negative."""

    def value(table: Array) -> Array:
        first, second = np.maximum(one.value(table), 0), np.maximum(other.value(table), 0)
        return np.asarray(np.sqrt(first * second))

    def slope(table: Array) -> Array:
        turned = one.slope(table) * other.value(table) + one.value(table) * other.slope(table)
        return turned / (2 * value(table))

    return Smooth(value, slope)


MEASURES = (
    Measure(
        "pearson-r",
        "Pearson (1895); Wang 5.2",
        "linear correlation of the places of ordered answers",
        "pair",
        pearson,
        scale="atanh",
        least=-1.0,
        most=1.0,
        ordinal=True,
    ),
    Measure(
        "kendall-tau-b",
        "Kendall (1945)",
        "excess of concordant over discordant pairs of people, ties allowed for",
        "pair",
        kendall,
        scale="atanh",
        least=-1.0,
        most=1.0,
        ordinal=True,
    ),
    Measure(
        "gamma",
        "Goodman & Kruskal (1954)",
        "excess of concordant over discordant pairs of people that are not tied",
        "pair",
        gamma,
        scale="atanh",
        least=-1.0,
        most=1.0,
        ordinal=True,
    ),
)
