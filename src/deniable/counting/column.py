"""A column of reports at rest as plain integers, and which rows hold none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deniable.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

IMPOSSIBLE: Final = -1
"""Stands for what is no integer of any report."""


@dataclass(frozen=True, slots=True, eq=False)
class Integers:
    """The integers of a column.

    Attributes:
        flat: All that occur.
        starts: Where each row begins in ``flat``; None if row i is integer i.
        lengths: How many each row has; None if each has one.
        absent: Which rows hold no report at all; None if every one does.
        dense: Whether the rows stand in ``flat`` one after another.
    """

    flat: NDArray[np.integer[Any]]
    starts: NDArray[np.int64] | None = None
    lengths: NDArray[np.int64] | None = None
    absent: NDArray[np.bool_] | None = None
    dense: bool = True

    def rows_of(self, width: int, rows: NDArray[np.intp] | None) -> NDArray[np.integer[Any]]:
        """Return some rows, all of ``width`` integers, as a matrix; None for all rows."""
        if self.starts is None:
            return self.flat.reshape(-1, 1) if rows is None else self.flat[rows].reshape(-1, 1)
        if rows is None and self.dense:
            return self.flat.reshape(-1, width)
        starts = self.starts if rows is None else self.starts[rows]
        matrix: NDArray[np.integer[Any]] = self.flat[starts[:, None] + np.arange(width)]
        return matrix

    def at(self, places: NDArray[np.int64], absent: NDArray[np.bool_] | None) -> Integers:
        """Return the rows at some places: a dictionary's entries become a column."""
        if self.absent is not None:
            here = self.absent[places]
            absent = here if absent is None else here | absent
        if self.starts is None or self.lengths is None:
            return Integers(self.flat[places], absent=absent)
        if (self.lengths == 1).all():
            return Integers(self.flat[self.starts[places]], absent=absent)
        return Integers(self.flat, self.starts[places], self.lengths[places], absent, dense=False)

    def fits(self, width: int) -> NDArray[np.bool_] | None:
        """Tell which rows have ``width`` integers; None if all do."""
        if self.lengths is None:
            return None if width == 1 else np.zeros(self.flat.size, np.bool_)
        fitting: NDArray[np.bool_] = self.lengths == width
        return None if fitting.all() else fitting


def integers_of(column: pa.ChunkedArray, name: str) -> Integers:
    """Read a column of integers, of lists of integers, or of either written as text."""
    parts = [_of_array(chunk, name) for chunk in column.chunks if len(chunk)]
    if len(parts) == 1:
        return parts[0]
    return _of_array(pa.concat_arrays([_decoded(chunk) for chunk in column.chunks]), name)


def _decoded(array: pa.Array) -> pa.Array:
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _of_array(array: pa.Array, name: str) -> Integers:
    kind = array.type
    absent = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    if pa.types.is_dictionary(kind):
        if not len(array.dictionary):
            array = array.dictionary_decode()
            return _of_array(array, name)
        places = array.indices.fill_null(0).to_numpy(zero_copy_only=False)
        return _of_array(array.dictionary, name).at(places, absent)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        filled = array.fill_null("")
        empty = pc.equal(filled, "").to_numpy(zero_copy_only=False)
        absent = empty if empty.any() else None
        array = pc.split_pattern(filled, " ")
        kind = array.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        lengths = pc.list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False)
        lengths = lengths.astype(np.int64)
        flat = _plain(array.flatten(), name)
        return Integers(flat, np.cumsum(lengths) - lengths, lengths, absent)
    return Integers(_plain(array, name), absent=absent)


def _plain(array: pa.Array, name: str) -> NDArray[np.integer[Any]]:
    """Return integers; what is none becomes ``IMPOSSIBLE``."""
    kind = array.type
    if pa.types.is_integer(kind):
        filled = array if not array.null_count else array.fill_null(0)
        numbers: NDArray[np.integer[Any]] = filled.to_numpy(zero_copy_only=False)
        if array.null_count:
            null = array.is_null().to_numpy(zero_copy_only=False)
            numbers = np.where(null, IMPOSSIBLE, _signed(numbers))
        return _signed(numbers) if kind == pa.uint64() else numbers
    if pa.types.is_floating(kind):
        real = array.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False)
        whole = (real == np.floor(real)) & (np.abs(real) < 2.0**53)
        return np.where(whole, np.where(whole, real, 0).astype(np.int64), IMPOSSIBLE)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        numeral = pc.match_substring_regex(array, r"^(0|[1-9][0-9]{0,17})$").fill_null(
            fill_value=False
        )
        found = pc.if_else(numeral, array, str(IMPOSSIBLE)).cast(pa.int64())
        return np.asarray(found.to_numpy(zero_copy_only=False))
    if pa.types.is_null(kind):
        return np.full(len(array), IMPOSSIBLE, np.int64)
    problem = f"the column {name!r} holds no reports"
    raise DataError(problem, given=str(kind), expected="integers, or lists of integers")


def _signed(numbers: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return integers as signed ones; those too large become ``IMPOSSIBLE``."""
    if numbers.dtype == np.uint64:
        return np.where(numbers > 2**63 - 1, IMPOSSIBLE, numbers.astype(np.int64))
    return numbers.astype(np.int64)
