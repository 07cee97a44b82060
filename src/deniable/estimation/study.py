"""A study: a known truth and the people who report on it, to see how estimators fare."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError
from deniable.estimation.bound import Experiment, cramer_rao, likelihood_of
from deniable.estimation.evidence import Batch, Evidence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Study:
    """A distribution of true answers, and how many people report on it through what.

    Attributes:
        names: The attributes.
        truth: Their true distribution.
        experiments: The blocks and views; their axes are the truth's.
    """

    names: tuple[str, ...]
    truth: Array
    experiments: tuple[Experiment, ...]

    def __post_init__(self) -> None:
        """Refuse a truth that is no distribution of the named attributes."""
        if self.truth.ndim != len(self.names) or abs(float(self.truth.sum()) - 1) > 1e-9:  # noqa: PLR2004
            problem = "the truth of a study is no distribution of its attributes"
            raise EstimationError(problem, given=self.truth.shape, expected="one axis for each")

    def draw(self, rng: np.random.Generator) -> Evidence:
        """Return what one group of people of the truth may report.

        Each count is drawn from the channels' own probabilities, report by report.
        """
        batches = []
        for experiment, (reports, seen) in zip(self.experiments, self._reports, strict=True):
            counts = rng.multinomial(round(experiment.people), seen)
            came = counts > 0
            batch = Batch(
                experiment.axes,
                experiment.channels,
                tuple(part[came] for part in reports),
                counts[came].astype(np.int64),
            )
            batches.append(batch)
        return Evidence(self.names, self.truth.shape, tuple(batches))

    @cached_property
    def bound(self) -> Array:
        """Return the Cramér–Rao bound of the flattened truth's covariance matrix."""
        return cramer_rao(self.experiments, self.truth)

    @cached_property
    def _reports(self) -> list[tuple[tuple[NDArray[np.int64], ...], Array]]:
        """Return, for each experiment, every possible report and its probability."""
        found = []
        for experiment in self.experiments:
            seen = likelihood_of(experiment, self.truth.shape) @ self.truth.reshape(-1)
            every = list(product(*(channel.reports() for channel in experiment.channels)))
            parts = tuple(np.array(part, dtype=np.int64) for part in zip(*every, strict=True))
            found.append((parts, seen / seen.sum()))
        return found
