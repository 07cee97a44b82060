"""Imran's two-step MLE, first step: the nearest proper table by an elastic net."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from deniable.errors import EstimationError
from deniable.estimation.method import Method
from deniable.estimation.methods import unbiased
from deniable.estimation.simplex import nearest_proper

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from deniable.estimation.observation import Source
    from deniable.estimation.table import Table

    Array = NDArray[np.float64]

MIXING = 0.01
"""γ of eq. 7."""


def estimate(source: Source, attributes: Sequence[str], *, rng: np.random.Generator) -> Table:
    """Return the table of counts t ≥ 0 that sum to n, nearest to n·π̂ by the elastic net."""
    table = unbiased.estimate(source, attributes, rng=rng)
    counts = elastic_net(table.people * table.estimate, table.people, MIXING)
    return replace(table, estimate=counts / table.people)


def elastic_net(noisy: Array, people: float, mixing: float) -> Array:
    """Return argmin (1 − γ)·‖t − a‖₁ + γ·‖t − a‖₂² over t ≥ 0 with Σt = n.

    Imran eq. 7, its weights the way round of the method it cites. With the multiplier μ of
    the sum, a cell stays at a while |μ| ≤ 1 − γ and then moves by (|μ| − (1 − γ))/2γ, as all
    others do that are not at 0: the minimum is max(a − τ, 0), which for every γ above 0 is
    the Euclidean projection.
    """
    if not 0 < mixing <= 1:
        problem = "the mixing parameter of an elastic net must be above 0 and at most 1"
        raise EstimationError(problem, given=mixing, expected="0.01, as the source takes it")
    result: Array = people * nearest_proper(noisy / people)
    return result


METHOD = Method(
    "two-step-mle",
    "Imran section 6, eq. 7",
    "the nearest table of counts by an elastic net, the first step of the paper's test",
    estimate,
    loses=("the noise is taken to be the same in every cell, whatever the channel",),
)
