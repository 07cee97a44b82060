"""Sink: reports on their way into a file, which appears only when it is complete.

They are written beside the target under another name, which is changed at the end; what
was there before stays until then, and nothing is left behind by a failure.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from deniable.bulk.source import file_format
from deniable.errors import DataError
from deniable.protocol import encode_bytes
from deniable.protocol.at_rest import SIDECAR_SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_DICTIONARY_LIMIT: Final = 2**12
"""Columns of fewer different integers are packed in as few bits as those need."""


class Sink(Protocol):
    """Where batches of reports go."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Take some rows."""


@contextmanager
def open_sink(path: Path, schema: pa.Schema, provenance: bytes) -> Iterator[Sink]:
    """Open a file for reports; it takes its name when the body ends well."""
    kind = file_format(path)
    unfinished, about = _unfinished(path), _unfinished(sidecar(path))
    try:
        if kind == "parquet":
            with pq.ParquetWriter(unfinished, schema, **_packing(schema)) as writer:
                yield _Parquet(writer)
        else:
            with _csv_stream(unfinished, path) as stream:
                yield _Csv(stream, schema)
            about.write_bytes(provenance)
        unfinished.replace(path)
        if about.exists():
            about.replace(sidecar(path))
    finally:
        unfinished.unlink(missing_ok=True)
        about.unlink(missing_ok=True)


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.unfinished")


def sidecar(path: Path) -> Path:
    """Name the file beside a CSV file that says what it holds."""
    return path.with_name(path.name + SIDECAR_SUFFIX)


def check_target(target: Path, source: Path, *, replace: bool) -> None:
    """Refuse to write where that would lose something, before anything is read."""
    file_format(target)
    if not target.parent.is_dir():
        problem = f"there is no folder {target.parent}"
        raise DataError(problem, expected="a folder that exists")
    if target.exists():
        if source.exists() and target.samefile(source):
            problem = "reports cannot be written over the answers they are made of"
            raise DataError(problem, expected="another name for the reports")
        if not replace:
            problem = f"{target.name} exists already"
            expected = "another name; a second randomization of the same answers costs ε again"
            raise DataError(problem, expected=expected)


def _packing(schema: pa.Schema) -> dict[str, object]:
    """Choose how Parquet keeps each column: random codes are packed, not compressed."""
    plain = [f.name for f in schema if pa.types.is_integer(f.type) and f.type.bit_width <= 16]  # noqa: PLR2004
    return {
        "use_dictionary": plain,
        "compression": {f.name: "NONE" if f.name in plain else "ZSTD" for f in schema},
        "write_statistics": False,
    }


class _Parquet:
    def __init__(self, writer: pq.ParquetWriter) -> None:
        self._writer = writer

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch)


class _Csv:
    def __init__(self, stream: pa.NativeFile, schema: pa.Schema) -> None:
        fields = [
            f if pa.types.is_integer(f.type) else pa.field(f.name, pa.string()) for f in schema
        ]
        options = pa.csv.WriteOptions(quoting_style="none", quoting_header="needed")
        self._writer = pa.csv.CSVWriter(stream, pa.schema(fields), write_options=options)

    def write(self, batch: pa.RecordBatch) -> None:
        columns = [_printable(column) for column in batch.columns]
        self._writer.write_batch(pa.RecordBatch.from_arrays(columns, names=batch.schema.names))


def _printable(column: pa.Array) -> pa.Array:
    """Return a column as CSV can hold it: several integers parted by spaces, ids as text."""
    if pa.types.is_integer(column.type):
        return column
    if pa.types.is_fixed_size_binary(column.type):
        return pa.array([encode_bytes(value) for value in column.to_pylist()], pa.string())
    return pc.binary_join(column.cast(pa.list_(pa.string())), " ")


def _csv_stream(unfinished: Path, path: Path) -> pa.NativeFile:
    compression = "gzip" if path.name.lower().endswith(".gz") else None
    return pa.output_stream(str(unfinished), compression=compression)
