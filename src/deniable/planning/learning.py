"""Learning which attributes depend on each other before they are asked together.

Domingo's three ways, each with what it truly costs a respondent. The cost adds to that of
the answers given afterwards.

a. Randomized response on each attribute (4.1). As published, the dependence of the
   *reports* is used: weaker than the truth's, in the same order if all p are equal. Here it
   may also be taken from the estimated tables, which are not weakened.
b. Exact tables of all pairs by secure sum (4.2). Nobody sees anybody's part, but the sums
   are exact, and no ε bounds what they show.
c. Randomized response on each pair, then secure sum (4.3). Each attribute is reported once
   for every other one; all the reports together cost the sum. The source counts one of them
   only, because the sums hide which belong together: that is so for whoever sees no more
   than the sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from deniable.bulk.keystream import Keystream
from deniable.channels import epsilon_of, epsilon_of_all, k_ary
from deniable.errors import EstimationError
from deniable.estimation import Evidence, estimate
from deniable.estimation.observation import evidence_of
from deniable.planning.dependence import dependences
from deniable.planning.rehearsal import randomized
from deniable.protocol import Group, Tally
from deniable.sharing import Sheet, sheet_of_pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from deniable.channels import KAry
    from deniable.estimation.observation import Source
    from deniable.sharing.shares import Vector

    Array = NDArray[np.float64]
    Answers = NDArray[np.integer]
    Add = Callable[[Sheet, NDArray[np.int64]], Vector]


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """How attributes depend on each other, and what it cost to learn it.

    Attributes:
        dependence: The matrix, from 0 to 1.
        epsilon: What learning cost one respondent, everything together; infinite if no ε holds.
        way: Which of the ways, in a sentence.
        epsilon_of_sums: What the source counts, for whoever sees only sums; None if the same.
    """

    dependence: Array
    epsilon: float
    way: str
    epsilon_of_sums: float | None = None


def learn_from_reports(source: Source, ordinal: Sequence[bool]) -> Learned:
    """Return the dependences of the reports themselves (4.1 as published).

    They must be counted with the groups of a view together, each attribute its own group.
    """
    evidence = evidence_of(source)
    pairs = combinations(range(len(evidence.sizes)), 2)
    tables = {pair: _reported(evidence, pair) for pair in pairs}
    found = dependences(tables, evidence.sizes, ordinal)
    return Learned(found, _cost(source), "randomized attributes, dependence of the reports")


def learn_from_estimates(
    source: Source, ordinal: Sequence[bool], *, rng: np.random.Generator
) -> Learned:
    """Return the dependences of the tables estimated from all reports on a pair.

    Through any design that asks every pair; noise makes the least of them too large.
    """
    evidence = evidence_of(source)
    names, sizes = evidence.names, evidence.sizes
    tables = {
        pair: estimate(source, [names[a] for a in pair], rng=rng).estimate
        for pair in combinations(range(len(sizes)), 2)
    }
    found = dependences(tables, sizes, ordinal)
    return Learned(found, _cost(source), "randomized attributes, dependence of the estimates")


def learn_by_secure_sum(
    answers: Answers, sizes: Sequence[int], ordinal: Sequence[bool], *, add: Add | None = None
) -> Learned:
    """Return the dependences of the exact tables of all pairs (4.2).

    Args:
        answers: One row a party, known to that party only.
        sizes: The attributes' numbers of cells.
        ordinal: Which attributes are ordinal.
        add: Sums the parties' vectors; by default in plain, for rehearsals.
    """
    sheet = sheet_of_pairs(sizes)
    sums = (add or added_up)(sheet, sheet.places(answers))
    return learn_from_sums(sheet, sums, len(answers), ordinal)


def learn_by_randomized_pairs(
    answers: Answers,
    sizes: Sequence[int],
    ordinal: Sequence[bool],
    *,
    epsilon: float,
    add: Add | None = None,
    stream: Keystream | None = None,
) -> Learned:
    """Return the dependences of the tables of randomized pairs, summed securely (4.3).

    ``epsilon`` is the level of each pair; each respondent reports on all of them.
    """
    sheet = sheet_of_pairs(sizes)
    places = randomized_places(sheet, answers, epsilon, stream=stream)
    sums = (add or added_up)(sheet, places)
    return learn_from_sums(sheet, sums, len(answers), ordinal, epsilon=epsilon)


def randomized_places(
    sheet: Sheet, answers: Answers, epsilon: float, *, stream: Keystream | None = None
) -> NDArray[np.int64]:
    """Return where everybody's ones stand after each pair was randomized by itself."""
    stream = Keystream() if stream is None else stream
    cells = [
        randomized(_group(sheet, pair), channel, answers, stream)[:, 0]
        for pair, channel in zip(sheet.groups, _channels(sheet, epsilon), strict=True)
    ]
    return np.stack([sheet.reported(row) for row in np.stack(cells, axis=1)])


def learn_from_sums(
    sheet: Sheet,
    sums: Vector,
    people: int,
    ordinal: Sequence[bool],
    *,
    epsilon: float | None = None,
) -> Learned:
    """Return the dependences of the tables of all pairs that were summed securely.

    Args:
        sheet: The sheet of all pairs.
        sums: What the secure sum showed.
        people: Of how many.
        ordinal: Which attributes are ordinal.
        epsilon: The level at which each pair was randomized before; None if it was not.
    """
    sheet.check(sums, people, margins=epsilon is None)
    if epsilon is None:
        found = dependences(_pairs(sheet, sums), sheet.sizes, ordinal)
        return Learned(found, math.inf, "exact tables of all pairs by secure sum")
    channels = _channels(sheet, epsilon)
    tables = {
        pair: _inverted(channel, table, people)
        for (pair, table), channel in zip(sheet.tables(sums).items(), channels, strict=True)
    }
    found = dependences(_two(tables), sheet.sizes, ordinal)
    one = max(epsilon_of(channel) for channel in channels)
    return Learned(found, epsilon_of_all(channels), "randomized pairs by secure sum", one)


def _group(sheet: Sheet, pair: tuple[int, ...]) -> Group:
    return Group(pair, tuple(sheet.sizes[attribute] for attribute in pair))


def _channels(sheet: Sheet, epsilon: float) -> list[KAry]:
    return [k_ary(epsilon, _group(sheet, pair).size) for pair in sheet.groups]


def added_up(sheet: Sheet, places: NDArray[np.int64]) -> Vector:
    """Return the sums in plain: what a secure sum gives, without its secrecy."""
    return np.bincount(places.reshape(-1), minlength=sheet.width).astype(np.uint32)


def _inverted(channel: KAry, table: NDArray[np.int64], people: int) -> Array:
    """Return π̂ = (λ̂ − (1 − p)/m) / p for a k-ary channel (eq. 2)."""
    truth = channel.head / 2**32
    result: Array = (table / people - (1 - truth) / channel.size) / truth
    return result


def _pairs(sheet: Sheet, sums: Vector) -> dict[tuple[int, int], Array]:
    return _two({pair: table.astype(np.float64) for pair, table in sheet.tables(sums).items()})


def _two(tables: dict[tuple[int, ...], Array]) -> dict[tuple[int, int], Array]:
    return {(one, two): table for (one, two), table in tables.items()}


def _cost(source: Source) -> float:
    """Return what a respondent spent: the costliest view, as often as the design allows."""
    if isinstance(source, Evidence):  # plain reports, of no design: one from each respondent
        return max(epsilon_of_all(batch.channels) for batch in source.batches)
    blocks = source.blocks.values() if isinstance(source, Tally) else source.provenance.blocks
    design = source.design if isinstance(source, Tally) else source.provenance.design
    once = max(epsilon_of_all(row) for block in blocks for row in block.channels)
    return times(once, design.repeats)


def times(epsilon: float, repeats: int) -> float:
    """Return what answering several times costs, rounded up."""
    return epsilon if repeats == 1 else math.nextafter(epsilon * repeats, math.inf)


def _reported(source: Evidence, pair: tuple[int, int]) -> Array:
    """Return how often each pair of categories was reported, by respondents asked both."""
    table = np.zeros([source.sizes[attribute] for attribute in pair])
    for batch in source.batches:
        if not all((attribute,) in batch.groups for attribute in pair):
            continue
        one, two = (batch.reports[batch.groups.index((attribute,))] for attribute in pair)
        if one.shape[1] != 1 or two.shape[1] != 1:
            break
        np.add.at(table, (one[:, 0], two[:, 0]), batch.counts)
    if not table.sum():
        problem = "the reports do not show pairs of categories"
        expected = (
            "each attribute randomized by itself with channel = 'k-ary', groups kept together"
        )
        raise EstimationError(problem, expected=expected)
    return table
