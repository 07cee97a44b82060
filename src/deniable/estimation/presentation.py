"""A table for people and for data frames: tidy columns, text of 80 columns, a notebook's page."""

from __future__ import annotations

import html as markup
import math
from importlib import import_module
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from deniable.errors import EstimationError, MissingExtraError

if TYPE_CHECKING:
    from deniable.estimation.interval import Interval
    from deniable.estimation.table import Table

COLUMNS = 80
FEWEST_DIGITS, MOST_DIGITS = 2, 6
USUAL_DIGITS = 4
MOST_ROWS, MOST_HTML_ROWS = 40, 200
LONGEST_LABEL, SHORTEST_LABEL = 20, 4
BETWEEN = "   "
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
    fixed = " and ".join(f"{name} = {category}" for name, category in table.among)
    among = f" among those of {fixed}" if fixed else ""
    return f"{' × '.join(table.names)}{among}, {table.people:,} people, {table.method}"


def grid(table: Table, interval: Interval, columns: int | None = None) -> list[list[str]]:
    """Return the headings, then a row for each cell, as text.

    Args:
        table: The table.
        interval: Its intervals.
        columns: What labels are shortened to leave room in; None for labels as they are.
    """
    told = tidy(table, interval)
    digits = digits_of(table)
    shares = zip(*(told[name] for name in ("estimate", "low", "high", "worth")), strict=True)
    numbers = [
        [f"{share:.{digits}f}", _bounds(low, high, digits), _count(worth)]
        for share, low, high, worth in shares
    ]
    numbers.insert(0, ["share", f"{_percent(interval.level)} interval", "worth"])
    labels = [(axis.name, *axis.categories) for axis in table.axes]
    longest = None if columns is None else _longest(labels, numbers, columns)
    if longest is not None:
        labels = [_shortened(column, longest) for column in labels]
    places = np.indices(table.shape).reshape(len(table.shape), -1).T + 1
    cells = [[0] * len(table.axes), *places.tolist()]
    return [
        [*(column[place] for column, place in zip(labels, cell, strict=True)), *row]
        for cell, row in zip(cells, numbers, strict=True)
    ]


def _percent(level: float) -> str:
    return f"{level * 100:.4g}%"


def _longest(labels: list[tuple[str, ...]], numbers: list[list[str]], columns: int) -> int:
    """Return how long labels may be, so that they and the numbers fit."""
    taken = [max(map(len, column)) for column in zip(*numbers, strict=True)]
    widths = [max(map(len, column)) for column in labels]
    room = columns - sum(taken) - len(BETWEEN) * (len(taken) + len(widths) - 1)
    fitting = (n for n in range(LONGEST_LABEL, 0, -1) if sum(min(w, n) for w in widths) <= room)
    return max(next(fitting, 0), SHORTEST_LABEL)


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


def text(table: Table, interval: Interval) -> str:
    """Return the table as text of at most 80 columns."""
    told = grid(table, interval, COLUMNS)
    widths = [max(map(len, column)) for column in zip(*told[: MOST_ROWS + 1], strict=True)]
    lines = [_line(row, widths, len(table.axes)) for row in told[: MOST_ROWS + 1]]
    if len(told) > len(lines):
        lines.append(f"… and {len(told) - len(lines):,} more cells")
    below = [line for sentence in remarks(table, interval) for line in wrapped(sentence)]
    return "\n".join([*wrapped(heading(table)), "", *lines, "", *below]).rstrip()


def wrapped(sentence: str) -> list[str]:
    """Return a sentence as lines of at most 80 columns, the later ones set in."""
    return wrap(sentence, COLUMNS, subsequent_indent="  ") or [""]


def remarks(table: Table, interval: Interval) -> list[str]:
    """Return the sentences that belong under a table."""
    told = []
    total = table.total_worth
    if not math.isnan(total):
        told.append(f"The table is worth {total:,.0f} plain answers.")
    if interval.simultaneous:
        told.append(f"All intervals hold at once with a probability of {_percent(interval.level)}.")
    if table.collected is not None:
        told.append(f"The reports were {table.collected}.")
    if interval.caveat:
        told.append(f"Interval: {interval.caveat}.")
    outside = int(np.sum(~interval.covers(table.estimate) & ~np.isnan(interval.low)))
    if outside:
        expected = (1 - interval.level) * table.estimate.size
        told.append(
            f"Outside their intervals, which follow from this table's own reports alone: "
            f"{outside:,} of {table.estimate.size:,} shares; were the shares the truth, chance "
            f"would put about {expected:.2g} there."
        )
    told += [f"Note: {note}." for note in table.notes]
    if table.reason:
        told.append(f"Chosen because {table.reason}.")
    return told


STYLE = "font-variant-numeric: tabular-nums; border-collapse: collapse"
CELL = "padding: 0.15em 0.75em; white-space: nowrap"
TOWARDS = ("left", "right")


def html(table: Table, interval: Interval) -> str:
    """Return the table as a piece of HTML, its numbers flush right wherever it is shown."""
    heads, *told = grid(table, interval)
    ways = len(table.axes)
    body = "".join(_row("td", row, ways) for row in told[:MOST_HTML_ROWS])
    below = remarks(table, interval)
    if len(told) > MOST_HTML_ROWS:
        below.insert(0, f"… and {len(told) - MOST_HTML_ROWS:,} more cells; to_frame() has all.")
    said = "".join(f'<p style="margin: 0.3em 0">{markup.escape(line)}</p>' for line in below)
    caption = f'<caption style="text-align: left">{markup.escape(heading(table))}</caption>'
    head = f"<thead>{_row('th', heads, ways)}</thead>"
    return f'<table style="{STYLE}">{caption}{head}<tbody>{body}</tbody></table>{said}'


def _row(kind: str, cells: list[str], ways: int) -> str:
    """Return a row of HTML; the first cells are labels, the others numbers."""
    inner = "".join(
        f'<{kind} style="text-align: {TOWARDS[place >= ways]}; {CELL}">'
        f"{markup.escape(cell)}</{kind}>"
        for place, cell in enumerate(cells)
    )
    return f"<tr>{inner}</tr>"


def _line(cells: list[str], widths: list[int], numeric: int) -> str:
    padded = [
        cell.ljust(width) if place < numeric else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return BETWEEN.join(padded)[:COLUMNS].rstrip()


def _shortened(labels: tuple[str, ...], longest: int) -> tuple[str, ...]:
    """Cut labels at their ends; those that would look alike end in their category's number.

    >>> _shortened(("kin", "Husband", "Own-child-young", "Own-child-grown"), 8)
    ('kin', 'Husband', 'Own-ch…2', 'Own-ch…3')
    >>> _shortened(("kin", "Husband", "Not-in-family", "Own-child-at-home"), 8)
    ('kin', 'Husband', 'Not-in-…', 'Own-chi…')
    """
    cut = [one if len(one) <= longest else one[: longest - 1] + "…" for one in labels]
    if len(set(cut)) == len(set(labels)):
        return tuple(cut)
    return tuple(
        one if len(one) <= longest else f"{one[: max(longest - 1 - len(str(place)), 0)]}…{place}"
        for place, one in enumerate(labels)
    )


def _bounds(low: float, high: float, digits: int) -> str:
    return "unknown" if math.isnan(low) else f"{low:.{digits}f} – {high:.{digits}f}"


def _count(value: float) -> str:
    return "" if math.isnan(value) else f"{value:,.0f}"
