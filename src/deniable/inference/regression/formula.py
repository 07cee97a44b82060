"""A formula: the terms of a regression, and how each predictor becomes numbers.

``sex`` is a predictor, ``sex:age`` an interaction, ``sex*age`` both predictors and their
interaction. A predictor with categories has a column for each but the reference, or one
column of scores; a number is its own column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError
from deniable.inference.regression.column import Column, intercept, product

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

    Terms = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Coding:
    """How one predictor becomes columns.

    Attributes:
        name: The predictor.
        categories: Its categories; none if it is a number.
        reference: The place of the category that the others are compared with.
        scores: A number for each category, if it enters as one column.
    """

    name: str
    categories: tuple[str, ...] = ()
    reference: int = 0
    scores: tuple[float, ...] = ()

    def columns(self, values: Array) -> list[tuple[str, Array]]:
        """Return labels and columns for places of categories, or for numbers."""
        if not self.categories:
            return [(self.name, values)]
        places = values.astype(np.int64)
        if self.scores:
            return [(self.name, np.asarray(self.scores)[places])]
        return [
            (f"{self.name}={category}", (places == place).astype(np.float64))
            for place, category in enumerate(self.categories)
            if place != self.reference
        ]

    def value(self, given: str | float) -> float:
        """Return a category's place or a number, as a prediction names it."""
        if not self.categories:
            try:
                return float(given)
            except ValueError as error:
                problem = f"{self.name!r} is a number"
                raise EstimationError(problem, given=given) from error
        return float(place_of(self.name, self.categories, str(given)))


@dataclass(frozen=True, slots=True)
class Formula:
    """Terms, and the coding of every predictor in them.

    Attributes:
        terms: Each the predictors whose product it is.
        codings: By predictor.
    """

    terms: Terms
    codings: Mapping[str, Coding]

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the terms as they are written."""
        return tuple(":".join(term) for term in self.terms)

    def columns(
        self, cells: Mapping[str, Array], rows: Mapping[str, Array], count: tuple[int, int]
    ) -> tuple[Column, ...]:
        """Return the intercept and the columns of all terms.

        Args:
            cells: For each randomized predictor, its category's place in each cell.
            rows: For each plain covariate, its place or number in each row.
            count: The numbers of cells and of rows.
        """
        wide, long = np.ones(count[0]), np.ones(count[1])

        def of(name: str) -> list[Column]:
            coding = self.codings[name]
            if name in cells:
                found = coding.columns(cells[name])
                return [Column(label, name, values, long) for label, values in found]
            found = coding.columns(rows[name])
            return [Column(label, name, wide, values) for label, values in found]

        columns = [intercept(*count)]
        for term in self.terms:
            columns += product([of(name) for name in term])
        return tuple(columns)


def terms_of(predictors: Iterable[str]) -> Terms:
    """Read terms as people write them.

    >>> terms_of(["sex*age", "income"])
    (('sex',), ('age',), ('sex', 'age'), ('income',))
    """
    found: list[tuple[str, ...]] = []
    for written in predictors:
        crossed = [part.strip() for part in written.split("*")]
        if len(crossed) > 1:
            found += [(part,) for part in crossed]
        found.append(tuple(name.strip() for part in crossed for name in part.split(":")))
    if not all(name for term in found for name in term):
        problem = "a predictor has no name"
        raise EstimationError(problem, expected="such as sex, sex:age or sex*age")
    return tuple(dict.fromkeys(found))


def names_of(terms: Terms) -> tuple[str, ...]:
    """Return every predictor once."""
    return tuple(dict.fromkeys(name for term in terms for name in term))


def place_of(name: str, categories: Sequence[str], category: str) -> int:
    """Return the place of a category, or say which there are."""
    if category not in categories:
        problem = f"{name!r} has no such category"
        raise EstimationError(problem, given=category, expected=", ".join(categories[:8]))
    return list(categories).index(category)


def coding_of(
    name: str,
    categories: Sequence[str],
    reference: Mapping[str, str],
    scores: Mapping[str, Sequence[float]],
) -> Coding:
    """Return the coding of a predictor; empty scores are its places: 0, 1, 2 and so on."""
    known = tuple(categories)
    place = place_of(name, known, reference[name]) if name in reference and known else 0
    if name not in scores or not known:
        return Coding(name, known, place)
    given = tuple(map(float, scores[name])) or tuple(map(float, range(len(known))))
    if len(given) != len(known) or len(set(given)) == 1:
        problem = f"the scores of {name!r} do not fit its categories"
        raise EstimationError(problem, given=list(given), expected=f"{len(known)} numbers")
    return Coding(name, known, place, given)
