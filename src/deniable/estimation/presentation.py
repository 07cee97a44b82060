"""A table for people and for data frames: tidy columns, text of 80 columns, a notebook's page."""

from __future__ import annotations

import html as markup
import math
from importlib import import_module
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from deniable.errors import EstimationError, MissingExtraError

if TYPE_CHECKING:
    from deniable.estimation.interval import Interval
    from deniable.estimation.table import Table

COLUMNS = 80
FEWEST_DIGITS, MOST_DIGITS = 2, 6
USUAL_DIGITS = 4
MOST_ROWS = 40
LONGEST_LABEL = 20
OUTSIDE = "which is that of the reports alone; the method made something else of them"
Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
BACKENDS = ("pandas", "polars", "pyarrow")


def tidy(table: Table, interval: Interval) -> dict[str, list[Any]]:
    """Return one row for each cell, as columns."""
    places = np.indices(table.shape).reshape(len(table.shape), -1)
    columns: dict[str, list[Any]] = {
        axis.name: [axis.categories[place] for place in row]
        for axis, row in zip(table.axes, places, strict=True)
    }
    cells = table.estimate.size
    columns["estimate"] = table.estimate.reshape(-1).tolist()
    columns["se"] = table.standard_error.reshape(-1).tolist()
    columns["low"] = interval.low.reshape(-1).tolist()
    columns["high"] = interval.high.reshape(-1).tolist()
    columns["worth"] = table.worth.reshape(-1).tolist()
    columns["n"] = [table.people] * cells
    columns["level"] = [interval.level] * cells
    columns["method"] = [table.method] * cells
    columns["design"] = [table.design] * cells
    return columns


def frame(columns: dict[str, list[Any]], backend: Backend) -> Any:  # noqa: ANN401 -- see Table.to_frame
    """Return columns as a frame of the named library."""
    if backend not in BACKENDS:
        problem = f"there is no data frame called {backend!r}"
        raise EstimationError(problem, expected=" or ".join(BACKENDS))
    import narwhals as nw  # noqa: PLC0415 -- many tables are never made a frame

    try:
        import_module(backend)
    except ModuleNotFoundError as error:
        problem = f"{backend} is not installed"
        raise MissingExtraError(problem, expected=f"pip install 'deniable[{backend}]'") from error
    return nw.from_dict(columns, backend=backend).to_native()


def heading(table: Table) -> str:
    """Return one line that says what the table is of."""
    return f"{' × '.join(table.names)}, {table.people:,} people, {table.method}"


def rows(table: Table, interval: Interval) -> list[list[str]]:
    """Return the cells' labels and numbers as text."""
    columns = tidy(table, interval)
    digits = digits_of(table)
    numbers = zip(
        *(columns[name] for name in (*table.names, "estimate", "low", "high", "worth")),
        strict=True,
    )
    width = len(table.axes)
    return [
        [
            *map(_short, row[:width]),
            f"{row[width]:.{digits}f}",
            _bounds(row[width + 1], row[width + 2], digits),
            _count(row[width + 3]),
        ]
        for row in numbers
    ]


def digits_of(table: Table) -> int:
    """Return how many decimals a share is worth: two digits of the smallest standard error.

    More would show noise as if it were known.
    """
    errors = table.standard_error
    known = errors[np.isfinite(errors) & (errors > 0)]
    if not known.size:
        return USUAL_DIGITS
    wanted = 1 - math.floor(math.log10(float(known.min())))
    return min(max(wanted, FEWEST_DIGITS), MOST_DIGITS)


def headings(table: Table, interval: Interval) -> list[str]:
    """Return what the columns of ``rows`` are called."""
    kind = "simultaneous " if interval.simultaneous else ""
    return [*table.names, "share", f"{kind}{interval.level:.0%} interval", "worth"]


def text(table: Table, interval: Interval) -> str:
    """Return the table as text of at most 80 columns."""
    told = rows(table, interval)
    left_out = max(0, len(told) - MOST_ROWS)
    heads = headings(table, interval)
    lines = told[:MOST_ROWS]
    widths = [
        max(len(head), *(len(row[place]) for row in lines)) for place, head in enumerate(heads)
    ]
    numeric = len(table.axes)
    result = [heading(table), "", _line(heads, widths, numeric).rstrip()]
    result += [_line(row, widths, numeric).rstrip() for row in lines]
    if left_out:
        result.append(f"… and {left_out:,} more cells")
    below = [fill(remark, COLUMNS) for remark in remarks(table, interval)]
    return "\n".join([*(line[:COLUMNS] for line in result), "", *below]).rstrip()


def remarks(table: Table, interval: Interval) -> list[str]:
    """Return the sentences that belong under a table."""
    told = []
    total = table.total_worth
    if not math.isnan(total):
        told.append(f"The table is worth {total:,.0f} plain answers.")
    if interval.caveat:
        told.append(f"Interval: {interval.caveat}.")
    outside = int(np.sum(~interval.covers(table.estimate) & ~np.isnan(interval.low)))
    if outside:
        told.append(f"Shares outside their interval: {outside:,}, {OUTSIDE}.")
    told += [f"Note: {note}." for note in table.notes]
    if table.reason:
        told.append(f"Chosen because {table.reason}.")
    return told


def html(table: Table, interval: Interval) -> str:
    """Return the table as a piece of HTML."""
    heads = "".join(f"<th>{markup.escape(head)}</th>" for head in headings(table, interval))
    body = "".join(
        "<tr>" + "".join(f"<td>{markup.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows(table, interval)[: 5 * MOST_ROWS]
    )
    below = "".join(f"<p>{markup.escape(line)}</p>" for line in remarks(table, interval))
    caption = f"<caption>{markup.escape(heading(table))}</caption>"
    head = f"<thead><tr>{heads}</tr></thead>"
    return f"<table>{caption}{head}<tbody>{body}</tbody></table>{below}"


def _line(cells: list[str], widths: list[int], numeric: int) -> str:
    padded = [
        cell.ljust(width) if place < numeric else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(padded)


def _short(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1] + "…"


def _bounds(low: float, high: float, digits: int) -> str:
    return "unknown" if math.isnan(low) else f"{low:.{digits}f} – {high:.{digits}f}"


def _count(value: float) -> str:
    return "" if math.isnan(value) else f"{value:,.0f}"
