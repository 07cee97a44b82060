"""Reports as files: the very reports the devices sent, one a line, or as a table."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

from starlette.responses import StreamingResponse

from deniable.collection.service import published
from deniable.collection.store import pages_of_reports
from deniable.protocol import Report, decode_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deniable.collection.service import Collection

LINES = "application/jsonl"
_FLUSH = 1_000


def reports_as_lines(collection: Collection, name: str) -> StreamingResponse:
    """Stream the reports' own bytes, one a line."""

    def lines() -> Iterator[bytes]:
        for report in _reports(collection, name):
            yield report.to_bytes() + b"\n"

    return _download(_together(lines()), f"{name}.jsonl", LINES)


def reports_as_csv(collection: Collection, name: str) -> StreamingResponse:
    """Stream the reports as comma-separated values: id, block, view, values as JSON."""

    def lines() -> Iterator[bytes]:
        yield b"id,block,view,values\r\n"
        with collection.store.reading() as reading:
            row, _ = published(reading, name)
            for kept in pages_of_reports(reading, row.key):
                text = io.StringIO()
                csv.writer(text).writerow([kept.id, kept.block, kept.view, kept.values])
                yield text.getvalue().encode()

    return _download(_together(lines()), f"{name}.csv", "text/csv; charset=utf-8")


def _reports(collection: Collection, name: str) -> Iterator[Report]:
    with collection.store.reading() as reading:
        row, design = published(reading, name)
        digests = [block.digest for block in reading.blocks(row.key)]
        for kept in pages_of_reports(reading, row.key):
            values = tuple(tuple(value) for value in json.loads(kept.values))
            identity = decode_bytes(kept.id, 16)
            yield Report(design.digest, digests[kept.block], identity, kept.view, values)


def _together(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Join lines to larger pieces, which travel faster."""
    piece = bytearray()
    for number, line in enumerate(lines):
        piece += line
        if number % _FLUSH == _FLUSH - 1:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


def _download(pieces: Iterator[bytes], filename: str, kind: str) -> StreamingResponse:
    headers = {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="{filename}"',
    }
    return StreamingResponse(pieces, 200, headers, kind)
