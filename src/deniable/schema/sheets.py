"""Sheets of a workbook (.xlsx) or of files of comma-separated values, as rows of text.

An .xlsx file is a zip archive of XML. Reading the text of its cells takes the
standard library only; formulas show the value they had when last saved.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

from deniable.errors import SurveyFileError

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAIN: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINK: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_COLUMN: Final = re.compile(r"[A-Z]{1,3}", re.ASCII)
_MOST_BYTES: Final = 64 * 2**20
_MOST_COLUMNS: Final = 1000


@dataclass(frozen=True, slots=True)
class Row:
    """A row under its headings: its number in the sheet, and the cells that hold something."""

    number: int
    cells: dict[str, str]


def read_workbook(content: bytes) -> dict[str, list[Row]]:
    """Read every sheet of an .xlsx file.

    Raises:
        SurveyFileError: The bytes are no workbook, or one of unreasonable size.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _Workbook(archive).sheets()
    except SurveyFileError:
        raise
    except Exception as error:  # an archive passes on whatever its many unpackers raise
        raise SurveyFileError(
            f"this is not a workbook: {error}", expected="an .xlsx file"
        ) from error


def read_csv(text: str) -> list[Row]:
    """Read one sheet saved as comma-separated values."""
    try:
        cells = list(csv.reader(io.StringIO(text.removeprefix("\ufeff")), strict=True))
    except csv.Error as error:
        raise SurveyFileError(f"this is not a file of comma-separated values: {error}") from error
    return _under_headings(enumerate(cells, start=1))


def _under_headings(rows: Iterator[tuple[int, list[str]]]) -> list[Row]:
    filled = [(number, cells) for number, cells in rows if any(cell.strip() for cell in cells)]
    if not filled:
        return []
    headings = [heading.strip() for heading in filled[0][1]]
    return [
        Row(
            number,
            {
                heading: cell.strip()
                for heading, cell in zip(headings, cells, strict=False)
                if heading and cell.strip()
            },
        )
        for number, cells in filled[1:]
    ]


class _Workbook:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._left = _MOST_BYTES
        self._shared = self._shared_texts()

    def sheets(self) -> dict[str, list[Row]]:
        targets = {
            link.get("Id"): link.get("Target", "")
            for link in self._part("xl/_rels/workbook.xml.rels")
        }
        sheets = {}
        for sheet in self._part("xl/workbook.xml").iter(f"{_MAIN}sheet"):
            target = targets[sheet.get(f"{_LINK}id")]
            path = target[1:] if target.startswith("/") else f"xl/{target}"
            sheets[sheet.get("name", "")] = _under_headings(self._rows(path))
        return sheets

    def _part(self, path: str) -> ET.Element:
        with self._archive.open(path) as part:
            content = part.read(self._left + 1)
        self._left -= len(content)
        if self._left < 0:
            raise SurveyFileError(
                "the workbook is too large", expected=f"at most {_MOST_BYTES >> 20} MiB unpacked"
            )
        # Entities, which could grow without bound, need a document type; a workbook has none.
        # A NUL byte would mean UTF-16, in which the test would not see one.
        if b"<!DOCTYPE" in content or b"\x00" in content:
            raise SurveyFileError("the workbook contains XML that no spreadsheet program writes")
        return ET.fromstring(content)  # noqa: S314 -- no document type, as said

    def _shared_texts(self) -> list[str]:
        if "xl/sharedStrings.xml" not in self._archive.namelist():
            return []
        return [_text_of(item) for item in self._part("xl/sharedStrings.xml")]

    def _rows(self, path: str) -> Iterator[tuple[int, list[str]]]:
        number = 0
        for row in self._part(path).iter(f"{_MAIN}row"):
            number = int(row.get("r", number + 1))
            cells: list[str] = []
            for cell in row.iter(f"{_MAIN}c"):
                column = _column_of(cell.get("r", ""), len(cells))
                if column < _MOST_COLUMNS:
                    cells += [""] * (column + 1 - len(cells))
                    cells[column] = self._value(cell)
            yield number, cells

    def _value(self, cell: ET.Element) -> str:
        if cell.get("t") == "inlineStr":
            return _text_of(cell)
        value = cell.findtext(f"{_MAIN}v", "")
        if cell.get("t") == "s":
            return self._shared[int(value)]
        if cell.get("t") == "b":
            return "true" if value == "1" else "false"
        return value


def _text_of(item: ET.Element) -> str:
    """Join the pieces of a text whose parts are formatted differently, less its phonetic guides."""
    guides = {id(text) for guide in item.iter(f"{_MAIN}rPh") for text in guide.iter(f"{_MAIN}t")}
    return "".join(text.text or "" for text in item.iter(f"{_MAIN}t") if id(text) not in guides)


def _column_of(reference: str, following: int) -> int:
    letters = _COLUMN.match(reference)
    if letters is None:
        return following
    column = 0
    for letter in letters[0]:
        column = column * 26 + ord(letter) - ord("A") + 1
    return column - 1
