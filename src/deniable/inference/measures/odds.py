"""Measures of two answers to two questions: odds ratio, risk difference, risk ratio.

The table is [[a, b], [c, d]]: rows are the first attribute, columns the second; the first
row and the first column are the answers compared, the others what they are compared with.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.inference.form import Form, Smooth, every_cell, linear, margins_of, ratio
from deniable.inference.measure import Measure, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

TOP = np.array([[1.0, 1.0], [0.0, 0.0]])
BOTTOM = TOP[::-1]
A = np.array([[1.0, 0.0], [0.0, 0.0]])
C = A[::-1]


def odds_ratio(_: Setting) -> Form:
    """Return ad/(bc)."""
    main = _product(linear(A), linear(A[::-1, ::-1]))
    other = _product(linear(A[:, ::-1]), linear(C))
    return ratio(main, other, positive=every_cell(4), otherwise=np.inf)


def log_odds_ratio(setting: Setting) -> Form:
    """Return ln a − ln b − ln c + ln d."""
    signs = np.array([[1.0, -1.0], [-1.0, 1.0]])

    def value(table: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.sum(signs * np.log(np.maximum(table, 0)), axis=(-2, -1)))

    whole = Smooth(value, lambda table: signs / table)
    return replace(odds_ratio(setting), whole=whole, carried="log")


def risk_difference(_: Setting) -> Form:
    """Return a/(a + b) − c/(c + d) = (a(c + d) − c(a + b)) / ((a + b)(c + d))."""
    top, bottom = linear(TOP), linear(BOTTOM)
    numerator = _difference(_product(linear(A), bottom), _product(linear(C), top))
    return ratio(numerator, _product(top, bottom), positive=margins_of((2, 2))[:2])


def risk_ratio(_: Setting) -> Form:
    """Return (a/(a + b))/(c/(c + d))."""
    numerator = _product(linear(A), linear(BOTTOM))
    denominator = _product(linear(C), linear(TOP))
    positive = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]])
    return ratio(numerator, denominator, positive=positive, otherwise=np.inf)


def conditional(_: Setting) -> Form:
    """Return a/(a + b): the share of an answer among some."""
    return ratio(linear(A), linear(TOP), positive=np.array([[1.0, 1.0, 0.0, 0.0]]))


def _product(one: Smooth, other: Smooth) -> Smooth:
    def slope(table: Array) -> Array:
        return one.slope(table) * other.value(table) + one.value(table) * other.slope(table)

    return Smooth(lambda table: one.value(table) * other.value(table), slope)


def _difference(one: Smooth, other: Smooth) -> Smooth:
    return Smooth(
        lambda table: one.value(table) - other.value(table),
        lambda table: one.slope(table) - other.slope(table),
    )


MEASURES = (
    Measure(
        "odds-ratio",
        "Yule (1900); Woolf (1955)",
        "the odds of an answer among some, over its odds among the others",
        "two by two",
        odds_ratio,
        scale="log",
        least=0.0,
    ),
    Measure(
        "log-odds-ratio",
        "Woolf (1955)",
        "the natural logarithm of the odds ratio",
        "two by two",
        log_odds_ratio,
    ),
    Measure(
        "risk-difference",
        "Newcombe (1998), delta method",
        "the share of an answer among some, less its share among the others",
        "two by two",
        risk_difference,
        least=-1.0,
        most=1.0,
    ),
    Measure(
        "risk-ratio",
        "Katz et al. (1978)",
        "the share of an answer among some, over its share among the others",
        "two by two",
        risk_ratio,
        scale="log",
        least=0.0,
    ),
    Measure(
        "conditional",
        "Fieller (1954)",
        "the share of an answer to the second question among those with one to the first",
        "two by two",
        conditional,
        least=0.0,
        most=1.0,
    ),
)
