"""Make synthetic records with the tables that reports tell of."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from math import comb, prod
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, TypeVar

import click

from deniable.cli.sources import open_source
from deniable.cli.terminal import COLUMNS, note, print_table, progress, require_new, telling
from deniable.errors import DataError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from deniable.cli.sources import OpenSource
    from deniable.estimation.method import Method
    from deniable.estimation.model import Model
    from deniable.synthesis import Records
    from deniable.synthesis.synthesize import Way

    Estimated = Callable[[Sequence[str]], NDArray[np.float64]]

T = TypeVar("T")

_PATH = click.Path(path_type=Path)
PEOPLE_PER_CELL = 5
"""With fewer, rounding leaves most cells empty and the large ones too full: records are drawn."""

MOST_COMPARED = 1000
"""Tables that are compared; the widest are left out first."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What the records are made of.

    Attributes:
        records: The synthetic people.
        way: How they were made of shares.
        table: The shares that they stand for, of any of their attributes.
        method: The estimator's name.
        reason: Why it did what it did.
        notes: What it loses.
        weak: Attributes whose own table the reports cannot carry.
    """

    records: Records
    way: Way
    table: Estimated
    method: str
    reason: str
    notes: tuple[str, ...]
    weak: tuple[str, ...]


@click.command()
@click.argument("reports", type=_PATH)
@click.option("-o", "--output", type=_PATH, required=True, help="A CSV or Parquet file.")
@click.option("--attributes", help="Which attributes: sex,income. All by default.")
@click.option("--people", type=click.IntRange(1), help="How many records; as many as reports.")
@click.option("--method", default="default", show_default=True, help="The estimator.")
@click.option(
    "--way",
    type=click.Choice(["rounded", "drawn"]),
    help="Whole people by largest remainders, or drawn one by one. By default rounded, if there "
    "are five people or more for each cell.",
)
@click.option("--survey", type=_PATH, help="A survey file that names the categories.")
@click.option("--seed", default=0, show_default=True, help="The same seed, the same records.")
@click.option("--replace", is_flag=True, help="Write over a file that is there.")
def command(  # noqa: PLR0913 -- one parameter for each word of the command
    *,
    reports: Path,
    output: Path,
    attributes: str | None,
    people: int | None,
    method: str,
    way: Way | None,
    survey: Path | None,
    seed: int,
    replace: bool,
) -> None:
    """Make synthetic records with the tables that reports tell of.

    REPORTS is a file of reports, or a tally that keeps the groups of a view together. The
    records have the columns and the categories of the survey; no row stands for anybody.
    What is printed says how far the tables of all pairs and triples of attributes are from
    those of the estimator, and whether the reports contradict them: how many shares lie in
    the 95 % intervals that each table's own reports give.
    """
    import numpy as np  # noqa: PLC0415 -- slow to load

    from deniable.estimation import method_named  # noqa: PLC0415

    _check_output(output, replace=replace)
    source = open_source(reports, survey)
    rng = np.random.default_rng(seed)
    names = _split(attributes) if attributes else list(source.names)
    _check_names(names, source.names)
    learned = _learn(method_named(method), source, names, people, way, rng)
    _write(learned.records, output)
    _report(learned, output)
    _compare(learned, source, rng)
    for line in _remarks(learned, source):
        note(fill(line, COLUMNS))


def _remarks(learned: Learned, source: OpenSource) -> list[str]:
    told = [f"Note: {line}." for line in learned.notes]
    if learned.reason:
        told.append(f"Why: {learned.reason.rstrip('.')}.")
    if learned.weak:
        named = ", ".join(learned.weak)
        told.append(f"The reports hardly tell of {named}: what stands there is mostly chance.")
    if not source.categories:
        told.append("Categories are written as their places, from 0; --survey FILE names them.")
    return told


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _check_names(names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            problem = f"there is no attribute {name!r} in the design"
            raise DataError(problem, expected=nearest(name, known))
    if len(set(names)) != len(names):
        problem = "an attribute is named twice"
        raise DataError(problem, given=",".join(names), expected="every attribute once")


def _learn(
    method: Method,
    source: OpenSource,
    names: Sequence[str],
    people: int | None,
    way: Way | None,
    rng: np.random.Generator,
) -> Learned:
    """Fit a model of all attributes if the method has one, or else estimate one table."""
    from deniable.estimation.observation import evidence_of  # noqa: PLC0415
    from deniable.synthesis import synthesize  # noqa: PLC0415

    sizes = dict(zip(source.names, source.design.sizes, strict=True))
    cells = prod(sizes.get(name, 1) for name in names)
    evidence = evidence_of(source.reports)
    number = people or evidence.people
    weak = _weak(source, names, rng)
    chosen: Way = way or ("rounded" if number >= PEOPLE_PER_CELL * cells else "drawn")
    if method.fit is None:
        table = method.estimate(source.reports, names, rng=rng).named(source.categories)
        records = synthesize(table, number, rng=rng, way=chosen)

        def shares(asked: Sequence[str]) -> NDArray[np.float64]:
            return table.marginalize(asked).estimate

        return Learned(records, chosen, shares, table.method, table.reason, table.notes, weak)
    with telling(f"Fitting {method.name}") as tell:
        model = method.fit(evidence, rng=rng, progress=tell)
    part = _part(model, names)
    records = synthesize(part, number, rng=rng, way=chosen, axes=source.axes(names))
    return Learned(records, chosen, model.table, method.name, model.reason, method.loses, weak)


def _weak(source: OpenSource, names: Sequence[str], rng: np.random.Generator) -> tuple[str, ...]:
    """Return the attributes whose own table is worth too few plain answers to be shown."""
    from deniable.estimation import method_named  # noqa: PLC0415
    from deniable.estimation.carrying import LEAST_WORTH  # noqa: PLC0415

    give = method_named("unbiased").prepare(source.reports, rng=rng)
    return tuple(name for name in names if not give([name]).total_worth >= LEAST_WORTH)


def _part(model: Model, names: Sequence[str]) -> Model:
    from deniable.estimation.model import Part  # noqa: PLC0415

    return model if tuple(names) == tuple(model.names) else Part(model, tuple(names))


def _check_output(output: Path, *, replace: bool) -> None:
    if output.suffix not in {".csv", ".parquet"}:
        problem = "synthetic records are written as CSV or Parquet"
        raise DataError(problem, given=output.name, expected="a name ending in .csv or .parquet")
    require_new(output, replace=replace)


def _write(records: Records, output: Path) -> None:
    columns = records.columns()
    if output.suffix == ".csv":
        with output.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
        return
    import pyarrow as pa  # noqa: PLC0415 -- slow to load
    from pyarrow import parquet  # noqa: PLC0415

    parquet.write_table(pa.table(columns), output)


def _report(learned: Learned, output: Path) -> None:
    made = "rounded to whole people" if learned.way == "rounded" else "drawn one by one"
    click.echo(
        f"{learned.records.people:,} synthetic records in {output}, {made}, by {learned.method}."
    )


def _compare(learned: Learned, source: OpenSource, rng: np.random.Generator) -> None:
    """Print how far the records are from the method's tables, and if reports contradict them."""
    from deniable.estimation import method_named  # noqa: PLC0415
    from deniable.synthesis import agreement, utility  # noqa: PLC0415

    unbiased = method_named("unbiased").prepare(source.reports, rng=rng)
    count = len(learned.records.axes)
    tables = [sum(comb(count, k) for k in range(1, ways + 1)) for ways in range(4)]
    ways = max(w for w in range(4) if tables[w] <= MOST_COMPARED)
    with progress("Comparing tables", 2 * tables[ways], unit="tables") as done:
        kept = utility(learned.records, _counting(learned.table, done), most_ways=ways)
        told = agreement(learned.records, _counting(unbiased, done), most_ways=ways)
    title = f"Total variation from the tables of {learned.method}"
    print_table(("tables", "number", "mean", "largest", "of"), kept.rows(), title=title)
    if told.tables:
        title = f"Shares within the {told.level:.0%} intervals of the reports alone"
        print_table(("tables", "number", "cells", "within", "worst"), told.rows(), title=title)
    if told.without:
        note(f"Of {len(told.without)} tables the reports alone tell nothing.")


def _counting(
    give: Callable[[Sequence[str]], T], done: Callable[[int], None]
) -> Callable[[Sequence[str]], T]:
    """Return the same, told each time that one more table is done."""

    def counted(asked: Sequence[str]) -> T:
        done(1)
        return give(asked)

    return counted
