"""Respondents: what one chunk of people would have reported, had each had a device.

A view is drawn for every row, its groups are composed to cells, each goes through its
channel, and the reports are laid out as ``protocol.at_rest`` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from deniable.bulk import _kernels
from deniable.bulk.cells import cells_of
from deniable.bulk.domain import Codes, Declared
from deniable.bulk.keystream import TILE_WORDS
from deniable.bulk.sampler import dtype_for, sampler_of
from deniable.errors import DataError, DesignError
from deniable.protocol import at_rest
from deniable.protocol.promise import check_promise

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from deniable.bulk.domain import Domain
    from deniable.bulk.keystream import Keystream
    from deniable.bulk.sampler import Integers, Sampler
    from deniable.protocol import Block, Design, Group
    from deniable.schema import Schema

Order: TypeAlias = Literal["shuffled", "kept"]

ID_WORDS: Final = 4
LARGEST_TOTAL: Final = 2**61

CHUNK_ROWS: Final = 2**18
"""Rows randomized together, and shuffled among themselves, if their reports are short."""

MOST_INTEGERS: Final = 2**22
"""Integers in the reports of a chunk, if that allows for ``FEWEST_ROWS``."""

FEWEST_ROWS: Final = 2**10


@dataclass(frozen=True, slots=True)
class Respondents:
    """A design made ready for many respondents.

    Attributes:
        design: What they are asked.
        block: Through which channels.
        domains: What they may answer, attribute by attribute.
        order: Whether their reports stand in another order than they do.
        ids: Whether each report gets an id.
        samplers: One for each group of each view.
        schema: The columns of the reports.
    """

    design: Design
    block: Block
    domains: tuple[Domain, ...]
    order: Order
    ids: bool
    samplers: tuple[tuple[Sampler, ...], ...]
    schema: pa.Schema

    @property
    def rows_at_once(self) -> int:
        """Return how many respondents make a chunk: fewer where a report is long."""
        widest = max(sum(s.channel.width for s in row) for row in self.samplers)
        return max(FEWEST_ROWS, min(CHUNK_ROWS, MOST_INTEGERS // widest))

    @property
    def names(self) -> tuple[str, ...]:
        """Return the attributes that some view asks: the columns that are needed."""
        asked = {a for view in self.design.views for group in view.groups for a in group.attributes}
        return tuple(name for place, name in enumerate(self.design.names) if place in asked)

    def cells(self, answers: pa.Table) -> tuple[dict[str, Integers], dict[str, int]]:
        """Return the cells of each column, and in which columns how many answers have none."""
        cells, faults = {}, {}
        for domain in self.domains:
            if domain.name in self.names:
                cells[domain.name], outside = cells_of(answers[domain.name], domain)
                if outside:
                    faults[domain.name] = outside
        return cells, faults

    def randomize(self, cells: Mapping[str, Integers], stream: Keystream) -> pa.RecordBatch:
        """Return the reports of people who answer ``cells``."""
        rows = min((column.size for column in cells.values()), default=0)
        order = permutation(rows, stream) if self.order == "shuffled" else None
        if len(self.design.views) == 1:
            arrays = list(self._one_view(cells, order, stream))
        else:
            arrays = self._many_views(cells, order, stream)
        if self.ids:
            words = [stream.words(size * ID_WORDS).copy() for size in _tiles(rows, ID_WORDS)]
            data = np.concatenate([*words, np.empty(0, np.uint32)]).tobytes()
            arrays.append(pa.Array.from_buffers(pa.binary(16), rows, [None, pa.py_buffer(data)]))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _one_view(
        self, cells: Mapping[str, Integers], order: Integers | None, stream: Keystream
    ) -> Iterator[pa.Array]:
        (view,) = self.design.views
        for group, sampler, field in zip(view.groups, self.samplers[0], self.schema, strict=False):
            answers = self._group(group, cells, order)
            yield arrow_of(sampler.randomize(answers, stream), field.type)

    def _many_views(
        self, cells: Mapping[str, Integers], order: Integers | None, stream: Keystream
    ) -> list[pa.Array]:
        rows = min(column.size for column in cells.values())
        views = draw_views(self.design, rows, stream).astype(dtype_for(len(self.design.views)))
        widths = np.array([sum(s.channel.width for s in row) for row in self.samplers], np.int32)
        ends = np.cumsum(widths[views], dtype=np.int32)
        starts = ends - widths[views]
        kind = self.schema.field(at_rest.VALUES).type
        values = np.empty(int(ends[-1]) if rows else 0, _integers(kind))
        by_view = np.argsort(views, kind="stable")
        counts = np.bincount(views, minlength=len(self.design.views))
        last = 0
        for view, row in enumerate(self.samplers):
            first, last = last, last + int(counts[view])
            people = by_view[first:last]
            place = starts[people]
            source = people if order is None else order[people]
            for group, sampler in zip(self.design.views[view].groups, row, strict=True):
                reports = sampler.randomize(self._group(group, cells, source), stream)
                for part in reports.reshape(people.size, sampler.channel.width).T:
                    values[place] = part
                    place = place + 1
        drawn = arrow_of(views, self.schema.field(at_rest.VIEW).type)
        if pa.types.is_list(kind):
            offsets = pa.array(np.append(np.int32(0), ends))
            return [drawn, pa.ListArray.from_arrays(offsets, pa.array(values), type=kind)]
        return [drawn, arrow_of(values.reshape(rows, -1), kind)]

    def _group(self, group: Group, cells: Mapping[str, Integers], rows: Any) -> Integers:  # noqa: ANN401
        """Compose the answers of some rows to the cells of a group."""
        names = [self.design.names[attribute] for attribute in group.attributes]
        columns = [cells[name] if rows is None else cells[name][rows] for name in names]
        dtype = dtype_for(group.size)
        cell: Integers = columns[0].astype(dtype, copy=False)
        if len(columns) > 1:
            cell = cell.copy()
        for column, size in zip(columns[1:], group.sizes[1:], strict=True):
            _kernels.composed(cell, column, np.uint64(size))
        return cell


def prepare(
    design: Design, block: Block, schema: Schema | None, *, order: Order = "shuffled", ids: bool
) -> Respondents:
    """Make a design ready; without a schema the answers must be cells already."""
    check_promise(design, block)
    if order not in {"shuffled", "kept"}:
        problem = "reports are either shuffled or kept in order"
        raise DataError(problem, given=order, expected="'shuffled' or 'kept'")
    domains: Sequence[Domain]
    if schema is None:
        domains = [Codes(name, size) for name, size in design.attributes]
    else:
        domains = [Declared(schema[name]) for name in design.names]
    samplers = tuple(tuple(sampler_of(channel) for channel in row) for row in block.channels)
    return Respondents(
        design, block, tuple(domains), order, ids, samplers, arrow_schema(design, block, ids=ids)
    )


def arrow_schema(design: Design, block: Block, *, ids: bool) -> pa.Schema:
    """Return the columns of the reports of one block, as Arrow types."""
    fields = []
    for column in at_rest.columns_of(design, [block]):
        kind = pa.from_numpy_dtype(dtype_for(column.limit))
        if column.width != 1:
            kind = pa.list_(kind, column.width or -1)
        fields.append(pa.field(column.name, kind, nullable=False))
    if ids:
        fields.append(pa.field(at_rest.ID, pa.binary(16), nullable=False))
    return pa.schema(fields)


def permutation(rows: int, stream: Keystream) -> Integers:
    """Return the numbers below ``rows`` in an order that nobody knows."""
    words = [stream.words(size * 2).copy() for size in _tiles(rows, 2)]
    order: Integers = np.arange(rows, dtype=np.uint32)
    if rows:
        _kernels.shuffled(order, np.concatenate(words))
    return order


def draw_views(design: Design, rows: int, stream: Keystream) -> Integers:
    """Draw a view for each row without looking at any answer, as ``Design.draw_view`` does."""
    total = design.total_weight
    if total >= LARGEST_TOTAL:
        problem = "the weights of a design's views are too large"
        raise DesignError(problem, given=total, expected=f"a sum below {LARGEST_TOTAL}")
    ends = np.cumsum([view.weight for view in design.views], dtype=np.uint64)
    bound = np.array([total, 2**64 - 1 - 2**64 % total, (2**64 - 1) // total], np.uint64)
    views, start = np.empty(rows, np.uint32), 0
    again = np.empty(TILE_WORDS // 2, np.uint32)
    for size in _tiles(rows, 2):
        words = stream.words(size * 2)
        part = views[start : start + size]
        redone = _kernels.drawn_views(words, part, again, ends, bound)
        kept = {int(row): words[2 * row : 2 * row + 2].copy() for row in again[:redone]}
        for row, begun in kept.items():
            part[row] = design.draw_view(stream.coin(begun))
        start += size
    return views


def arrow_of(reports: Integers, kind: pa.DataType) -> pa.Array:
    """Return reports as an Arrow column of the type that its layout has."""
    flat = pa.array(reports.reshape(-1).astype(_integers(kind), copy=False))
    if pa.types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(flat, type=kind)
    return flat


def _integers(kind: pa.DataType) -> np.dtype[np.unsignedinteger[Any]]:
    inner = kind.value_type if hasattr(kind, "value_type") else kind
    dtype: np.dtype[np.unsignedinteger[Any]] = np.dtype(inner.to_pandas_dtype())
    return dtype


def _tiles(rows: int, words: int) -> Iterator[int]:
    """Divide rows into parts that a keystream serves at once."""
    most = TILE_WORDS // words
    for start in range(0, rows, most):
        yield min(most, rows - start)
