"""Domingo-Ferrer & Soria-Comas's experiments on Adult: tables 1 and 2, and figure 3.

Count queries on a random set S of the cells of two random attributes; the relative error
|Y − X| / X of the count, median over many runs (6.5). Each run randomizes everybody anew.
The counts that estimates start from are drawn from their exact distribution given the
data, which is the same as randomizing record by record and faster.

6.3.1 contradicts itself on what p is, and 6.3.2 on how the ε of a cluster's attributes are
added, so that there are four readings. ``signed``: p on the diagonal, and ln(p / ((1 − p)/(|A|
− 1))) added with its sign; this is what the published tables come from, it seems. ``diagonal``:
the same with the absolute values added, as the text says. ``mixture``: the truth with p and
else any category, as in proposition 1. ``printed``: ε = |ln(p / ((1 − p)/|A|))| as it stands,
which fits no matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from deniable.estimation.methods.rr_adjustment import adjusted
from deniable.estimation.simplex import clip_and_rescale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.experiments.population import Answers, Groups, Population

    Array = NDArray[np.float64]

Reading: TypeAlias = Literal["signed", "diagonal", "mixture", "printed"]

TRUTHS: Final = (0.1, 0.3, 0.5, 0.7)
MOST_CELLS: Final = (50, 100, 300)
LEAST_DEPENDENCES: Final = (0.1, 0.2, 0.3)
COVERAGE: Final = 0.1
MUTE: Final = 1e-9

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


def epsilon_by(truth: float, sizes: Sequence[int], reading: Reading) -> float:
    """Return Σ ε_A of some attributes by a reading of 6.3."""
    total = 0.0
    for size in sizes:
        true = truth + (1 - truth) / size if reading == "mixture" else truth
        other = (1 - truth) / size if reading == "printed" else (1 - true) / (size - 1)
        odds = math.log(true / other)
        total += odds if reading == "signed" else abs(odds)
    return total


def diagonal_of(truth: float, sizes: Sequence[int], reading: Reading) -> float:
    """Return p_C = 1 / (1 + (Π|A| − 1)·exp(−Σ ε_A)) (6.3.2, whose bracket has its sign wrong).

    Below 1/Π|A| a report speaks against the answer that it names.
    """
    return 1 / (1 + (math.prod(sizes) - 1) * math.exp(-epsilon_by(truth, sizes, reading)))


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
        diagonal = diagonal_of(truth, [population.sizes[a] for a in group], reading)
        odds = np.full((counts.size, counts.size), (1 - diagonal) / (counts.size - 1))
        np.fill_diagonal(odds, diagonal)
        reported = rng.multinomial(counts, odds).sum(axis=0)
        found.append(_inverted(reported / counts.sum(), diagonal))
    return found


def _inverted(share: Array, diagonal: float) -> Array:
    """Return eq. 2 made proper as 6.4 does; evenly where the reports tell nothing."""
    kept = (share.size * diagonal - 1) / (share.size - 1)  # p of the mixture
    if abs(kept) < MUTE:
        return np.full(share.size, 1 / share.size)
    return clip_and_rescale((share - (1 - kept) / share.size) / kept)


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
            cells, diagonal = math.prod(sizes), diagonal_of(truth, sizes, reading)
            true, shift = population.cells(group), rng.integers(1, cells, people)
            code = np.where(rng.random(people) < diagonal, true, (true + shift) % cells)
            codes.append(code)
            targets.append(_inverted(np.bincount(code, minlength=cells) / people, diagonal))
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
