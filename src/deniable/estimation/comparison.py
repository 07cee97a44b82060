"""How far one table is from another: every measure the sources use, each by its own name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The distances of an estimated distribution from a reference.

    Attributes:
        largest_cell_error: max |p − q| (Kikuchi's AVD, before the mean over tables).
        mean_absolute_error: The mean of |p − q| over the cells (Kikuchi's MAE).
        mean_squared_error: The mean of (p − q)².
        total_variation: Half the sum of |p − q|.
        l2: The Euclidean distance of the two distributions (Imran 3.2.1).
        l2_counts: The same between tables of counts of n people (Imran's tables 5 and 6).
        expected_squared_error: Σ (p − q)², whose expectation is Imran's ESE, as shares.
        chi_squared: n·Σ (p − q)²/q; infinite if a cell is empty in the reference only.
        jensen_shannon: The Jensen–Shannon divergence in nats (Imran eq. 2, both terms with D_KL).
        jensen_shannon_distance: Its square root, a metric.
    """

    largest_cell_error: float
    mean_absolute_error: float
    mean_squared_error: float
    total_variation: float
    l2: float
    l2_counts: float
    expected_squared_error: float
    chi_squared: float
    jensen_shannon: float
    jensen_shannon_distance: float


def compare(estimate: Array, reference: Array, people: int) -> Comparison:
    """Return every distance of ``estimate`` from ``reference``, both shares of n people.

    Negative cells are left as they are, but for the divergences, which take proper
    distributions: there they count as 0 and the rest is rescaled.
    """
    if estimate.shape != reference.shape:
        problem = "the tables have different cells"
        raise EstimationError(problem, given=estimate.shape, expected=f"{reference.shape}")
    error = np.abs(estimate - reference)
    squares = float(np.sum(error**2))
    divergence = jensen_shannon(estimate, reference)
    return Comparison(
        largest_cell_error=float(error.max()),
        mean_absolute_error=float(error.mean()),
        mean_squared_error=squares / error.size,
        total_variation=float(error.sum()) / 2,
        l2=squares**0.5,
        l2_counts=people * squares**0.5,
        expected_squared_error=squares,
        chi_squared=people * _chi_squared(error, reference),
        jensen_shannon=divergence,
        jensen_shannon_distance=divergence**0.5,
    )


def jensen_shannon(first: Array, second: Array) -> float:
    """Return ½·KL(p ‖ m) + ½·KL(q ‖ m) in nats, m = (p + q)/2.

    >>> round(jensen_shannon(np.array([1.0, 0.0]), np.array([0.0, 1.0])), 4)
    0.6931
    """
    p, q = (np.maximum(one, 0) / np.maximum(one, 0).sum() for one in (first, second))
    middle = (p + q) / 2
    return max(0.0, (_divergence(p, middle) + _divergence(q, middle)) / 2)


def _divergence(share: Array, reference: Array) -> float:
    held = share > 0
    return float(np.sum(share[held] * np.log(share[held] / reference[held])))


def _chi_squared(error: Array, reference: Array) -> float:
    held = reference > 0
    if np.any(error[~held] > 0):
        return float("inf")
    return float(np.sum(error[held] ** 2 / reference[held]))
