"""Domingo-Ferrer & Soria-Comas's experiments on Adult: tables 1 and 2, and figure 3.

Count queries on a random set S of the cells of two random attributes; the relative error
|Y − X| / X of the count, median over many runs (6.5). Each run randomizes everybody anew.
The counts that estimates start from are drawn from their exact distribution given the
data, which is the same as randomizing record by record and faster.

Three readings of p are offered, because 6.3.1 contradicts itself: ``mixture``, the truth
with p and else any category, as in proposition 1; ``diagonal``, the true category reported
with p; and ``printed``, ε = |ln(p / ((1 − p)/|A|))| as it stands, which fits no matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from deniable.errors import DataError
from deniable.estimation.methods.rr_adjustment import adjusted
from deniable.estimation.simplex import clip_and_rescale
from deniable.planning.clusters import cluster
from deniable.planning.dependence import dependences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Answers = NDArray[np.int64]

Reading: TypeAlias = Literal["mixture", "diagonal", "printed"]
Groups: TypeAlias = "tuple[tuple[int, ...], ...]"

TRUTHS: Final = (0.1, 0.3, 0.5, 0.7)
MOST_CELLS: Final = (50, 100, 300)
LEAST_DEPENDENCES: Final = (0.1, 0.2, 0.3)
COVERAGE: Final = 0.1

PUBLISHED: Final = {
    1: (
        *(0.335, 0.404, 0.495, 0.357, 0.351, 0.501, 0.285, 0.426, 0.505),
        *(0.335, 0.334, 0.426, 0.262, 0.310, 0.435, 0.199, 0.306, 0.445),
        *(0.094, 0.148, 0.214, 0.107, 0.127, 0.236, 0.116, 0.119, 0.212),
        *(0.069, 0.069, 0.074, 0.070, 0.075, 0.071, 0.070, 0.068, 0.079),
    ),
    2: (
        *(0.189, 0.312, 0.459, 0.173, 0.310, 0.449, 0.183, 0.339, 0.462),
        *(0.149, 0.202, 0.369, 0.171, 0.225, 0.376, 0.178, 0.217, 0.369),
        *(0.080, 0.084, 0.123, 0.082, 0.075, 0.126, 0.083, 0.079, 0.127),
        *(0.064, 0.066, 0.056, 0.064, 0.066, 0.057, 0.065, 0.065, 0.060),
    ),
}
"""Tables 1 and 2, row by row: for each p and T_d, the three T_v."""


@dataclass(frozen=True)
class Population:
    """Records whose truth is known.

    Attributes:
        names: The attributes.
        sizes: Their numbers of categories.
        answers: One row a person.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    answers: Answers

    @cached_property
    def dependence(self) -> Array:
        """Return Cramér's V of every pair."""
        pairs = combinations(range(len(self.sizes)), 2)
        tables = {pair: self.counts(pair) for pair in pairs}
        return dependences(tables, self.sizes, [False] * len(self.sizes))

    def counts(self, group: tuple[int, ...]) -> Array:
        """Return how many people are in each cell of some attributes."""
        shape = [self.sizes[attribute] for attribute in group]
        found = np.bincount(self.cells(group), minlength=math.prod(shape))
        return found.reshape(shape).astype(np.float64)

    def cells(self, group: tuple[int, ...]) -> Answers:
        """Return everybody's cell of some attributes."""
        columns = tuple(self.answers[:, attribute] for attribute in group)
        cells: Answers = np.ravel_multi_index(columns, [self.sizes[a] for a in group])
        return cells

    def repeated(self, times: int) -> Population:
        """Return the population with everybody there several times (Adult6)."""
        return Population(self.names, self.sizes, np.tile(self.answers, (times, 1)))

    def clusters(self, most_cells: int, least_dependence: float) -> Groups:
        """Return the clusters of algorithm 1 by the true dependences."""
        found = cluster(
            self.dependence, self.sizes, most_cells=most_cells, least_dependence=least_dependence
        )
        return found.groups


def truth_of(truth: float, sizes: Sequence[int], reading: Reading) -> float:
    """Return the mixture p of a cluster whose ε is the sum of its attributes' (6.3.2, mended).

    With p_C on the diagonal, p_C = 1 / (1 + (Π|A| − 1)·exp(−Σ ε_A)); the source has the sign
    of the bracket wrong. Where ``diagonal`` puts p below 1/|A|, the report speaks against the
    answer; ε is then |ln| of the odds, and the cluster's report speaks for it.
    """
    epsilon = 0.0
    for size in sizes:
        true = truth + (1 - truth) / size if reading == "mixture" else truth
        other = (1 - truth) / size if reading == "printed" else (1 - true) / (size - 1)
        epsilon += abs(math.log(true / other))
    cells = math.prod(sizes)
    diagonal = 1 / (1 + (cells - 1) * math.exp(-epsilon))
    return (cells * diagonal - 1) / (cells - 1)


def estimated(
    population: Population,
    groups: Groups,
    truth: float,
    reading: Reading,
    rng: np.random.Generator,
) -> list[Array]:
    """Return each group's estimated distribution after one randomization of everybody."""
    found = []
    for group in groups:
        counts = population.counts(group).reshape(-1).astype(np.int64)
        p = truth_of(truth, [population.sizes[a] for a in group], reading)
        kept = rng.binomial(counts, p)
        reported = kept + rng.multinomial(int((counts - kept).sum()), _even(counts.size))
        share = (reported / counts.sum() - (1 - p) / counts.size) / p
        found.append(clip_and_rescale(share))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A count query: some cells of two attributes.

    Attributes:
        pair: The attributes.
        chosen: Which of their cells, in order of the first attribute, then the second.
    """

    pair: tuple[int, int]
    chosen: NDArray[np.bool_]


def query(population: Population, coverage: float, rng: np.random.Generator) -> Query:
    """Draw two attributes and a share of their cells; drawn again if nobody is in them."""
    while True:
        one, two = sorted(rng.choice(len(population.sizes), 2, replace=False).tolist())
        cells = population.sizes[one] * population.sizes[two]
        chosen = np.zeros(cells, dtype=np.bool_)
        chosen[rng.choice(cells, max(1, round(coverage * cells)), replace=False)] = True
        if population.counts((one, two)).reshape(-1)[chosen].sum() > 0:
            return Query((one, two), chosen)


def count(asked: Query, groups: Groups, tables: Sequence[Array], sizes: Sequence[int]) -> float:
    """Return the estimated share of a query: within a cluster exact, across it by product."""
    one, two = asked.pair
    for group, table in zip(groups, tables, strict=True):
        if one in group and two in group:
            joint = _summed(table, group, asked.pair, sizes)
            return float(joint.reshape(-1)[asked.chosen].sum())
    margins = [
        _summed(table, group, (attribute,), sizes)
        for attribute in asked.pair
        for group, table in zip(groups, tables, strict=True)
        if attribute in group
    ]
    return float(np.outer(*margins).reshape(-1)[asked.chosen].sum())


def relative_error(
    population: Population,
    groups: Groups,
    truth: float,
    *,
    reading: Reading,
    coverage: float,
    runs: int,
    rng: np.random.Generator,
) -> float:
    """Return the median relative error of a count over many runs (eq. 16)."""
    errors = []
    people = len(population.answers)
    for _ in range(runs):
        tables = estimated(population, groups, truth, reading, rng)
        asked = query(population, coverage, rng)
        true = population.counts(asked.pair).reshape(-1)[asked.chosen].sum()
        found = count(asked, groups, tables, population.sizes) * people
        errors.append(abs(found - true) / true)
    return float(np.median(errors))


def adjusted_error(
    population: Population,
    groups: Groups,
    truth: float,
    *,
    reading: Reading,
    coverages: Sequence[float],
    runs: int,
    rng: np.random.Generator,
) -> list[float]:
    """Return the median relative error after RR-Adjustment, for each coverage (figure 3)."""
    errors: list[list[float]] = [[] for _ in coverages]
    people = len(population.answers)
    for _ in range(runs):
        codes, targets = [], []
        for group in groups:
            sizes = [population.sizes[a] for a in group]
            cells, p = math.prod(sizes), truth_of(truth, sizes, reading)
            tails = rng.random(people) >= p
            code = np.where(tails, rng.integers(0, cells, people), population.cells(group))
            share = np.bincount(code, minlength=cells) / people
            codes.append(code)
            targets.append(clip_and_rescale((share - (1 - p) / cells) / p))
        weights, _ = adjusted(codes, targets, np.full(people, 1 / people))
        reported = _columns(codes, groups, population.sizes)
        for place, coverage in enumerate(coverages):
            asked = query(population, coverage, rng)
            one, two = asked.pair
            cells_of = reported[one] * population.sizes[two] + reported[two]
            true = population.counts(asked.pair).reshape(-1)[asked.chosen].sum()
            found = float(weights[asked.chosen[cells_of]].sum()) / float(weights.sum()) * people
            errors[place].append(abs(found - true) / true)
    return [float(np.median(one)) for one in errors]


def population_of(names: Sequence[str], columns: Sequence[Sequence[str]]) -> Population:
    """Return a population from columns of category names."""
    if len(names) < 2 or not columns or not len(columns[0]):  # noqa: PLR2004 -- a pair
        problem = "the experiments need a file of at least two categorical columns"
        raise DataError(problem, given=list(names))
    levels = [sorted(set(column)) for column in columns]
    places = [{name: place for place, name in enumerate(one)} for one in levels]
    answers = np.array(
        [[place[name] for name in column] for place, column in zip(places, columns, strict=True)]
    ).T
    return Population(tuple(names), tuple(map(len, levels)), np.ascontiguousarray(answers))


def single(population: Population) -> Groups:
    """Return every attribute as a group of its own: RR-Independent."""
    return tuple((attribute,) for attribute in range(len(population.sizes)))


def _even(cells: int) -> Array:
    return np.full(cells, 1 / cells)


def _summed(
    table: Array, group: tuple[int, ...], kept: tuple[int, ...], sizes: Sequence[int]
) -> Array:
    """Return the table of some of a group's attributes, in ascending order."""
    others = tuple(place for place, attribute in enumerate(group) if attribute not in kept)
    result: Array = table.reshape([sizes[a] for a in group]).sum(axis=others)
    return result


def _columns(codes: Sequence[Answers], groups: Groups, sizes: Sequence[int]) -> dict[int, Answers]:
    """Return the reported category of each attribute."""
    found: dict[int, Answers] = {}
    for group, code in zip(groups, codes, strict=True):
        parts = np.unravel_index(code, [sizes[attribute] for attribute in group])
        found.update(zip(group, parts, strict=True))
    return found
