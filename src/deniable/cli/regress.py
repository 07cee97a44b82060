"""Regress an attribute on others, through the channels of the reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli.lazy import REFUSED
from deniable.cli.regress_text import print_regression
from deniable.cli.sources import open_source
from deniable.cli.terminal import format_option, level_option, note, progress, telling
from deniable.errors import DataError, EstimationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from deniable.counting import Recorded
    from deniable.estimation.observation import Source

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("reports", type=_PATH)
@click.option("--outcome", required=True, help="What is explained: smokes.")
@click.option("--predictors", default="", help="By what: sex,age; sex:age interact; sex*age both.")
@click.option("--covariates", type=_PATH, help="A file of what is plainly known, row by row.")
@click.option("--reference", multiple=True, help="What is compared with: age=old. Repeatable.")
@click.option("--scores", multiple=True, help="As a number: age, or age=20,45,70. Repeatable.")
@click.option("--predict", "asked", multiple=True, help="For whom: sex=f,age=old. Repeatable.")
@click.option(
    "--by",
    type=click.Choice(["likelihood", "wald"]),
    default="likelihood",
    show_default=True,
    help="How intervals and p-values are found.",
)
@level_option
@click.option("--survey", type=_PATH, help="A survey file that names the categories.")
@format_option("How the regression is printed.")
@click.pass_context
def command(  # noqa: PLR0913 -- one parameter for each word of the command
    ctx: click.Context,
    *,
    reports: Path,
    outcome: str,
    predictors: str,
    covariates: Path | None,
    reference: tuple[str, ...],
    scores: tuple[str, ...],
    asked: tuple[str, ...],
    by: str,
    level: float,
    survey: Path | None,
    form: str,
) -> None:
    """Regress an attribute on others, through the channels of the reports.

    REPORTS is a Parquet or CSV file of reports, or a tally as JSON. Logistic where the
    outcome has two categories, else multinomial. Outcome, predictors or both may have been
    randomized; what is not in the reports is looked up in --covariates, a CSV or Parquet
    file with a row for each report, in the same order (randomize --keep-order). If there is
    too little data, a sentence says so, and the exit code is 2.
    """
    from deniable.inference import regress  # noqa: PLC0415 -- slow to load

    source = open_source(reports, survey)
    read: Source | Recorded = source.reports
    plain = None
    if covariates is not None:
        read, plain = _records(reports), _frame(covariates)
        note(f"Row by row {covariates.name} is taken to tell of the people of {reports.name}.")
    with telling("Fitting"):
        found = regress(
            read,
            outcome,
            _split(predictors),
            covariates=plain,
            categories=source.categories,
            reference=dict(_pairs(reference)),
            scores={name: _numbers(name, told) for name, told in _pairs(scores)},
            by="wald" if by == "wald" else "likelihood",
        )
        tests = found.term_tests()
        chances = [found.predict(_people(one)) for one in asked]
    print_regression(found, tests, chances, form=form, level=level)
    if found.shortage:
        note(f"too little data: {found.shortage}")
        ctx.exit(REFUSED)


def _records(path: Path) -> Recorded:
    if path.suffix == ".json":
        problem = "a tally has forgotten which report stands beside which covariates"
        raise DataError(problem, given=path.name, expected="the file of reports itself")
    from deniable.counting import records  # noqa: PLC0415 -- slow to load

    with progress("Reading", None) as done:
        return records(path, progress=done)


def _frame(path: Path) -> pa.Table:
    """Read a file of covariates."""
    import pyarrow as pa  # noqa: PLC0415 -- slow to load
    import pyarrow.csv  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    if not path.is_file():
        problem = f"there is no file {path.name}"
        raise DataError(problem, expected="a CSV or Parquet file of covariates")
    try:
        if path.suffix.lower() in {".parquet", ".pq"}:
            return pq.read_table(path)
        return pyarrow.csv.read_csv(path)
    except pa.ArrowException as error:
        problem = f"{path.name} cannot be read"
        raise DataError(problem, expected="a whole CSV or Parquet file") from error


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _pairs(told: Iterable[str]) -> Iterator[tuple[str, str]]:
    for one in told:
        name, _, value = one.partition("=")
        yield name.strip(), value.strip()


def _numbers(name: str, told: str) -> list[float]:
    try:
        return [float(one) for one in _split(told)]
    except ValueError:
        problem = f"the scores of {name!r} are not all numbers"
        raise EstimationError(problem, given=told, expected=f"such as {name}=20,45,70") from None


def _people(told: str) -> dict[str, str | float]:
    return dict(_pairs(_split(told)))
