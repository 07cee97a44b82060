"""Entropy, mutual information and G², in bits as Wang eq. 25 has them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from deniable.inference.form import Form, Path, Smooth, every_cell
from deniable.inference.measure import Measure, Setting
from deniable.inference.measures.association import away, independent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

BIT = math.log(2)


def entropy(setting: Setting) -> Form:
    """Return −Σ π·log₂ π (Wang eq. 25), with the slope −(log₂ π + 1/ln 2) of result 5."""
    axes = tuple(range(-len(setting.shape), 0))

    def value(table: Array) -> Array:
        return np.asarray(-_each(table, table).sum(axis=axes))

    def slope(table: Array) -> Array:
        return -(np.log2(table) + 1 / BIT)

    path = Path(even, _departure, folds=False)
    return Form(Smooth(value, slope), every_cell(math.prod(setting.shape)), path=path)


def mutual_information(setting: Setting) -> Form:
    """Return Σ π_ij·log₂(π_ij / (π_i π_j)), with the slope log₂(π_ij / (π_i π_j)) − 1/ln 2."""
    return _information(setting, 1.0)


def g_squared(setting: Setting) -> Form:
    """Return G² = 2n Σ π_ij·ln(π_ij / (π_i π_j)): of the answers, had they been given plainly."""
    return _information(setting, 2 * setting.people * BIT)


def _information(setting: Setting, factor: float) -> Form:
    def value(table: Array) -> Array:
        return np.asarray(factor * _each(table, table / _guarded(table)).sum(axis=(-2, -1)))

    def slope(table: Array) -> Array:
        return factor * (np.log2(table / independent(table)) - 1 / BIT)

    cells = every_cell(math.prod(setting.shape))
    return Form(Smooth(value, slope), cells, path=Path(independent, away))


def even(table: Array) -> Array:
    """Return the table with equal shares."""
    return np.full_like(table, 1 / table.size)


def _departure(tables: Array, anchor: Array) -> Array:
    """Return Σ (π − 1/m)² over the cells."""
    axes = tuple(range(-anchor.ndim, 0))
    return np.asarray(np.sum((tables - anchor) ** 2, axis=axes))


def _each(weight: Array, inside: Array) -> Array:
    """Return weight·log₂ inside, 0 where the weight is."""
    safe = np.where(weight > 0, inside, 1.0)
    return np.where(weight > 0, weight * np.log2(safe), 0.0)


def _guarded(table: Array) -> Array:
    product = independent(table)
    return np.where(product > 0, product, 1.0)


MEASURES = (
    Measure(
        "entropy",
        "Shannon (1948); Wang eq. 25, result 5",
        "how uncertain an answer is, in bits; of several attributes, their joint answer",
        "cells",
        entropy,
        least=0.0,
    ),
    Measure(
        "mutual-information",
        "Shannon (1948); Wang 5.2",
        "how many bits two attributes tell of each other",
        "pair",
        mutual_information,
        scale="root",
        least=0.0,
    ),
    Measure(
        "g-squared",
        "Wilks (1935); Wang 5.2",
        "G² that the true answers of these respondents would have had",
        "pair",
        g_squared,
        scale="root",
        least=0.0,
    ),
)
