"""Test whether attributes are associated, fit given shares, or differ between groups."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli.lazy import REFUSED
from deniable.cli.shares import read_shares
from deniable.cli.sources import open_source
from deniable.cli.terminal import progress
from deniable.cli.test_text import print_pairs, print_result, print_tests, record, records
from deniable.errors import EstimationError

if TYPE_CHECKING:
    import numpy as np

    from deniable.cli.sources import OpenSource
    from deniable.inference import TestResult

_PATH = click.Path(path_type=Path)


def _list(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 -- as click calls it
    """List the tests without asking for reports."""
    if value:
        print_tests()
        ctx.exit()


@click.command()
@click.argument("reports", type=_PATH)
@click.option("--attributes", default="", help="Which, with commas: smokes,coughs.  [all pairs]")
@click.option("--given", default="", help="Attributes held fixed: conditional independence.")
@click.option("--fit", help="Shares to fit: 0.7,0.3; or a CSV file with a column 'share'.")
@click.option("--groups", type=_PATH, multiple=True, help="Reports of others. Repeatable.")
@click.option("--all-pairs", is_flag=True, help="Every pair of the attributes, as a matrix.")
@click.option("--fdr", default=0.05, show_default=True, help="False discoveries allowed.")
@click.option("--method", default="score", show_default=True, help="Which test; see --list.")
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list,
    help="List the tests, their sources and what they lose, and leave.",
)
@click.option("--survey", type=_PATH, help="A survey file that names the categories.")
@click.option("--seed", default=0, show_default=True, help="For a test that throws dice.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How the result is printed.",
)
@click.pass_context
def command(  # noqa: PLR0913 -- one parameter for each word of the command
    ctx: click.Context,
    *,
    reports: Path,
    attributes: str,
    given: str,
    fit: str | None,
    groups: tuple[Path, ...],
    all_pairs: bool,
    fdr: float,
    method: str,
    survey: Path | None,
    seed: int,
    form: str,
) -> None:
    """Test whether attributes are associated, fit given shares, or differ between groups.

    REPORTS is a Parquet or CSV file of reports, or a tally as JSON. With --attributes alone
    the hypothesis is that they are independent of each other. Where the data are too few
    for a p-value that could be trusted, none is printed, and the exit code is 2.
    """
    import numpy as np  # noqa: PLC0415 -- slow to load

    names = _split(attributes)
    _check(names, _split(given), fit, groups, all_pairs=all_pairs, fdr=fdr)
    source = open_source(reports, survey)
    rng = np.random.default_rng(seed)
    if all_pairs or not names:
        _all_pairs(source, names or list(source.names), method, fdr, form, rng=rng)
        return
    result = _one(source, names, _split(given), fit, groups, method, rng=rng)
    if form == "json":
        click.echo(json.dumps(record(result), ensure_ascii=False, indent=2))
    else:
        print_result(result)
    if result.shortage:
        ctx.exit(REFUSED)


def _check(
    names: list[str],
    given: list[str],
    fit: str | None,
    groups: tuple[Path, ...],
    *,
    all_pairs: bool,
    fdr: float,
) -> None:
    asked = {"--given": given, "--fit": fit, "--groups": groups}
    used = [word for word, value in asked.items() if value]
    if len(used) > 1 or (used and all_pairs):
        problem = "these ask different questions"
        raise EstimationError(problem, given=" and ".join([*used, *["--all-pairs"] * all_pairs]))
    if used and not names:
        problem = f"{used[0]} needs to know of which attributes"
        raise EstimationError(problem, expected="such as --attributes smokes,coughs")
    if not 0 < fdr < 1:
        raise EstimationError("--fdr is a share", given=fdr, expected="such as 0.05")


def _one(
    source: OpenSource,
    names: list[str],
    given: list[str],
    fit: str | None,
    groups: tuple[Path, ...],
    method: str,
    *,
    rng: np.random.Generator,
) -> TestResult:
    from deniable.inference import fit_test, groups_test, independence_test  # noqa: PLC0415

    if fit is not None:
        shares = read_shares(fit, source.axes(names))
        return fit_test(source.reports, names, shares, rng=rng, method=method)
    if groups:
        if method != "score":
            problem = "groups are compared by the score test only"
            raise EstimationError(problem, given=method, expected="--method score")
        others = [open_source(path).reports for path in groups]
        return groups_test([source.reports, *others], names)
    return independence_test(source.reports, names, rng=rng, given=given, method=method)


def _all_pairs(
    source: OpenSource,
    names: list[str],
    method: str,
    fdr: float,
    form: str,
    *,
    rng: np.random.Generator,
) -> None:
    from deniable.inference import every_pair  # noqa: PLC0415

    with progress("Testing", len(names) * (len(names) - 1) // 2, unit="pairs") as done:
        found = every_pair(
            source.reports, names, rng=rng, method=method, progress=lambda *_: done(1)
        )
    if form == "json":
        click.echo(json.dumps(records(found), ensure_ascii=False, indent=2))
    else:
        print_pairs(found, fdr)


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
