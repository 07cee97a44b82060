"""The tables of all pairs that were answered together, drawn towards independence by evidence."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError
from deniable.estimation.climb import climb, likelihood_of
from deniable.estimation.observation import enclosing, observe
from deniable.estimation.part import summed
from deniable.estimation.stack import seen_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.estimation.evidence import Evidence
    from deniable.estimation.model import Progress

    Array = NDArray[np.float64]

LEFT = 0.1
"""Nats of likelihood that may be left in a pair's table: far below what chance moves."""

MOST_STEPS = 2000
ROUNDS = 20
"""Rounds of raking; a pair settles in a few."""

WORTH_TELLING = 1.0
"""Seconds after which a fit says how far it is."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """What the reports tell of single attributes and of pairs.

    Attributes:
        names: The attributes.
        margins: The maximum-likelihood distribution of each.
        tables: A table for each pair of places answered together; its margins are ``margins``.
        information: The mutual information of each table in nats.
    """

    names: tuple[str, ...]
    margins: tuple[Array, ...]
    tables: Mapping[tuple[int, int], Array]
    information: Mapping[tuple[int, int], float]

    def between(self, first: int, second: int) -> float:
        """Return the mutual information of two attributes, 0 if nothing is known of it."""
        return self.information.get((min(first, second), max(first, second)), 0.0)

    def table(self, first: int, second: int) -> Array:
        """Return the table of two attributes in this order; their product if nothing is known."""
        if first > second:
            return self.table(second, first).T
        product = np.outer(self.margins[first], self.margins[second])
        return self.tables.get((first, second), product)


def pairs_of(
    evidence: Evidence, *, threads: int | None = None, progress: Progress | None = None
) -> Pairs:
    """Estimate all pairs' tables.

    Args:
        evidence: The reports.
        threads: How many pairs at a time; the result does not depend on it.
        progress: Is told how far a fit of more than a second is.
    """
    names = evidence.names
    margins = tuple(_margin(evidence, name) for name in names)
    together = [
        pair
        for pair in combinations(range(len(names)), 2)
        if any(set(pair) <= {a for g in batch.groups for a in g} for batch in evidence.batches)
    ]
    begun, tables = time.monotonic(), []
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        for table in pool.map(lambda pair: _pair(evidence, pair, margins), together):
            tables.append(table)
            if progress and time.monotonic() - begun > WORTH_TELLING:
                progress(f"{len(tables)} of {len(together)} pairs")
    found = dict(zip(together, tables, strict=True))
    information = {pair: mutual_information(table) for pair, table in found.items()}
    return Pairs(names, margins, found, information)


def mutual_information(table: Array) -> float:
    """Return Σ π·ln(π / product of the margins) in nats.

    >>> round(mutual_information(np.eye(2) / 2), 4)
    0.6931
    """
    product = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True)
    held = table > 0
    return max(0.0, float(np.sum(table[held] * np.log(table[held] / product[held]))))


def _margin(evidence: Evidence, name: str) -> Array:
    """Return an attribute's most likely distribution, one person's worth from even."""
    try:
        alone = observe(evidence, (name,))
    except EstimationError as error:
        problem = f"no report tells anything about {name!r}"
        raise EstimationError(problem, expected="a view that asks it") from error
    even = np.full(alone.shape, 1 / alone.cells)
    summit = climb(seen_in(alone.sights), even, gap=LEFT, most_steps=MOST_STEPS)
    result: Array = (alone.people * summit.table + even) / (alone.people + 1)
    return result


def _pair(evidence: Evidence, pair: tuple[int, int], margins: tuple[Array, ...]) -> Array:
    """Return a pair's table: the most likely one, shrunk to independence, with the margins.

    Under independence, twice the gain of likelihood is about χ² with (r − 1)(c − 1) degrees
    of freedom; the positive-part James-Stein rule keeps 1 − df/χ² of what was found.
    """
    asked = tuple(evidence.names[place] for place in pair)
    names = enclosing(evidence, asked)
    observation = observe(evidence, names)
    sights = seen_in(observation.sights)
    start = np.full(observation.shape, 1 / observation.cells)
    summit = climb(sights, start, gap=LEFT, most_steps=MOST_STEPS)
    places = [names.index(name) for name in asked]
    table = summed(summit.table, places)
    product = np.outer(*(margins[place] for place in pair))
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    independent = _with_pair(summit.table, places, table, product)
    gain = 2 * (likelihood_of(sights, summit.table) - likelihood_of(sights, independent))
    kept = max(0.0, 1 - freedom / gain) if gain > 0 else 0.0
    # One person's worth of independence keeps every cell possible.
    kept *= observation.people / (observation.people + 1)
    shrunk = kept * table + (1 - kept) * product
    return raked(shrunk, margins[pair[0]], margins[pair[1]]) if kept else product


def _with_pair(joint: Array, places: Sequence[int], table: Array, wanted: Array) -> Array:
    """Return the joint table with its table of two attributes replaced by another."""
    ratio = np.divide(wanted, table, out=np.ones_like(table), where=table > 0)
    first, second = places
    order = ratio if first < second else ratio.T
    shape = [size if axis in places else 1 for axis, size in enumerate(joint.shape)]
    result = joint * order.reshape(shape)
    return np.asarray(result / result.sum())


def raked(table: Array, first: Array, second: Array) -> Array:
    """Return the table with the given margins that keeps its odds ratios."""
    result = table
    for _ in range(ROUNDS):
        result = result * (first / result.sum(axis=1))[:, None]
        result = result * (second / result.sum(axis=0))[None, :]
    return result
