"""Reports as a server hands them out: one report a line, or a table with values as JSON.

``GET /v1/surveys/NAME/reports`` writes them. Unlike other reports at rest they do not say
what was asked: the design and the blocks, whose digests they carry, are published apart.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from deniable.errors import DataError, DigestError, ReportError
from deniable.protocol import report_from_bytes
from deniable.protocol.at_rest import BLOCK, ID, VALUES, VIEW, columns_of
from deniable.protocol.canonical import is_count, read_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from deniable.protocol.at_rest import Provenance
    from deniable.protocol.report import Values

HEADER: Final = [ID, BLOCK, VIEW, VALUES]
LINES: Final = ".jsonl"

_BATCH_ROWS: Final = 2**14
_VIEW_DIGITS: Final = 9
_INTEGERS: Final = pa.list_(pa.int64())


@dataclass(frozen=True, slots=True)
class _Row:
    """One line: the number of its block, its view, and what it reports, if that is a report."""

    block: int
    view: int = 0
    values: Values | None = None


def is_exported(path: Path) -> bool:
    """Tell a server's export from other files of reports."""
    if path.name.lower().endswith(LINES):
        return True
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        rows = csv.reader(file)
        # Reports in several views have these columns too, but their values are no JSON.
        return next(rows, []) == HEADER and "".join(next(rows, "[")[-1:]).startswith("[")


def exported(path: Path, provenance: Provenance) -> Iterator[pa.Table]:
    """Yield the reports of an export, laid out as other reports at rest are."""
    read = _of_lines if path.name.lower().endswith(LINES) else _of_csv
    rows = read(path, provenance)
    while some := list(islice(rows, _BATCH_ROWS)):
        yield _laid_out(some, provenance)


def _of_lines(path: Path, provenance: Provenance) -> Iterator[_Row]:
    design = provenance.design.digest
    numbers = {block.digest: block.number for block in provenance.blocks}
    with path.open("rb") as file:
        for line in file:
            try:
                report = report_from_bytes(line)
            except ReportError:
                yield _Row(provenance.blocks[0].number)
                continue
            if report.design != design:
                problem = f"the reports of {path.name} were made for another design"
                raise DigestError(problem, given=report.design, expected=design)
            if report.block not in numbers:
                raise _unknown_block(path, report.block)
            yield _Row(numbers[report.block], report.view, report.values)


def _of_csv(path: Path, provenance: Provenance) -> Iterator[_Row]:
    numbers = {str(block.number): block.number for block in provenance.blocks}
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        lines = csv.reader(file)
        next(lines)
        for line in lines:
            match line:
                case [_, block, view, text] if view.isdecimal() and len(view) <= _VIEW_DIGITS:
                    if block not in numbers:
                        raise _unknown_block(path, block)
                    yield _Row(numbers[block], int(view), _values(text))
                case _:
                    yield _Row(provenance.blocks[0].number)


def _unknown_block(path: Path, given: str) -> DataError:
    problem = f"a report of {path.name} names a block that is not known"
    expected = "each block as published: --block on the command line, about= in Python"
    return DataError(problem, given=given, expected=expected)


def _values(text: str) -> Values | None:
    try:
        found = read_json(text, "a report", ReportError)
    except ReportError:
        return None
    if not isinstance(found, list) or not all(isinstance(value, list) for value in found):
        return None
    if not all(is_count(number) for value in found for number in value):
        return None
    return tuple(tuple(value) for value in found)


def _laid_out(rows: Sequence[_Row], provenance: Provenance) -> pa.Table:
    """Return rows in the columns of ``protocol.at_rest``."""
    fitted = [_fitted(row, provenance) for row in rows]
    found = {BLOCK: pa.array([row.block for row in rows], pa.int64())}
    names = [column.name for column in columns_of(provenance.design, provenance.blocks)]
    if VIEW in names:
        found[VIEW] = pa.array([row.view for row in rows], pa.int64())
        flat = [one if one is None else [n for value in one for n in value] for one in fitted]
        found[VALUES] = pa.array(flat, _INTEGERS)
        return pa.table(found)
    for place, name in enumerate(names):
        column = [one if one is None else one[place] for one in fitted]
        found[name] = pa.array(column, _INTEGERS)
    return pa.table(found)


def _fitted(row: _Row, provenance: Provenance) -> Values | None:
    """Return what a row reports; values that do not fit their groups become empty ones."""
    views = len(provenance.design.views)
    if row.values is None or row.view >= views:
        # Only where there are several views is there a column in which an unknown one shows.
        return row.values if views > 1 else None
    (channels,) = (b.channels[row.view] for b in provenance.blocks if b.number == row.block)
    if [len(value) for value in row.values] == [channel.width for channel in channels]:
        return row.values
    return ((),) * len(channels)
