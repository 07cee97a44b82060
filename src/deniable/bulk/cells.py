"""Cells: a column of answers turned into the cells that a channel randomizes.

What ``Attribute.index`` does for one answer is done here for whole Arrow columns, each
different answer being looked up once. An answer outside its domain is counted and never
named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deniable.bulk import _kernels
from deniable.bulk.domain import OUTSIDE, Table
from deniable.bulk.sampler import dtype_for
from deniable.errors import AnswerError, DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.bulk.domain import Cells, Domain

_LARGEST_INT64: Final = 2**63 - 1
_PLAIN_NUMBER: Final = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"
"""Text that Arrow and Python read as the same number."""


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
