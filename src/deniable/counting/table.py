"""Reports on their way in: files, Arrow tables and data frames, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import narwhals as nw
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from deniable.counting.exported import exported, is_exported
from deniable.errors import DataError, nearest
from deniable.protocol import Design, first_block
from deniable.protocol.at_rest import (
    BLOCK,
    PROVENANCE_KEY,
    SIDECAR_SUFFIX,
    Provenance,
    columns_of,
)
from deniable.protocol.at_rest import provenance_from_bytes as read_provenance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from narwhals.typing import IntoFrame

    Reports: TypeAlias = str | Path | IntoFrame | pa.RecordBatchReader
    About: TypeAlias = Provenance | Design | None

WEIGHT: Final = "deniable: how often"
"""In this column an engine says how many rows were alike."""

BATCH_ROWS: Final = 2**18


@dataclass(frozen=True, slots=True)
class Table:
    """Reports and what they say about themselves.

    Attributes:
        provenance: Design, blocks and source.
        batches: Tables of the columns of the layout; with ``WEIGHT``, each row stands for many.
    """

    provenance: Provenance
    batches: Iterator[pa.Table]


def open_reports(reports: Reports, about: About, source: str | None) -> Table:
    """Find out what some reports are, and offer them in batches."""
    if isinstance(reports, str | Path):
        return _open_file(Path(reports), about, source)
    if isinstance(reports, pa.Table | pa.RecordBatchReader):
        found = _found(reports.schema)
        batches = reports.to_batches(BATCH_ROWS) if isinstance(reports, pa.Table) else reports
        provenance = _settled(found, about, source, "this table")
        names = _columns(provenance, reports.schema.names)
        tables = (pa.Table.from_batches([batch]).select(names) for batch in batches)
        return Table(provenance, tables)
    try:
        frame = nw.from_native(reports)
    except TypeError:
        problem = "these are no reports"
        expected = "a file, an Arrow table or a data frame that Narwhals knows"
        raise DataError(problem, given=type(reports).__name__, expected=expected) from None
    provenance = _settled(None, about, source, "a data frame")
    names = _columns(provenance, frame.collect_schema().names())
    if isinstance(frame, nw.LazyFrame):
        return Table(provenance, _counted_there(frame, names))
    return Table(provenance, _of_frame(frame.select(*names)))


def _of_frame(frame: nw.DataFrame[Any]) -> Iterator[pa.Table]:
    for start in range(0, len(frame), BATCH_ROWS):
        yield frame[start : start + BATCH_ROWS].to_arrow()


def _counted_there(frame: nw.LazyFrame[Any], names: Sequence[str]) -> Iterator[pa.Table]:
    """Let the engine that holds the reports group those that are alike."""
    grouped = frame.group_by(*names).agg(nw.len().alias(WEIGHT))
    collected = grouped.collect(backend="pyarrow").to_native()
    if collected.num_rows:
        yield collected


def _open_file(path: Path, about: About, source: str | None) -> Table:
    if not path.is_file():
        problem = f"there is no file {path.name}"
        raise DataError(problem, expected="a CSV or Parquet file of reports")
    try:
        if path.name.lower().endswith((".parquet", ".pq")):
            file = pq.ParquetFile(path, buffer_size=2**20, pre_buffer=False)
            found = _found(file.schema_arrow)
            provenance = _settled(found, about, source, path.name)
            names = _columns(provenance, file.schema_arrow.names)
            return Table(provenance, _of_parquet(file, names))
        beside = path.with_name(path.name + SIDECAR_SUFFIX)
        found = read_provenance(beside.read_bytes()) if beside.is_file() else None
        provenance = _settled(found, about, source, path.name)
        if found is None and is_exported(path):
            return Table(provenance, exported(path, provenance))
        wanted = [column.name for column in columns_of(provenance.design, provenance.blocks)]
        # Few different texts stand for many rows.
        text = dict.fromkeys([BLOCK, *wanted], pa.dictionary(pa.int32(), pa.string()))
        options = pa.csv.ConvertOptions(column_types=text, strings_can_be_null=False)
        reader = pa.csv.open_csv(path, convert_options=options)
        names = _columns(provenance, reader.schema.names)
    except pa.ArrowException:
        problem = f"{path.name} cannot be read"
        raise DataError(problem, expected="a whole CSV or Parquet file of reports") from None
    return Table(provenance, (pa.Table.from_batches([batch]).select(names) for batch in reader))


def _of_parquet(file: pq.ParquetFile, names: Sequence[str]) -> Iterator[pa.Table]:
    try:
        for batch in file.iter_batches(BATCH_ROWS, columns=list(names)):
            yield pa.Table.from_batches([batch]).select(names)
    except pa.ArrowException:
        problem = "a Parquet file of reports is damaged"
        raise DataError(problem, expected="a whole file") from None
    finally:
        file.close()


def _found(schema: pa.Schema) -> Provenance | None:
    data = (schema.metadata or {}).get(PROVENANCE_KEY)
    return None if data is None else read_provenance(data)


def _settled(found: Provenance | None, about: About, source: str | None, what: str) -> Provenance:
    """Return what the reports say about themselves, or else what the caller says."""
    said = about.design if isinstance(about, Provenance) else about
    if said is not None and found is not None and found.design.digest != said.digest:
        problem = f"the reports of {what} were made for another design"
        raise DataError(problem, given=found.design.digest, expected=said.digest)
    if isinstance(about, Provenance):
        found = about
    elif isinstance(about, Design):
        if found is None and source is not None:
            found = Provenance(about, (first_block(about),), source)
        elif found is None:
            problem = f"{what} does not name its source"
            raise DataError(problem, expected="source=, under which a tally remembers it")
    if found is None:
        problem = f"{what} does not say for which design its reports were made"
        expected = (
            "a file made by randomize, its provenance beside it if it is CSV; or the design:"
            " deniable count --design on the command line, about= in Python"
        )
        raise DataError(problem, expected=expected)
    if source is None:
        return found
    return Provenance(found.design, found.blocks, source, found.survey)


def _columns(provenance: Provenance, found: Sequence[str]) -> list[str]:
    """Return the columns to be read; a missing one is an error."""
    names = [column.name for column in columns_of(provenance.design, provenance.blocks)]
    if BLOCK in found or len(provenance.blocks) > 1:
        names.append(BLOCK)
    missing = [name for name in names if name not in found]
    if missing:
        problem = f"the reports lack the column {missing[0]!r}"
        raise DataError(problem, expected=nearest(missing[0], found))
    return names
