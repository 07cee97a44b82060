"""The paper's test: two-step MLE and a simulated threshold (Imran sections 6 and 7.3).

First step: the nearest table of counts t̂ ≥ 0 with Σt̂ = n by the elastic net (eq. 7). Second
step: m̂, the maximum-likelihood fit of the hypothesis to t̂. The statistic is Σ (t̂ − m̂)²/m̂;
its threshold is the ⌈(l + 1)(1 − α)⌉-th of l statistics of tables sampled from m̂, noised
and taken through the same two steps. If any cell of any t̂ is below 5, the hypothesis is
accepted.

As a tail, (1 + the number of simulated statistics not below the one seen)/(l + 1) is at
most α exactly when that threshold is exceeded, whatever α.

The source's channels are two coins. Where reports are sets, bits or hashes, more than can be
listed, the noised estimate of a sampled table is drawn from its normal distribution.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.observation import require_together
from deniable.estimation.unbiased import pooled
from deniable.inference.replicas import replicas_of
from deniable.inference.result import TestResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from deniable.estimation.observation import Observation
    from deniable.inference.hypothesis import Hypothesis

    Array = NDArray[np.float64]
    Draw = Callable[[Array, int], Array]

CITATION = "Imran sections 6 and 7.3"
TABLES = 999
"""l: tables sampled for the threshold; the source asks for more than 1/α."""

FEWEST = 5.0
"""A cell of t̂ below it, and the hypothesis is accepted."""

ACCEPTED = "a cell of the two-step fit is below 5, so the procedure accepts"
UNLISTED = "not every report can be listed, so that its tables are drawn from a normal distribution"


def monte_carlo_test(
    observation: Observation,
    hypothesis: Hypothesis,
    name: str,
    *,
    rng: np.random.Generator,
    tables: int = TABLES,
) -> TestResult:
    """Test a hypothesis by the paper's procedure."""
    spread = pooled(require_together(observation))
    replicas = replicas_of(spread)

    def draw(table: Array, times: int) -> Array:
        """Return unbiased estimates from fresh people of a table and fresh coins."""
        return replicas.draw(table, times, rng)

    people = observation.people
    found = two_step(spread.centre, hypothesis, name, people=people, draw=draw, tables=tables)
    return found if replicas.exact else replace(found, notes=(*found.notes, UNLISTED))


def two_step(
    noisy: Array,
    hypothesis: Hypothesis,
    name: str,
    *,
    people: int,
    draw: Draw,
    tables: int = TABLES,
) -> TestResult:
    """Return the result of the procedure from noisy shares and a way to draw such shares."""
    first = nearest_rows(noisy.reshape(1, -1))
    fitted = hypothesis.nearest(first.reshape(hypothesis.shape))
    (found,) = _statistics(first, hypothesis, people)
    tail = 1.0
    notes: tuple[str, ...] = (ACCEPTED,)
    if people * first.min() >= FEWEST:
        simulated = nearest_rows(draw(fitted, tables))
        if people * simulated.min() >= FEWEST:  # before anything is fitted to thousands
            beyond = np.sum(_statistics(simulated, hypothesis, people) >= found)
            tail, notes = float(1 + beyond) / (tables + 1), ()
    return TestResult(
        hypothesis=name,
        method="monte-carlo",
        statistic=float(found),
        freedom=None,
        tail=tail,
        people=people,
        citation=CITATION,
        notes=notes,
    )


def nearest_rows(shares: Array) -> Array:
    """Return the distribution nearest to each row: eq. 7's minimum, whatever γ.

    >>> nearest_rows(np.array([[0.9, 0.3, -0.2]])).round(3).tolist()
    [[0.8, 0.2, 0.0]]
    """
    falling = -np.sort(-shares, axis=1)
    excess = np.cumsum(falling, axis=1) - 1
    ranks = np.arange(1, shares.shape[1] + 1)
    last = np.sum(falling * ranks > excess, axis=1) - 1
    lower = np.take_along_axis(excess, last[:, None], axis=1) / (last + 1)[:, None]
    result: Array = np.maximum(shares - lower, 0)
    return result


def _statistics(first: Array, hypothesis: Hypothesis, people: int) -> Array:
    """Return n·Σ (t − m)²/m for each row."""
    found = np.zeros(len(first))
    for place, row in enumerate(first):
        table = row.reshape(hypothesis.shape)
        fitted = hypothesis.nearest(table)
        error = np.divide((table - fitted) ** 2, fitted, out=np.zeros_like(table), where=fitted > 0)
        found[place] = people * error.sum()
    return found
