"""A sheet: the cells of many tables in one vector, so that one secure sum serves all.

Everybody puts a one into one cell of each table. That is also what can be checked of the
result without knowing anybody's part: each table sums to the number of parties, and
tables agree on the attributes that they share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import AnswerError, SharingError
from deniable.schema.canonical import digest_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from deniable.schema import Survey
    from deniable.sharing.shares import Vector

    Answers = NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Sheet:
    """The tables that are to be counted.

    Attributes:
        sizes: The attributes' numbers of cells.
        groups: The attributes of each table.
        names: What the attributes are called, if anybody knows.
        survey: The name of the survey that asks for them; empty if none does.
        schema: The digest of what it asks, so that cells keep their meaning.
    """

    sizes: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    names: tuple[str, ...] = ()
    survey: str = ""
    schema: str = ""

    @property
    def digest(self) -> str:
        """Return the digest of all that gives the cells their meaning."""
        return digest_of([self.survey, self.schema, self.sizes, self.groups])

    @property
    def width(self) -> int:
        """Return the number of cells of all tables."""
        return sum(self._cells(group) for group in self.groups)

    def _cells(self, group: tuple[int, ...]) -> int:
        return math.prod(self.sizes[attribute] for attribute in group)

    def _starts(self) -> NDArray[np.int64]:
        return np.cumsum([0, *map(self._cells, self.groups)])

    def places(self, answers: Answers) -> NDArray[np.int64]:
        """Return where each respondent's ones stand: a row each, a column for each table."""
        if np.any(answers < 0) or np.any(answers >= np.array(self.sizes)):
            problem = "some answers lie outside their domain"
            raise AnswerError(problem, expected="cells from 0 to an attribute's size, less one")
        columns = []
        for start, group in zip(self._starts(), self.groups, strict=False):
            asked = tuple(answers[:, attribute] for attribute in group)
            columns.append(start + np.ravel_multi_index(asked, [self.sizes[a] for a in group]))
        return np.stack(columns, axis=1)

    def reported(self, cells: Sequence[int]) -> NDArray[np.int64]:
        """Return where the ones stand of one who reports these cells, one for each table."""
        return self._starts()[:-1] + np.asarray(cells, np.int64)

    def vector(self, places: NDArray[np.int64]) -> Vector:
        """Return one respondent's vector: ones at the given places."""
        result = np.zeros(self.width, np.uint32)
        result[places] = 1
        return result

    def tables(self, sums: Vector) -> dict[tuple[int, ...], NDArray[np.int64]]:
        """Return the tables that a vector of sums holds."""
        starts = self._starts()
        return {
            group: sums[starts[number] : starts[number + 1]]
            .astype(np.int64)
            .reshape([self.sizes[a] for a in group])
            for number, group in enumerate(self.groups)
        }

    def check(self, sums: Vector, people: int, *, margins: bool = True) -> None:
        """Refuse sums that no people can have caused.

        ``margins``: whether tables must agree on the attributes that they share, as they do
        unless each was randomized by itself.

        What is caught: a vector that is no vector of ones, unless its faults cancel in every
        table and margin. What is not: somebody who counts for another cell than the true one.
        """
        tables = self.tables(sums)
        for group, table in tables.items():
            if int(table.sum()) != people or int(table.max()) > people:
                problem = f"the table of {self._called(group)} does not count everybody once"
                expected = f"{people}: somebody cheated, or an aggregator was not asked"
                raise SharingError(problem, given=int(table.sum()), expected=expected)
        for margin, one, two in self._shared(tables) if margins else ():
            if not np.array_equal(one, two):
                problem = f"two tables differ in {self._called((margin,))}"
                expected = "equal margins: somebody cheated, or pairs were randomized unsaid"
                raise SharingError(problem, expected=expected)

    def _called(self, group: tuple[int, ...]) -> str:
        if self.names:
            return " and ".join(repr(self.names[attribute]) for attribute in group)
        return f"attribute{'s' * (len(group) > 1)} {' and '.join(map(str, group))}"

    def _shared(
        self, tables: dict[tuple[int, ...], NDArray[np.int64]]
    ) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
        first: dict[int, NDArray[np.int64]] = {}
        for group, table in tables.items():
            for place, attribute in enumerate(group):
                others = tuple(axis for axis in range(table.ndim) if axis != place)
                margin = table.sum(axis=others)
                yield attribute, first.setdefault(attribute, margin), margin


def sheet_of_pairs(sizes: Sequence[int]) -> Sheet:
    """Return the sheet of all pairs of attributes.

    >>> sheet_of_pairs((2, 3, 4)).width
    26
    """
    return Sheet(tuple(sizes), _pairs(len(sizes)))


def sheet_of_survey(survey: Survey) -> Sheet:
    """Return the sheet of all pairs of a survey's attributes; it knows whose they are."""
    schema = survey.schema
    pairs = _pairs(len(schema.sizes))
    return Sheet(schema.sizes, pairs, schema.names, survey.name, schema.digest())


def _pairs(attributes: int) -> tuple[tuple[int, ...], ...]:
    return tuple(combinations(range(attributes), 2))
