"""Domains: what may be answered to one attribute, looked up for whole columns at once.

What a cell is, the schema says (``Attribute.index``); a domain knows the cells of many
answers together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Protocol, TypeAlias

import numpy as np

from deniable.errors import AnswerError
from deniable.schema.category import WHOLE_NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from deniable.schema import Attribute

    Cells: TypeAlias = NDArray[np.int64]

OUTSIDE: Final = -1
"""Stands for the cell of an answer that has none."""

_WIDEST_TABLE: Final = 2**20

_WHOLE_WITH_POINT: Final = re.compile(r"-?(0|[1-9][0-9]{0,14})\.0*", re.ASCII)
"""Whole numbers as pandas writes them into files if their column has a gap: 1.0 for 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The cells of the whole numbers from ``first`` on; no others have one."""

    first: int
    cells: Cells


class Domain(Protocol):
    """The answers of one attribute, by column."""

    @property
    def name(self) -> str:
        """Return the name of the column."""

    @property
    def size(self) -> int:
        """Return the number of cells."""

    @property
    def expected(self) -> str:
        """Say what may be answered."""

    @property
    def is_numeric(self) -> bool:
        """Tell whether numbers are put into bins."""

    @property
    def table(self) -> Table | None:
        """Return the cells of a range of whole numbers, if one table holds all that have any."""

    def index(self, answer: object) -> int:
        """Return the cell of one answer, or raise ``AnswerError``."""

    def missing(self) -> int:
        """Return the cell of a missing answer, or ``OUTSIDE``."""

    def whole(self, numbers: NDArray[np.int64]) -> Cells:
        """Return the cells of whole numbers, ``OUTSIDE`` where there is none."""

    def real(self, numbers: NDArray[np.float64]) -> Cells:
        """Return the cells of numbers that are not NaN, ``OUTSIDE`` where there is none."""


@dataclass(frozen=True, slots=True)
class Codes:
    """Answers that are cells already, 0 to size − 1: a design without its survey."""

    name: str
    size: int
    is_numeric: ClassVar[bool] = False

    @property
    def expected(self) -> str:
        """Say what may be answered."""
        return f"0 to {self.size - 1}"

    @property
    def table(self) -> Table | None:
        """Return the cells of all codes, if they are not too many."""
        return Table(0, np.arange(self.size)) if self.size <= _WIDEST_TABLE else None

    def index(self, answer: object) -> int:
        """Return the cell of one answer, or raise ``AnswerError``."""
        if isinstance(answer, str):
            answer = int(answer) if WHOLE_NUMBER.fullmatch(answer) else _without_point(answer)
        if isinstance(answer, float) and answer.is_integer():
            answer = int(answer)
        if isinstance(answer, int) and 0 <= answer < self.size:
            return int(answer)
        problem = f"the answer to {self.name!r} lies outside its domain"
        raise AnswerError(problem, expected=self.expected)

    def missing(self) -> int:
        """Return ``OUTSIDE``: a code stands for an answer."""
        return OUTSIDE

    def whole(self, numbers: NDArray[np.int64]) -> Cells:
        """Return the codes themselves."""
        return np.where((numbers >= 0) & (numbers < self.size), numbers, OUTSIDE)

    def real(self, numbers: NDArray[np.float64]) -> Cells:
        """Return the codes themselves, written as numbers with a point."""
        return _of_integral(numbers, self.whole)


class Declared:
    """Answers as an attribute of a schema declares them: names, codes, numbers to be binned."""

    def __init__(self, attribute: Attribute) -> None:
        """Prepare the tables of one attribute."""
        self._attribute = attribute
        self.name = attribute.name
        self.size = attribute.size
        self.expected = attribute.domain
        self.is_numeric = attribute.edges is not None
        self._edges = None if attribute.edges is None else np.array(attribute.edges)
        spelled = {int(c.name) for c in attribute.categories if WHOLE_NUMBER.fullmatch(c.name)}
        numbers = sorted({category.code for category in attribute.categories} | spelled)
        self._numbers = np.array(numbers, np.int64)
        self._cells = np.array([self._looked_up(number) for number in numbers], np.int64)
        self.table = None if self.is_numeric else self._dense(numbers)

    def _looked_up(self, answer: object) -> int:
        try:
            return self._attribute.index(answer)
        except AnswerError:
            return OUTSIDE

    def _dense(self, numbers: list[int]) -> Table | None:
        """Return the cells of all numbers from the least to the greatest."""
        span = numbers[-1] - numbers[0] + 1
        if span > _WIDEST_TABLE:
            return None
        cells = np.full(span, OUTSIDE, np.int64)
        cells[self._numbers - numbers[0]] = self._cells
        return Table(numbers[0], cells)

    def index(self, answer: object) -> int:
        """Return the cell of one answer, or raise ``AnswerError``."""
        try:
            return self._attribute.index(answer)
        except AnswerError:
            # A category may be called 1.0; only what is no name is read as a number.
            meant = _meant(answer)
            if meant is answer:
                raise
            return self._attribute.index(meant)

    def missing(self) -> int:
        """Return the cell of a missing answer, or ``OUTSIDE``."""
        cell = self._attribute.missing_cell
        return OUTSIDE if cell is None else cell

    def whole(self, numbers: NDArray[np.int64]) -> Cells:
        """Return the cells of whole numbers, ``OUTSIDE`` where there is none."""
        if self._edges is not None:
            return self.real(numbers.astype(np.float64))
        place = np.minimum(np.searchsorted(self._numbers, numbers), self._numbers.size - 1)
        return np.where(self._numbers[place] == numbers, self._cells[place], OUTSIDE)

    def real(self, numbers: NDArray[np.float64]) -> Cells:
        """Return the cells of numbers that are not NaN, ``OUTSIDE`` where there is none.

        Bin i holds edges[i] <= x < edges[i + 1], the last one its upper edge too.
        """
        if self._edges is None:
            return _of_integral(numbers, self.whole)
        bins = self._edges.size - 1
        found = np.searchsorted(self._edges, numbers, side="right") - 1
        found[numbers == self._edges[-1]] = bins - 1
        found[(found >= bins) | np.isinf(numbers)] = OUTSIDE
        return found.astype(np.int64)


def _without_point(answer: object) -> object:
    """Return the whole number that a text such as 1.0 means; any other answer as it is."""
    if isinstance(answer, str) and _WHOLE_WITH_POINT.fullmatch(answer):
        return int(answer.partition(".")[0])
    return answer


def _meant(answer: object) -> object:
    """Return what a text stands for that other programs write: 1.0 for 1, TRUE for true."""
    if isinstance(answer, str) and answer in {"TRUE", "FALSE"}:
        return answer == "TRUE"
    return _without_point(answer)


def _of_integral(
    numbers: NDArray[np.float64], whole: Callable[[NDArray[np.int64]], Cells]
) -> Cells:
    integral = (numbers == np.floor(numbers)) & (np.abs(numbers) < 2.0**53)
    cells = whole(np.where(integral, numbers, 0).astype(np.int64))
    return np.where(integral, cells, OUTSIDE)
