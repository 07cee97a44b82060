"""Make synthetic records with the tables that reports tell of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli.sources import open_source
from deniable.cli.terminal import note, print_table
from deniable.errors import DataError

if TYPE_CHECKING:
    from deniable.estimation import Table
    from deniable.synthesis import Records, Utility
    from deniable.synthesis.synthesize import Way

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("reports", type=_PATH)
@click.option("-o", "--output", type=_PATH, required=True, help="A CSV or Parquet file.")
@click.option("--attributes", help="Which attributes: sex,income. All by default.")
@click.option("--people", type=click.IntRange(1), help="How many records; as many as reports.")
@click.option("--method", default="held-out-em", show_default=True, help="The estimator.")
@click.option(
    "--way",
    type=click.Choice(["rounded", "drawn"]),
    default="rounded",
    show_default=True,
    help="Whole people by largest remainders, or drawn one by one.",
)
@click.option("--survey", type=_PATH, help="A survey file that names the categories.")
@click.option("--seed", default=0, show_default=True, help="The same seed, the same records.")
def command(
    *,
    reports: Path,
    output: Path,
    attributes: str | None,
    people: int | None,
    method: str,
    way: str,
    survey: Path | None,
    seed: int,
) -> None:
    """Make synthetic records with the tables that reports tell of.

    REPORTS is a file of reports, or a tally that keeps the groups of a view together. What
    is printed says how far the records' pairs and triples are from those estimated directly.
    """
    import numpy as np  # noqa: PLC0415 -- slow to load

    from deniable.estimation import method_named  # noqa: PLC0415
    from deniable.synthesis import synthesize, utility  # noqa: PLC0415

    source = open_source(reports, survey)
    rng = np.random.default_rng(seed)
    names = _split(attributes) if attributes else list(source.names)
    table = method_named(method).estimate(source.reports, names, rng=rng)
    table = table.named(source.categories)
    records = synthesize(table, people or table.people, rng=rng, way=_way(way))
    _write(records, output)
    direct = method_named("maximum-likelihood")
    told = utility(records, lambda asked: direct.estimate(source.reports, asked, rng=rng).estimate)
    _report(records, output, table, told)


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _way(text: str) -> Way:
    return "drawn" if text == "drawn" else "rounded"


def _write(records: Records, output: Path) -> None:
    import pyarrow as pa  # noqa: PLC0415 -- slow to load

    if output.suffix not in {".csv", ".parquet"}:
        problem = "synthetic records are written as CSV or Parquet"
        raise DataError(problem, given=output.name, expected="a name ending in .csv or .parquet")
    frame = pa.table(records.columns())
    if output.suffix == ".csv":
        from pyarrow import csv  # noqa: PLC0415

        csv.write_csv(frame, output)
    else:
        from pyarrow import parquet  # noqa: PLC0415

        parquet.write_table(frame, output)


def _report(records: Records, output: Path, table: Table, told: Utility) -> None:
    click.echo(f"{records.people:,} synthetic records in {output}, by {table.method}.")
    print_table(
        ("tables", "number", "mean distance", "largest", "of"),
        told.rows(),
        title="Total variation from the tables estimated directly",
    )
    if told.without:
        note(f"{len(told.without)} tables were not compared: no reports carry them.")
    for line in table.notes:
        note(f"Note: {line}.")
