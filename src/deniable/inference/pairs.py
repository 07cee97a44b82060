"""Every pair of attributes tested, with the rate of false discoveries under control."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError
from deniable.estimation.observation import evidence_of
from deniable.inference.registry import independence_test, procedure_named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from deniable.estimation.observation import Source
    from deniable.inference.result import TestResult

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PairTests:
    """The tests of all pairs.

    Attributes:
        names: The attributes.
        results: One for each pair that could be tested.
        untested: Why the other pairs could not be.
    """

    names: tuple[str, ...]
    results: dict[tuple[str, str], TestResult]
    untested: dict[tuple[str, str], str]

    def adjusted(self) -> dict[tuple[str, str], float]:
        """Return q-values: the false-discovery rate at which each pair is just called (BH 1995)."""
        pairs = list(self.results)
        return dict(
            zip(pairs, q_values([self.results[pair].p_value for pair in pairs]), strict=True)
        )

    def matrix(self) -> Array:
        """Return the q-values, attribute by attribute; NaN where a pair was not tested."""
        places = {name: place for place, name in enumerate(self.names)}
        result = np.full((len(self.names), len(self.names)), np.nan)
        for (one, two), q in self.adjusted().items():
            result[places[one], places[two]] = result[places[two], places[one]] = q
        return result

    def discoveries(self, rate: float = 0.05) -> list[tuple[str, str]]:
        """Return the pairs called associated, of which at most ``rate`` are expected to be wrong.

        Under dependence between the tests that is proved for positive dependence only.
        """
        return [pair for pair, q in self.adjusted().items() if q <= rate]


def every_pair(
    source: Source,
    attributes: Sequence[str],
    *,
    rng: np.random.Generator,
    method: str = "score",
    progress: Callable[[int, int], None] | None = None,
) -> PairTests:
    """Test every pair of attributes for independence.

    Args:
        source: A tally or evidence.
        attributes: The attributes to pair.
        rng: Where a test throws dice.
        method: A name in ``TESTS``.
        progress: Told how many pairs of how many are done.
    """
    procedure_named(method)  # a wrong name is no reason of every pair's
    evidence = evidence_of(source)  # a tally is laid out once, not for every pair
    pairs = list(combinations(attributes, 2))
    results: dict[tuple[str, str], TestResult] = {}
    untested: dict[tuple[str, str], str] = {}
    for done, pair in enumerate(pairs, start=1):
        try:
            found = independence_test(evidence, pair, rng=rng, method=method)
        except EstimationError as error:
            untested[pair] = str(error)
        else:
            if found.shortage:
                untested[pair] = found.shortage
            else:
                results[pair] = found
        if progress is not None:
            progress(done, len(pairs))
    return PairTests(tuple(attributes), results, untested)


def q_values(tails: Sequence[float]) -> list[float]:
    """Return Benjamini and Hochberg's adjusted p-values, in the order given.

    >>> q_values([0.25, 0.5, 0.125])
    [0.375, 0.5, 0.375]
    """
    found = np.asarray(tails, dtype=np.float64)
    order = np.argsort(found)[::-1]
    ranks = np.arange(len(found), 0, -1)
    running = np.minimum.accumulate(found[order] * len(found) / ranks)
    result = np.empty_like(found)
    result[order] = np.minimum(running, 1)
    return [float(q) for q in result]
