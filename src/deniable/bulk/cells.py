"""Cells: a column of answers turned into the cells that a channel randomizes.

What a cell is, the schema says (``Attribute.index``); here the same is done for whole
Arrow columns, each different answer being looked up once. An answer outside its domain
is counted and never named.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deniable.bulk import _kernels
from deniable.bulk.sampler import dtype_for
from deniable.errors import AnswerError, DataError
from deniable.schema.category import WHOLE_NUMBER

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from deniable.schema import Attribute

    Cells: TypeAlias = NDArray[np.int64]

OUTSIDE: Final = -1
"""Stands for the cell of an answer that has none."""

_LARGEST_INT64: Final = 2**63 - 1
_WIDEST_TABLE: Final = 2**20
_PLAIN_NUMBER: Final = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"
"""Text that Arrow and Python read as the same number."""


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
    def table(self) -> Table | None:
        """Return the cells of all codes, if they are not too many."""
        return Table(0, np.arange(self.size)) if self.size <= _WIDEST_TABLE else None

    def index(self, answer: object) -> int:
        """Return the cell of one answer, or raise ``AnswerError``."""
        if isinstance(answer, str) and WHOLE_NUMBER.fullmatch(answer):
            answer = int(answer)
        if isinstance(answer, float) and answer.is_integer():
            answer = int(answer)
        if isinstance(answer, int) and 0 <= answer < self.size:
            return int(answer)
        problem = f"the answer to {self.name!r} lies outside its domain"
        raise AnswerError(problem, expected=f"0 to {self.size - 1}")

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
        return self._attribute.index(answer)

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


def _of_integral(
    numbers: NDArray[np.float64], whole: Callable[[NDArray[np.int64]], Cells]
) -> Cells:
    integral = (numbers == np.floor(numbers)) & (np.abs(numbers) < 2.0**53)
    cells = whole(np.where(integral, numbers, 0).astype(np.int64))
    return np.where(integral, cells, OUTSIDE)


def cells_of(column: pa.ChunkedArray, domain: Domain) -> tuple[NDArray[Any], int]:
    """Return the cell of every answer of a column, and how many answers have none.

    Cells are of the smallest unsigned integers that hold the domain; where an answer has
    no cell its row means nothing.
    """
    dtype = dtype_for(domain.size)
    parts, outside = [np.empty(0, dtype)], 0
    for chunk in column.chunks:
        table, numbers = _quick(chunk, domain)
        if table is None:
            cells = _of_array(chunk, domain)
            outside += int(np.count_nonzero(cells == OUTSIDE))
            parts.append(cells.astype(dtype))
        else:
            parts.append(np.empty(len(chunk), dtype))
            outside += int(_kernels.looked_up(numbers, table.first, table.cells, parts[-1]))
    return np.concatenate(parts[1:] if len(parts) > 1 else parts), outside


def _quick(array: pa.Array, domain: Domain) -> tuple[Table | None, NDArray[Any]]:
    """Return a table and the numbers to be looked up in it, where nothing else is needed."""
    kind = array.type
    if array.null_count == 0:
        if pa.types.is_dictionary(kind):
            return Table(0, _of_different(array.dictionary, domain)), array.indices.to_numpy()
        if pa.types.is_integer(kind) and kind != pa.uint64():
            return domain.table, array.to_numpy()
    return None, np.empty(0, np.int64)


def _of_array(array: pa.Array, domain: Domain) -> Cells:
    kind = array.type
    if pa.types.is_null(kind):
        return np.full(len(array), domain.missing(), np.int64)
    if pa.types.is_dictionary(kind):
        return _of_dictionary(array, domain)
    if pa.types.is_integer(kind):
        cells = domain.whole(_as_int64(array))
    elif pa.types.is_floating(kind):
        numbers = array.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False)
        absent = np.isnan(numbers)
        cells = domain.real(np.where(absent, 0, numbers))
        cells[absent] = domain.missing()
        return cells
    elif pa.types.is_boolean(kind):
        values = array.fill_null(fill_value=False).to_numpy(zero_copy_only=False)
        cells = np.array([_cell(domain, False), _cell(domain, True)])[values.astype(np.intp)]  # noqa: FBT003
    else:
        return _of_dictionary(_different(array, domain), domain)
    return _with_missing(cells, array, domain)


def _as_int64(array: pa.Array) -> NDArray[np.int64]:
    """Return whole numbers; those too large for any code become one that no code is."""
    if pa.types.is_uint64(array.type):
        array = pc.min_element_wise(array, pa.scalar(_LARGEST_INT64, pa.uint64()))
    filled = array.fill_null(0).cast(pa.int64())
    numbers: NDArray[np.int64] = filled.to_numpy(zero_copy_only=False)
    return numbers


def _different(array: pa.Array, domain: Domain) -> pa.DictionaryArray:
    """Return the different answers of a column and which row gave which."""
    try:
        return array.dictionary_encode()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        problem = f"column {domain.name!r} holds no answers"
        raise DataError(
            problem, given=str(array.type), expected="text, numbers or truth values"
        ) from None


def _of_dictionary(array: pa.DictionaryArray, domain: Domain) -> Cells:
    cells = np.append(_of_different(array.dictionary, domain), domain.missing())
    # The last entry stands for rows without an answer.
    codes = array.indices.cast(pa.int64()).fill_null(cells.size - 1)
    found: Cells = cells[codes.to_numpy(zero_copy_only=False)]
    return found


def _of_different(values: pa.Array, domain: Domain) -> Cells:
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return np.array([_cell(domain, value) for value in values.to_pylist()], np.int64)
    cells = np.empty(len(values), np.int64)
    plain = np.zeros(len(values), np.bool_)
    if domain.is_numeric and len(values) > _FEW:
        matched = pc.match_substring_regex(values, _PLAIN_NUMBER).fill_null(fill_value=False)
        plain = matched.to_numpy(zero_copy_only=False)
        numbers = values.filter(matched).cast(pa.float64()).to_numpy(zero_copy_only=False)
        cells[plain] = domain.real(numbers)
    for place in np.flatnonzero(~plain):
        cells[place] = _cell(domain, values[place].as_py())
    return cells


_FEW: Final = 1_000
"""With more different texts than this, numbers among them are read together."""


def _cell(domain: Domain, answer: object) -> int:
    try:
        return domain.index(answer)
    except AnswerError:
        return OUTSIDE


def _with_missing(cells: Cells, array: pa.Array, domain: Domain) -> Cells:
    if array.null_count:
        cells = np.where(array.is_null().to_numpy(zero_copy_only=False), domain.missing(), cells)
    return cells
