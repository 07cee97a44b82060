"""Synthetic records of a table or a model: rounded to whole people, or drawn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from deniable.errors import DataError
from deniable.estimation.simplex import nearest_proper
from deniable.estimation.table import Axis, Table, plain_axes
from deniable.synthesis.records import Records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.model import Model

Way: TypeAlias = Literal["rounded", "drawn"]

MOST_CELLS = 2**24


def synthesize(
    source: Table | Model,
    people: int,
    *,
    rng: np.random.Generator,
    way: Way = "rounded",
    axes: Sequence[Axis] | None = None,
) -> Records:
    """Return synthetic people whose tables are those of the source.

    Args:
        source: A table, or a model of the whole joint. A table that is no distribution is
            first taken to the nearest one.
        people: How many rows.
        rng: Draws the rows, or shuffles the rounded ones.
        way: ``rounded`` gives every cell its share of the people by largest remainders, so
            that no sampling error is added; ``drawn`` draws each row on its own.
        axes: The names of a model's categories.
    """
    _check_people(people)
    if isinstance(source, Table):
        return _from_table(source, people, rng, way)
    chosen = tuple(axes) if axes is not None else plain_axes(source.names, source.sizes)
    if way == "drawn":
        return Records(chosen, np.asarray(source.sample(people, rng=rng), dtype=np.int64))
    if math.prod(source.sizes) > MOST_CELLS:
        problem = "so many cells cannot be rounded to whole people"
        raise DataError(problem, given=math.prod(source.sizes), expected="way='drawn'")
    joint = source.table(source.names)
    return Records(chosen, _rows(_shares_of(joint, people, rng, way), rng))


def largest_remainder(shares: NDArray[np.float64], people: int) -> NDArray[np.int64]:
    """Return whole numbers that sum to ``people``, none further than 1 from its share of them.

    >>> largest_remainder(np.array([0.5, 0.3, 0.2]), 4).tolist()
    [2, 1, 1]
    """
    wanted = shares.reshape(-1) * people
    counts = np.floor(wanted).astype(np.int64)
    missing = people - int(counts.sum())
    first = np.argsort(counts - wanted, kind="stable")[:missing]
    counts[first] += 1
    return counts.reshape(shares.shape)


def _from_table(table: Table, people: int, rng: np.random.Generator, way: Way) -> Records:
    shares = table.estimate if table.is_proper else nearest_proper(table.estimate)
    return Records(table.axes, _rows(_shares_of(shares, people, rng, way), rng))


def _shares_of(
    shares: NDArray[np.float64], people: int, rng: np.random.Generator, way: Way
) -> NDArray[np.int64]:
    """Return how many people each cell gets."""
    even = shares / shares.sum()
    if way == "rounded":
        return largest_remainder(even, people)
    if way == "drawn":
        return rng.multinomial(people, even.reshape(-1)).reshape(shares.shape)
    problem = "there is no such way to make people of shares"
    raise DataError(problem, given=way, expected="'rounded' or 'drawn'")


def _rows(counts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return one row for each person, in random order."""
    cells = rng.permutation(np.repeat(np.arange(counts.size), counts.reshape(-1)))
    return np.stack(np.unravel_index(cells, counts.shape), axis=1).astype(np.int64)


def _check_people(people: int) -> None:
    if isinstance(people, bool) or not isinstance(people, int | np.integer) or people < 1:
        problem = "the number of synthetic people must be an integer of at least 1"
        raise DataError(problem, given=people)
