"""Regress an attribute on others, through the channels of the reports."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.derive import as_csv, finite
from deniable.cli.derive import number as four_digits
from deniable.cli.lazy import REFUSED
from deniable.cli.sources import open_source
from deniable.cli.terminal import note, print_table, progress, telling
from deniable.errors import DataError, EstimationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from deniable.counting import Recorded
    from deniable.estimation.observation import Source
    from deniable.inference import Estimate, Regression, TestResult

_PATH = click.Path(path_type=Path)
COLUMNS = (
    *("outcome", "coefficient", "estimate", "se", "low", "high", "z", "p", "odds_ratio"),
    *("odds_low", "odds_high", "level", "by", "n"),
)


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
@click.option("--level", default=0.95, show_default=True, help="The level of the intervals.")
@click.option("--survey", type=_PATH, help="A survey file that names the categories.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "csv", "json"]),
    default="text",
    show_default=True,
    help="How the regression is printed.",
)
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
    file whose rows are the respondents in the order of the reports. If there is too little
    data, a sentence says so, and the exit code is 2.
    """
    from deniable.inference import regress  # noqa: PLC0415 -- slow to load

    source = open_source(reports, survey)
    read: Source | Recorded = source.reports
    plain = None
    if covariates is not None:
        read, plain = _records(reports), _frame(covariates)
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
    _print(found, tests, chances, form, level)
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


def _print(
    found: Regression,
    tests: Sequence[TestResult],
    chances: Sequence[Sequence[Estimate]],
    form: str,
    level: float,
) -> None:
    rows = [_record(found, place, level) for place in range(len(found.coefficients))]
    if form == "csv":
        click.echo(as_csv(rows, COLUMNS), nl=False)
        return
    if form == "json":
        click.echo(json.dumps(_told(found, rows, tests, chances, level), indent=2))
        return
    _show(found, level)
    _show_tests(tests)
    _show_chances(chances, level)
    for told in found.notes:
        click.echo(f"{told}.")


def _show(found: Regression, level: float) -> None:
    question, people = found.question, f"{found.people:,} people"
    against = question.categories[question.reference]
    heads = ("coefficient", "estimate", "se", "p", "odds ratio", f"{level:.0%} interval")
    for category in dict.fromkeys(one.category for one in found.coefficients):
        rows = []
        for one in found.coefficients:
            if one.category != category:
                continue
            low, high, _ = one.odds_ratio.interval(level)
            error = one.estimate.standard_error
            where = "unknown" if math.isnan(low) else f"{number(low)} – {number(high)}"
            rows.append(
                (
                    *(one.label, number(one.estimate.value)),
                    *("" if math.isnan(error) else number(error), tail(one.p_value)),
                    *(number(one.odds_ratio.value), where),
                )
            )
        title = f"{question.outcome}: {category} rather than {against}, {people}"
        print_table(heads, rows, title=title)
        click.echo()


def _show_tests(tests: Sequence[TestResult]) -> None:
    if tests:
        rows = [
            (test.hypothesis, number(test.statistic), str(test.freedom), tail(test.tail))
            for test in tests
        ]
        print_table(("by likelihood ratio", "χ²", "df", "p"), rows)
        click.echo()


def _show_chances(chances: Sequence[Sequence[Estimate]], level: float) -> None:
    for some in chances:
        rows = []
        for one in some:
            low, high, _ = one.interval(level)
            where = "unknown" if math.isnan(low) else f"{number(low)} – {number(high)}"
            rows.append((one.name, number(one.value), where))
        print_table(
            ("chance", "estimate", f"{level:.0%} interval"), rows, title=", ".join(some[0].of)
        )
        click.echo()


def number(value: float) -> str:
    """Return a number with four decimals, or if it is very small with two digits that count.

    >>> number(0.25), number(0.0000412)
    ('0.2500', '4.1e-05')
    """
    return f"{value:.1e}" if 0 < abs(value) < 0.001 else four_digits(value)  # noqa: PLR2004


def tail(p_value: float) -> str:
    """Return a p-value with two digits that count, or that it is very small.

    >>> tail(0.0371), tail(1e-9)
    ('0.037', '< 0.001')
    """
    if math.isnan(p_value):
        return ""
    return f"{p_value:.3f}" if p_value >= 0.001 else "< 0.001"  # noqa: PLR2004


def _record(found: Regression, place: int, level: float) -> Mapping[str, Any]:
    one = found.coefficients[place]
    low, high, _ = one.estimate.interval(level)
    odds_low, odds_high, _ = one.odds_ratio.interval(level)
    return {
        "outcome": one.category,
        "coefficient": one.label,
        "estimate": finite(one.estimate.value),
        "se": finite(one.estimate.standard_error),
        "low": finite(low),
        "high": finite(high),
        "z": finite(one.z),
        "p": finite(one.p_value),
        "odds_ratio": finite(one.odds_ratio.value),
        "odds_low": finite(odds_low),
        "odds_high": finite(odds_high),
        "level": level,
        "by": found.by,
        "n": found.people,
    }


def _told(
    found: Regression,
    rows: Sequence[Mapping[str, Any]],
    tests: Sequence[TestResult],
    chances: Sequence[Sequence[Estimate]],
    level: float,
) -> dict[str, Any]:
    question = found.question
    return {
        "outcome": question.outcome,
        "reference": question.categories[question.reference],
        "terms": list(question.formula.labels),
        "people": found.people,
        "log_likelihood": found.likelihood,
        "coefficients": rows,
        "terms_tested": [
            {
                "hypothesis": test.hypothesis,
                "chi_squared": test.statistic,
                "freedom": test.freedom,
                "p": test.tail,
            }
            for test in tests
        ],
        "predictions": [
            {
                "of": list(one.of),
                "what": one.name,
                "estimate": one.value,
                "se": finite(one.standard_error),
                "low": finite(one.interval(level).low),
                "high": finite(one.interval(level).high),
            }
            for some in chances
            for one in some
        ],
        "shortage": found.shortage,
        "notes": list(found.notes),
        "citation": found.citation,
    }
