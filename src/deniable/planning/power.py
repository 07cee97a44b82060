"""Power: how likely the default test of independence is to notice an association.

Far from certainty its statistic is noncentral χ², and at even shares the noncentrality is
closed: n · φ² · Σ share · clarity, where φ² is the mean square contingency (for a pair,
Cramér's V² · (least size − 1)) and the clarity of plain answers is 1. At other shares the
noncentrality is δᵀ(I − I·D·(Dᵀ·I·D)⁻¹·Dᵀ·I)δ, I the information of all reports at the
independent table, D its tangent and δ the departure from it; where only φ² is given, the
mean over all departures of that φ².
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from deniable.errors import EstimationError
from deniable.estimation.listed import Listed
from deniable.estimation.outlook import Part
from deniable.inference.independence import mutual

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.outlook import Glimpse, Outlook

    Array = NDArray[np.float64]

PAIR = 2
SMALLEST = 1e-9
"""A share below this counts as this: nothing is known about departures where nobody is."""

CERTAIN = 1e-9
"""Share of a variance below which a sum is certain."""

HALF_A_PERSON = 0.5

MOST_CELLS = 1024
"""Cells of a table whose information is laid out as a matrix."""


def contingency(association: float, shape: Sequence[int]) -> float:
    """Return φ² of a pair with Cramér's V.

    >>> contingency(0.5, (3, 4))
    0.5
    """
    if not 0 < association <= 1:
        problem = "an association, as Cramér's V, is above 0 and at most 1"
        raise EstimationError(problem, given=association, expected="such as 0.1")
    return association**2 * (min(shape) - 1)


def freedom_of(shape: Sequence[int]) -> int:
    """Return the degrees of freedom of the test of mutual independence."""
    return mutual(tuple(shape)).freedom


def power_of(noncentrality: float, freedom: int, level: float = 0.05) -> float:
    """Return P(noncentral χ² > the critical value).

    >>> round(power_of(0.0, 3), 6), round(power_of(7.85, 1), 2)
    (0.05, 0.8)
    """
    critical = special.chdtri(freedom, level)
    return float(1 - special.chndtr(critical, freedom, noncentrality))


def noncentrality_for(power: float, freedom: int, level: float = 0.05) -> float:
    """Return the noncentrality that gives a power: the inverse of ``power_of``."""
    if not level < power < 1:
        problem = "a power lies between the test's level and 1"
        raise EstimationError(problem, given=power, expected=f"above {level:g}, such as 0.8")
    critical = special.chdtri(freedom, level)
    return float(special.chndtrinc(critical, freedom, 1 - power))


def unit_noncentrality(
    outlook: Outlook, association: float | None, parts: Sequence[Glimpse] = ()
) -> float:
    """Return the noncentrality of one respondent, on average.

    Args:
        outlook: What a design tells about the table.
        association: Cramér's V; None for the departure of the outlook's own truth.
        parts: How respondents are asked some of the table only; at even shares that tells
            nothing about associations.

    Raises:
        EstimationError: An association of more than two attributes has no single number.
    """
    if outlook.truth is None:
        if association is None:
            return 0.0
        return _squared(outlook, association) * outlook.clarity
    null = _independent(outlook.truth)
    information = _information((*outlook.glimpses, *parts), null)
    tangent, rest = _directions(null)
    kept = _beyond(information, tangent, rest)
    if association is None:
        step = np.linalg.lstsq(
            np.hstack([tangent, rest]), (outlook.truth - null).reshape(-1), rcond=None
        )[0][tangent.shape[1] :]
        return float(step @ kept @ step)
    plain = (rest.T / null.reshape(-1)) @ rest
    mean = float(np.trace(np.linalg.solve(plain, kept))) / len(kept)
    return _squared(outlook, association) * mean


def _squared(outlook: Outlook, association: float) -> float:
    if len(outlook.shape) != PAIR:
        problem = "Cramér's V is the association of two attributes"
        expected = "a pair, or a guess of the whole table as prior"
        raise EstimationError(problem, given=list(outlook.names), expected=expected)
    return contingency(association, outlook.shape)


def _independent(truth: Array) -> Array:
    hypothesis = mutual(truth.shape)
    null = np.maximum(hypothesis.nearest(truth), SMALLEST)
    result: Array = null / null.sum()
    return result


def _information(glimpses: Sequence[Glimpse], null: Array) -> Array:
    """Return Σ share · Aᵀ V⁻¹ A, V the covariance of one report's estimate, A its margin."""
    if null.size > MOST_CELLS:
        problem = "the power in so large a table is not worked out"
        raise EstimationError(problem, given=null.size, expected=f"at most {MOST_CELLS} cells")
    information = np.zeros((null.size, null.size))
    for glimpse in glimpses:
        listed = [part for part in glimpse.parts if isinstance(part, Listed)]
        if listed:  # the only one
            information += glimpse.share * listed[0].information(null)
            continue
        axes = sorted(axis for part in glimpse.parts for axis in part.axes)
        others = tuple(axis for axis in range(null.ndim) if axis not in axes)
        margin = null.sum(axis=others)
        weight = np.linalg.pinv(_covariance(glimpse, axes, margin), hermitian=True)
        index = np.indices(null.shape)[axes].reshape(len(axes), -1)
        number = np.ravel_multi_index(tuple(index), margin.shape)
        information += glimpse.share * weight[np.ix_(number, number)]
    return information


def _covariance(glimpse: Glimpse, axes: Sequence[int], margin: Array) -> Array:
    """Return E[U·Uᵀ] − ππᵀ; where Σ U = 1 is certain, it is given the mean variance."""
    parts = [part for part in glimpse.parts if isinstance(part, Part)]
    order = [axes.index(axis) for part in parts for axis in part.axes]
    wide = margin.transpose(order).reshape([part.cells for part in parts])
    for part in parts:  # contract each axis with E[U[Y, z]·U[Y, w] | answer x]
        pairs = part.echo.tensor(part.cells).reshape(part.cells, -1)
        wide = np.tensordot(wide, pairs, axes=(0, 0))
    sizes = [part.cells for part in parts]
    split = wide.reshape([size for size in sizes for _ in range(2)])
    firsts = list(range(0, 2 * len(sizes), 2))
    moment = split.transpose(firsts + [axis + 1 for axis in firsts]).reshape(margin.size, -1)
    settled = np.empty_like(moment)
    place = np.arange(margin.size).reshape(margin.shape).transpose(order).reshape(-1)
    settled[np.ix_(place, place)] = moment
    flat = margin.reshape(-1)
    covariance: Array = settled - np.outer(flat, flat)
    mean = np.trace(covariance) / flat.size
    return covariance + mean / flat.size if covariance.sum() < CERTAIN * mean else covariance


def _directions(null: Array) -> tuple[Array, Array]:
    """Return a basis of the tangent of independence, and of what departs from it."""
    hypothesis = mutual(null.shape)
    factors = hypothesis.factors(null)
    tangent = np.stack([d.reshape(-1) for d in hypothesis.directions(factors)], axis=1)
    scale = np.sqrt(null.reshape(-1))[:, None]
    # Departures are orthogonal to the tangent and to the sum where plain answers are weighed.
    taken = np.hstack([tangent / scale, scale])
    full, _ = np.linalg.qr(taken, mode="complete")
    rest: Array = full[:, taken.shape[1] :] * scale
    return tangent, rest


def _beyond(information: Array, tangent: Array, rest: Array) -> Array:
    """Return the information on departures that is left when the margins are fitted too."""
    crossed = tangent.T @ information @ rest
    inner = tangent.T @ information @ tangent
    result: Array = (
        rest.T @ information @ rest - crossed.T @ np.linalg.lstsq(inner, crossed, rcond=None)[0]
    )
    return result


def mean_power(units: Sequence[float], people: float, freedom: int, level: float = 0.05) -> float:
    """Return the power over the courses that a survey may take, each with its noncentrality.

    It is less than the power of the mean: luck adds less than ill luck takes.
    """
    return sum(power_of(people * unit, freedom, level) for unit in units) / len(units)


def people_for_power(
    units: Sequence[float], freedom: int, power: float, level: float = 0.05
) -> float:
    """Return how many must answer for a power; infinite if some course tells nothing.

    >>> round(people_for_power([0.01], 1, 0.8))
    785
    """
    wanted = noncentrality_for(power, freedom, level)
    if min(units) <= 0:
        return math.inf
    low, high = wanted / max(units), wanted / min(units)
    while high - low > max(HALF_A_PERSON, 1e-9 * high):
        middle = (low + high) / 2
        enough = mean_power(units, middle, freedom, level) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high
