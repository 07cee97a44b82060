"""What every command prints with: tables, facts, notes and progress, eighty columns wide.

Results go to stdout; notes and progress go to stderr, progress only if a person is
watching. Rich is imported when something is printed, not when a command is named.
"""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from io import StringIO
from textwrap import fill
from typing import TYPE_CHECKING, Final, TypeVar

import click

from deniable.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

Command = TypeVar("Command", bound="Callable[..., object]")

COLUMNS: Final = 80

level_option = click.option(
    "--level", default=0.95, show_default=True, help="The level of the intervals."
)


def format_option(sentence: str) -> Callable[[Command], Command]:
    """Return the option that chooses between text, csv and json; a sentence says of what."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(["text", "csv", "json"]),
        default="text",
        show_default=True,
        help=sentence,
    )


def port_option(default: int) -> Callable[[Command], Command]:
    """Return the option that says at which port a server listens."""
    return click.option(
        "--port",
        type=click.IntRange(0, 65_535),
        default=default,
        show_default=True,
        help="0 takes a free one.",
    )


def people_option(default: int) -> Callable[[Command], Command]:
    """Return the option that says how many simulated respondents there are."""
    return click.option(
        "--n",
        "people",
        type=click.IntRange(min=1),
        default=default,
        show_default=True,
        help="Respondents.",
    )


NUMBER: Final = re.compile(
    r"|unknown|–|∞|(> )?[-−+]?[\d,]*\.?\d+(e[-+]\d+)?( M)?%?( [–±] [-−]?[\d,]*\.?\d+)?"
)


def require_new(path: Path | None, *, replace: bool) -> None:
    """Refuse to write over a file, unless that was asked for."""
    if path is not None and path.exists() and not replace:
        problem = f"{path} is there already"
        raise DataError(problem, expected="another name, or --replace")


def note(sentence: str) -> None:
    """Tell the person something that is no part of the result."""
    click.echo(sentence, err=True)


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None
) -> None:
    """Print a table to stdout; columns of numbers are set flush right.

    Args:
        headings: One word or two per column.
        rows: The cells. A float is shown with four decimals; format it first for others. Text
            that is a number or a range of numbers counts as one.
        title: A line above the table.
    """
    from rich import box  # noqa: PLC0415 -- slow, and not every command prints a table
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    cells = [list(row) for row in rows]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for position, heading in enumerate(headings):
        numeric = bool(cells) and all(_is_number(row[position]) for row in cells)
        table.add_column(Text(heading), justify="right" if numeric else "left")
    for row in cells:
        table.add_row(*(Text(_shown(cell)) for cell in row))
    drawn = StringIO()
    Console(file=drawn, width=COLUMNS).print(table)
    if title:  # Rich would break it where the table ends
        click.echo(fill(title, COLUMNS))
    lines = (line.rstrip() for line in drawn.getvalue().splitlines())
    click.echo("\n".join(line for line in lines if line))


def print_facts(facts: Iterable[tuple[str, object]]) -> None:
    """Print pairs of a name and a value, one a line, the values below each other."""
    pairs = [(name, _shown(value)) for name, value in facts]
    width = max((len(name) for name, _ in pairs), default=0)
    for name, value in pairs:
        click.echo(f"{name:<{width}}  {value}")


@contextmanager
def progress(
    sentence: str, total: int | None, *, unit: str = "rows"
) -> Iterator[Callable[[int], None]]:
    """Show how far a long piece of work is, if stderr is a terminal.

    Yields a function to call with the number of units done since the last call.

    Args:
        sentence: What is being done.
        total: How many units there are; None if nobody knows.
        unit: What is counted.
    """
    if not sys.stderr.isatty():
        yield _ignore
        return
    from rich.console import Console  # noqa: PLC0415 -- slow, and often nobody is watching
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    done = TextColumn("{task.completed:,.0f} " + unit)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        done,
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(sentence, total=total)
        yield lambda count: bar.advance(task, count)


@contextmanager
def telling(sentence: str) -> Iterator[Callable[[str], None]]:
    """Show what a long piece of work says of itself, if stderr is a terminal.

    Yields a function to call with where the work stands.
    """
    if not sys.stderr.isatty():
        yield _ignore_words
        return
    from rich.console import Console  # noqa: PLC0415 -- slow, and often nobody is watching

    with Console(stderr=True).status(sentence) as status:
        yield lambda words: status.update(f"{sentence}: {words}")


def _ignore_words(words: str) -> None:
    del words


def _ignore(count: int) -> None:
    del count


def _is_number(cell: object) -> bool:
    return NUMBER.fullmatch(_shown(cell)) is not None


def _shown(cell: object) -> str:
    return f"{cell:.4f}" if isinstance(cell, float) else str(cell)
