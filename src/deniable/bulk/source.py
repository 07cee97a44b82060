"""Source: answers from a data frame or a file, a bounded number of rows at a time.

Every data frame that Narwhals knows comes as Arrow columns: pandas, Polars, PyArrow,
DuckDB and other lazy frames; CSV and Parquet files are streamed. Errors of the readers are
replaced by sentences of our own, because theirs quote the file.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import narwhals as nw
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from deniable.errors import DataError, DeniableError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from narwhals.typing import IntoFrame

    Frame: TypeAlias = IntoFrame | pa.RecordBatchReader
    AnyFrame: TypeAlias = nw.DataFrame[Any] | nw.LazyFrame[Any]

BATCH_ROWS: Final = 2**16
"""Rows taken at a time from where they can be taken by number."""

CSV_SUFFIXES: Final = (".csv", ".csv.gz")
PARQUET_SUFFIXES: Final = (".parquet", ".pq")

_CSV_BLOCK: Final = 2**22
_CSV_LINES: Final = pa.csv.ParseOptions(newlines_in_values=True)
_READ_AHEAD: Final = 2**20
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Source:
    """Answers on their way in.

    Attributes:
        rows: How many there are, if that is known beforehand.
        batches: The columns asked for, in batches of any size.
    """

    rows: int | None
    batches: Iterator[pa.Table]

    def chunks(self, rows: int) -> Iterator[pa.Table]:
        """Yield tables of exactly ``rows`` rows; the last may be shorter."""
        waiting: list[pa.Table] = []
        held = 0
        for batch in self.batches:
            waiting.append(batch)
            held += batch.num_rows
            while held >= rows:
                whole = pa.concat_tables(waiting)
                yield whole.slice(0, rows)
                held -= rows
                waiting = [whole.slice(rows)] if held else []
        if held:
            yield pa.concat_tables(waiting)


def open_frame(frame: Frame, columns: Sequence[str]) -> Source:
    """Take the named columns of a data frame."""
    if isinstance(frame, pa.RecordBatchReader):
        check_columns(columns, frame.schema.names)
        return Source(None, _of_reader(frame, columns))
    known = known_frame(frame)
    check_columns(columns, names_of(known))
    rows = len(known) if isinstance(known, nw.DataFrame) else None
    return Source(rows, _of_frame(known, columns))


def known_frame(frame: IntoFrame) -> AnyFrame:
    """Return a data frame of any library, as Narwhals sees it."""
    with in_our_words():
        try:
            return nw.from_native(frame)
        except nw.exceptions.DuplicateError:
            native: Any = frame
            columns = native.column_names if isinstance(native, pa.Table) else native.columns
            names = list(map(str, columns))
            check_columns(names, names)  # says which column is there twice
            raise
        except TypeError:
            problem = "this is no data frame"
            expected = "a pandas, Polars, PyArrow or DuckDB frame, or any other that Narwhals knows"
            raise DataError(problem, given=type(frame).__name__, expected=expected) from None


def names_of(frame: AnyFrame) -> list[str]:
    """Return the names of a frame's columns."""
    with in_our_words():
        return frame.collect_schema().names()


@contextmanager
def in_our_words() -> Iterator[None]:
    """Put a sentence of our own in place of a library's, which may quote an answer."""
    try:
        yield
    except DeniableError:
        raise
    except Exception as error:  # noqa: BLE001 -- every library has errors of its own
        problem = "this data frame cannot be read"
        expected = "columns of different names, each of one type"
        raise DataError(problem, given=type(error).__name__, expected=expected) from None


def _of_frame(frame: AnyFrame, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Read a frame; a lazy one is computed as it is read."""
    with in_our_words():
        chosen = frame.select(*columns)
        if isinstance(chosen, nw.DataFrame):
            for start in range(0, len(chosen), BATCH_ROWS):
                yield _arrow_of(chosen[start : start + BATCH_ROWS])
        elif hasattr(chosen.to_native(), "__arrow_c_stream__"):
            reader = pa.RecordBatchReader.from_stream(chosen.to_native())
            yield from _of_reader(reader, columns)
        else:
            yield chosen.collect(backend="pyarrow").to_native()


def _arrow_of(frame: nw.DataFrame[Any]) -> pa.Table:
    """Return rows as Arrow columns, or name the column that cannot be one."""
    try:
        return frame.to_arrow()
    except Exception:  # noqa: BLE001 -- as above
        for name in frame.columns if len(frame.columns) > 1 else ():
            _arrow_of(frame.select(name))
        problem = f"column {frame.columns[0]!r} is not of one type that answers have"
        raise DataError(problem, expected="text, numbers or truth values") from None


def _of_reader(reader: pa.RecordBatchReader, columns: Sequence[str]) -> Iterator[pa.Table]:
    with in_our_words():
        for batch in reader:
            yield pa.Table.from_batches([batch]).select(columns)


def open_file(path: Path, columns: Sequence[str]) -> Source:
    """Take the named columns of a CSV or Parquet file, by the ending of its name."""
    _check_there(path)
    match file_format(path):
        case "parquet":
            return _open_parquet(path, columns)
        case _:
            return _open_csv(path, columns)


def read_table(path: Path) -> pa.Table:
    """Read a whole file with the types that its columns seem to have."""
    _check_there(path)
    # Only an empty field is a missing answer; NA may be a category.
    nulls = pa.csv.ConvertOptions(null_values=[""], strings_can_be_null=True)
    try:
        if file_format(path) == "parquet":
            return pq.read_table(path)
        table = pa.csv.read_csv(path, parse_options=_CSV_LINES, convert_options=nulls)
    except pa.ArrowException:
        raise _unreadable(path) from None
    if any(pa.types.is_binary(kind) for kind in table.schema.types):  # no UTF-8
        raise _unreadable(path)
    return table


def _check_there(path: Path) -> None:
    if not path.is_file():
        problem = f"there is no file {path.name}"
        raise DataError(problem, expected="a CSV or Parquet file of answers")


def file_format(path: Path) -> str:
    """Tell CSV from Parquet by the ending of a file's name."""
    name = path.name.lower()
    if name.endswith(PARQUET_SUFFIXES):
        return "parquet"
    if name.endswith(CSV_SUFFIXES):
        return "csv"
    problem = f"the name of {path.name} does not say what kind of file it is"
    raise DataError(problem, expected=" or ".join((*CSV_SUFFIXES, *PARQUET_SUFFIXES)))


def rows_of(path: Path) -> int | None:
    """Return how many rows a file says it has; a CSV file does not say."""
    if not path.is_file() or file_format(path) != "parquet":
        return None
    return open_file(path, []).rows


def _open_parquet(path: Path, columns: Sequence[str]) -> Source:
    try:
        # With a buffer, a column is read page by page, however large its row group is.
        file = pq.ParquetFile(path, buffer_size=_READ_AHEAD, pre_buffer=False)
    except pa.ArrowException:
        raise _unreadable(path) from None
    check_columns(columns, file.schema_arrow.names)
    return Source(file.metadata.num_rows, _of_parquet(file, path, columns))


def _of_parquet(file: pq.ParquetFile, path: Path, columns: Sequence[str]) -> Iterator[pa.Table]:
    try:
        for batch in file.iter_batches(BATCH_ROWS, columns=list(columns), use_threads=False):
            yield pa.Table.from_batches([batch]).select(columns)
    except pa.ArrowException:
        raise _unreadable(path) from None
    finally:
        file.close()


def _open_csv(path: Path, columns: Sequence[str]) -> Source:
    text = pa.dictionary(pa.int32(), pa.string())
    try:
        reader = pa.csv.open_csv(
            path,
            read_options=pa.csv.ReadOptions(block_size=_CSV_BLOCK),
            parse_options=_CSV_LINES,
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(columns, text), strings_can_be_null=False
            ),
        )
    except pa.ArrowException:
        raise _unreadable(path) from None
    check_columns(columns, reader.schema.names)
    return Source(None, _of_csv(path, reader, columns))


def _of_csv(
    path: Path, reader: pa.csv.CSVStreamingReader, columns: Sequence[str]
) -> Iterator[pa.Table]:
    try:
        for batch in reader:
            yield pa.Table.from_batches([batch]).select(columns)
    except pa.ArrowException:
        raise _unreadable(path) from None
    finally:
        reader.close()


def _unreadable(path: Path) -> DataError:
    problem = f"{path.name} cannot be read as {file_format(path)}"
    if file_format(path) == "parquet":
        return DataError(problem, expected="a whole Parquet file")
    return DataError(problem, expected="a whole file in UTF-8 with a line of names, rows alike")


def check_columns(wanted: Sequence[str], found: Sequence[str]) -> None:
    """Refuse data that lack a column, or have one twice."""
    missing = [name for name in wanted if name not in found]
    if missing:
        shown = ", ".join(map(repr, missing[:_SHOWN])) + " …" * (len(missing) > _SHOWN)
        problem = f"the data lack the column{'s' * (len(missing) > 1)} {shown}"
        there = nearest(missing[0], found[:_SHOWN]) if found else "none at all"
        raise DataError(problem, expected=f"a column for every attribute; there is {there}")
    twice = [name for name in wanted if list(found).count(name) > 1]
    if twice:
        problem = f"column {twice[0]!r} is there more than once"
        raise DataError(problem, expected="every column once")
