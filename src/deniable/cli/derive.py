"""Derive measures of association, with intervals, from a file of reports or a tally."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.lazy import REFUSED
from deniable.cli.sources import open_source
from deniable.cli.terminal import format_option, level_option, note, print_table, progress
from deniable.errors import EstimationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from deniable.cli.sources import OpenSource
    from deniable.estimation import Table
    from deniable.inference import Estimate
    from deniable.inference.measure import Measure

_PATH = click.Path(path_type=Path)
USUAL = ("cramers-v", "cramers-v-corrected", "mutual-information")
COLUMNS = ("measure", "of", "estimate", "se", "low", "high", "level", "by", "se_by", "n")


@click.command()
@click.argument("reports", type=_PATH)
@click.option("--tables", multiple=True, help="Attributes of one table: sex,income. Repeatable.")
@click.option("--measures", "asked", default=",".join(USUAL), show_default=True, help="Which.")
@click.option("--list", "listed", is_flag=True, help="List the measures and leave.")
@click.option(
    "--of",
    multiple=True,
    help="Answers compared: smokes=yes,no; or income=high, against all others. Repeatable.",
)
@click.option("--method", default="maximum-likelihood", show_default=True, help="The estimator.")
@level_option
@click.option("--survey", type=_PATH, help="A survey file that names the categories.")
@click.option("--seed", default=0, show_default=True, help="For the bootstrap.")
@format_option("How the measures are printed.")
@click.pass_context
def command(  # noqa: PLR0913 -- one parameter for each word of the command
    ctx: click.Context,
    *,
    reports: Path,
    tables: tuple[str, ...],
    asked: str,
    listed: bool,
    of: tuple[str, ...],
    method: str,
    level: float,
    survey: Path | None,
    seed: int,
    form: str,
) -> None:
    """Derive measures of association, with intervals, from a file of reports or a tally.

    REPORTS is a Parquet or CSV file of reports, or a tally as JSON. Without --tables, every
    pair of attributes is measured. What cannot be derived is refused with a sentence; the
    rest is printed, and the exit code is 2.
    """
    import numpy as np  # noqa: PLC0415 -- slow to load

    from deniable.estimation import method_named  # noqa: PLC0415
    from deniable.inference import derive, measure_named  # noqa: PLC0415

    if listed:
        _print_measures()
        return
    measures = [measure_named(name) for name in _split(asked)]
    chosen = dict(_chosen(of))
    source = open_source(reports, survey)
    wanted = [_split(one) for one in tables] or list(map(list, combinations(source.names, 2)))
    estimator = method_named(method)
    rng = np.random.default_rng(seed)
    found: list[Estimate] = []
    refused = 0
    with progress("Deriving", len(wanted) * len(measures), unit="measures") as done:
        for names in wanted:
            try:
                estimated = estimator.estimate(source.reports, names, rng=rng)
            except EstimationError as error:
                refused += 1
                note(f"refused: {','.join(names)}: {error}")
                done(len(measures))
                continue
            table = estimated.named(source.categories)
            answers = {name: chosen[name] for name in names if name in chosen}
            for measure in measures:
                try:
                    one = derive(table, measure.name, rng=rng, of=answers)
                    found.append(replace(one, notes=(*one.notes, *_orders(measure, table, source))))
                except EstimationError as error:
                    refused += 1
                    note(f"refused: {measure.name} of {','.join(names)}: {error}")
                done(1)
    _print(found, form, level)
    if refused:
        ctx.exit(REFUSED)


def _orders(measure: Measure, table: Table, source: OpenSource) -> Iterator[str]:
    """Say in which order a measure of ordered categories takes those that have none."""
    if measure.ordinal and source.schema is not None:
        for axis in table.axes:
            if source.schema[axis.name].kind == "nominal" and len(axis.categories) > 2:  # noqa: PLR2004
                order = ", ".join(axis.categories)
                yield f"{axis.name} is nominal; {measure.name} takes it in the order {order}"


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _chosen(of: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for one in of:
        name, equals, answers = one.partition("=")
        if not equals or not _split(answers):
            problem = "--of names an attribute and one or two of its answers"
            raise EstimationError(problem, given=one, expected="such as smokes=yes,no")
        yield name.strip(), tuple(_split(answers))


def _print_measures() -> None:
    from deniable.inference import MEASURES  # noqa: PLC0415

    print_table(("measure", "what it says"), [(m.name, m.summary) for m in MEASURES.values()])


def _print(found: Sequence[Estimate], form: str, level: float) -> None:
    if form == "json":
        told = [record(estimate, level) for estimate in found]
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
    elif form == "csv":
        click.echo(as_csv([record(estimate, level) for estimate in found], COLUMNS), nl=False)
    else:
        _show(found, level)


def _show(found: Sequence[Estimate], level: float) -> None:
    for names in dict.fromkeys(estimate.of for estimate in found):
        here = [estimate for estimate in found if estimate.of == names]
        title = f"{' × '.join(names)}, {here[0].people:,} people"
        heads = ("measure", "estimate", "se", f"{level:.0%} interval", "by")
        print_table(heads, [_row(estimate, level) for estimate in here], title=title)
        for told in dict.fromkeys(told for estimate in here for told in estimate.notes):
            click.echo(f"{told}.")
        click.echo()


def _row(estimate: Estimate, level: float) -> tuple[str, ...]:
    low, high, _ = estimate.interval(level)
    where = "unknown" if math.isnan(low) else f"{number(low)} – {number(high)}"
    apart = estimate.error_how not in {estimate.how, "unknown"}
    by = f"{estimate.how}, se: {estimate.error_how}" if apart else estimate.how
    error = "" if math.isnan(estimate.standard_error) else number(estimate.standard_error)
    return estimate.name, number(estimate.value), error, where, by


def number(value: float) -> str:
    """Return a number with four digits that count.

    >>> number(0.01234567), number(1234.5678), number(float("inf"))
    ('0.0123', '1235', '∞')
    """
    if math.isinf(value):
        return "−∞" if value < 0 else "∞"
    text = f"{value:.4f}" if abs(value) < 10 else f"{value:.4g}"  # noqa: PLR2004
    return "0.0000" if text == "-0.0000" else text.replace("-", "−")


def record(estimate: Estimate, level: float) -> Mapping[str, Any]:
    """Return an estimate as JSON and CSV have it; null where nothing is known."""
    low, high, _ = estimate.interval(level)
    return {
        "measure": estimate.name,
        "of": list(estimate.of),
        "estimate": finite(estimate.value),
        "se": finite(estimate.standard_error),
        "low": finite(low),
        "high": finite(high),
        "level": level,
        "by": estimate.how,
        "se_by": estimate.error_how,
        "n": estimate.people,
        "citation": estimate.citation,
        "notes": list(estimate.notes),
    }


def finite(value: float) -> float | None:
    """Return None for what is no finite number; JSON knows none."""
    return value if math.isfinite(value) else None


def as_csv(records: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Return records as CSV; a list is written with commas."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(columns)
    for one in records:
        writer.writerow([_cell(one[column]) for column in columns])
    return written.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return "" if value is None else value
