"""The baselines of the literature: a trusted party counts the true answers and adds noise.

They are kept for comparison. Their guarantee is another one, central and not local: whoever
counts holds everybody's true answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from deniable.errors import EstimationError
from deniable.inference.monte_carlo import TABLES, nearest_rows, two_step
from deniable.inference.result import TestResult

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.inference.hypothesis import Hypothesis

    Array = NDArray[np.float64]

SENSITIVITY = 2.0
"""One person who answers otherwise moves two cells by one each."""


@dataclass(frozen=True, slots=True, eq=False)
class NoisyTable:
    """A table of counts with Laplace noise in each cell, and what everybody may know of it.

    Attributes:
        counts: The noised counts.
        people: How many people were counted.
        scale: The scale of the noise.
    """

    counts: Array
    people: int
    scale: float

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the table's numbers of cells."""
        return self.counts.shape

    @property
    def epsilon(self) -> float:
        """Return the central level that the noise pays for."""
        return SENSITIVITY / self.scale


def unsafe_release(counts: Array, epsilon: float, *, rng: np.random.Generator) -> NoisyTable:
    """Return a table of true answers with Laplace noise of scale 2/ε.

    Unsafe: whoever calls it holds the true answers, and the noise is drawn in floating point
    from a generator that is made for analysis.
    """
    if not epsilon > 0:
        problem = "epsilon must be positive"
        raise EstimationError(problem, given=epsilon, expected="a number such as 0.25")
    scale = SENSITIVITY / epsilon
    noise = rng.laplace(0.0, scale, np.shape(counts))
    return NoisyTable(counts + noise, int(np.sum(counts)), scale)


def mc_indep_test(
    noisy: NoisyTable,
    hypothesis: Hypothesis,
    name: str,
    *,
    rng: np.random.Generator,
    tables: int = TABLES,
) -> TestResult:
    """Test a hypothesis by MCIndep (Gaboardi et al. 2016): two-step MLE and Monte Carlo."""

    def draw(table: Array, times: int) -> Array:
        """Return shares of fresh people of a table with fresh noise."""
        shares = table.reshape(-1) / table.sum()
        counts = rng.multinomial(noisy.people, shares, size=times)
        drawn: Array = (counts + rng.laplace(0.0, noisy.scale, counts.shape)) / noisy.people
        return drawn

    shares = noisy.counts / noisy.people
    return two_step(shares, hypothesis, name, people=noisy.people, draw=draw, tables=tables)


def laplace_test(
    noisy: NoisyTable, hypothesis: Hypothesis, name: str, *, rng: np.random.Generator
) -> TestResult:
    """Test a hypothesis by the plain χ² of the noised table, as if nothing had been added."""
    del rng
    shares = nearest_rows(noisy.counts.reshape(1, -1) / noisy.people).reshape(noisy.shape)
    fitted = hypothesis.nearest(shares)
    error = np.divide((shares - fitted) ** 2, fitted, out=np.zeros_like(shares), where=fitted > 0)
    statistic = float(noisy.people * error.sum())
    return TestResult(
        hypothesis=name,
        method="laplace",
        statistic=statistic,
        freedom=hypothesis.freedom,
        tail=float(special.chdtrc(hypothesis.freedom, statistic)),
        people=noisy.people,
    )
