"""Estimate tables of the true answers from a file of reports or a tally."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.lazy import REFUSED
from deniable.cli.sources import open_source
from deniable.cli.terminal import (
    COLUMNS,
    format_option,
    level_option,
    note,
    print_table,
    progress,
    telling,
)
from deniable.errors import EstimationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.estimation import Table

_PATH = click.Path(path_type=Path)
SHOWN = 60


def _print_methods(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 -- as click calls it
    """List the estimators without asking for reports."""
    if not value:
        return
    from deniable.estimation import METHODS  # noqa: PLC0415

    for method in METHODS.values():
        click.echo(fill(f"{method.name}  [{method.citation}]", COLUMNS, subsequent_indent="  "))
        sentences = (method.summary, *(f"loses: {loss}" for loss in method.loses))
        for sentence in sentences:
            click.echo(fill(sentence, COLUMNS, initial_indent="    ", subsequent_indent="      "))
    ctx.exit()


@click.command()
@click.argument("reports", type=_PATH)
@click.option("--tables", multiple=True, help="Attributes of one table: sex,income. Repeatable.")
@click.option("--method", default="default", show_default=True, help="The estimator.")
@click.option(
    "--methods",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_methods,
    help="List the estimators, their sources and what they lose, and leave.",
)
@level_option
@click.option("--simultaneous", is_flag=True, help="All intervals of a table hold at once.")
@click.option("--survey", type=_PATH, help="A survey file that names the categories.")
@click.option("--seed", default=0, show_default=True, help="For methods that throw dice.")
@format_option("How the tables are printed.")
@click.option("--least-worth", type=float, help="Refuse tables worth fewer plain answers. [30]")
@click.pass_context
def command(  # noqa: PLR0913 -- one parameter for each word of the command
    ctx: click.Context,
    *,
    reports: Path,
    tables: tuple[str, ...],
    method: str,
    level: float,
    simultaneous: bool,
    survey: Path | None,
    seed: int,
    form: str,
    least_worth: float | None,
) -> None:
    """Estimate tables of the true answers from a file of reports or a tally.

    REPORTS is a Parquet or CSV file of reports, or a tally as JSON. Without --tables, each
    attribute gets its own. A table that the reports cannot carry is refused with a
    sentence; the others are printed, and the exit code is 2.
    """
    import numpy as np  # noqa: PLC0415 -- slow to load

    from deniable.estimation import method_named  # noqa: PLC0415
    from deniable.estimation.carrying import LEAST_WORTH, require_carried  # noqa: PLC0415

    estimator = method_named(method)
    source = open_source(reports, survey)
    wanted = [_split(one) for one in tables] or [[name] for name in source.names]
    rng = np.random.default_rng(seed)
    found: list[Table] = []
    refused = 0
    with telling(f"Fitting {estimator.name}") as tell:
        give = estimator.prepare(source.reports, rng=rng, progress=tell)
    with progress("Estimating", len(wanted), unit="tables") as done:
        for names in wanted:
            try:
                table = give(names)
                require_carried(table, LEAST_WORTH if least_worth is None else least_worth)
            except EstimationError as error:
                refused += 1
                note(f"refused: {error}")
            else:
                found.append(table.named(source.categories))
            done(1)
    _print(found, form, level, simultaneous=simultaneous)
    if refused:
        ctx.exit(REFUSED)


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _print(tables: Sequence[Table], form: str, level: float, *, simultaneous: bool) -> None:
    if form == "json":
        told = [_record(table, level, simultaneous=simultaneous) for table in tables]
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
    elif form == "csv":
        click.echo(_as_csv(tables, level, simultaneous=simultaneous), nl=False)
    else:
        for table in tables:
            _show(table, level, simultaneous=simultaneous)


def _show(table: Table, level: float, *, simultaneous: bool) -> None:
    from deniable.estimation import presentation  # noqa: PLC0415

    interval = table.interval(level, simultaneous=simultaneous)
    heads, *rows = presentation.grid(table, interval, COLUMNS)
    print_table(heads, rows[:SHOWN], title=presentation.heading(table))
    if len(rows) > SHOWN:
        click.echo(f"… and {len(rows) - SHOWN:,} more cells; --format csv prints all")
    for line in presentation.remarks(table, interval):
        click.echo(fill(line, COLUMNS))
    click.echo()


def _record(table: Table, level: float, *, simultaneous: bool) -> dict[str, Any]:
    columns = table.tidy(level, simultaneous=simultaneous)
    varying = [*table.names, "estimate", "se", "low", "high", "worth"]
    rows = zip(*(columns[name] for name in varying), strict=True)
    return {
        "attributes": list(table.names),
        "people": table.people,
        "worth": _finite(table.total_worth),
        "method": table.method,
        "citation": table.citation,
        "design": table.design,
        "level": level,
        "simultaneous": simultaneous,
        "notes": list(table.notes),
        "reason": table.reason,
        "cells": [dict(zip(varying, map(_finite, row), strict=True)) for row in rows],
    }


def _finite(value: object) -> object:
    """Say null where a number is unknown; JSON knows no NaN."""
    return None if isinstance(value, float) and value != value else value  # noqa: PLR0124


def _as_csv(tables: Sequence[Table], level: float, *, simultaneous: bool) -> str:
    written = io.StringIO()
    numbers = ("estimate", "se", "low", "high", "worth", "n", "level", "method", "design")
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(("table", "cell", *numbers, "notes"))
    for table in tables:
        columns = table.tidy(level, simultaneous=simultaneous)
        cells = zip(*(columns[name] for name in table.names), strict=True)
        rows = zip(*(columns[name] for name in numbers), strict=True)
        for cell, row in zip(cells, rows, strict=True):
            shown = ("" if number is None else number for number in map(_finite, row))
            notes = "; ".join(table.notes)
            writer.writerow((",".join(table.names), ",".join(cell), *shown, notes))
    return written.getvalue()
