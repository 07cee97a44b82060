"""Learn which attributes to randomize together, from a first stage."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli.aggregators import aggregators_at
from deniable.cli.sources import open_source
from deniable.cli.terminal import note, print_facts, print_table

if TYPE_CHECKING:
    from deniable.planning.clusters import Clusters
    from deniable.planning.learning import Learned
    from deniable.schema import Survey
    from deniable.sharing import RemoteAggregator

_PATH = click.Path(path_type=Path, exists=True, dir_okay=False)


@dataclass(frozen=True, slots=True)
class _First:
    """What the first stage taught.

    Attributes:
        names: The attributes.
        sizes: Their numbers of cells.
        learned: How they depend on each other.
        repeats: How often a respondent could answer; the second stage is taken to ask as often.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    learned: Learned
    repeats: int = 1


@click.command()
@click.argument("reports", type=_PATH, required=False)
@click.option(
    "--max-cells",
    type=click.IntRange(min=2),
    default=50,
    show_default=True,
    help="T_v: most cells of a cluster.",
)
@click.option(
    "--least-dependence",
    type=click.FloatRange(0, 1),
    default=0.1,
    show_default=True,
    help="T_d: merged from here on.",
)
@click.option("--as-published", is_flag=True, help="Take the dependence of the reports.")
@click.option("--at", multiple=True, help="An aggregator's address, instead of REPORTS. Repeat it.")
@click.option("--pair-epsilon", type=float, help="Refuse sums of pairs shared at another level.")
@click.option("--epsilon", type=float, help="The ε of the survey to come; else the first's.")
@click.option("--survey", type=_PATH, help="The survey file of the first stage.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The second stage's survey.")
@click.option("--seed", default=0, show_default=True, help="For estimators that throw dice.")
def command(  # noqa: PLR0913 -- one parameter for each word of the command
    *,
    reports: Path | None,
    max_cells: int,
    least_dependence: float,
    as_published: bool,
    at: tuple[str, ...],
    pair_epsilon: float | None,
    epsilon: float | None,
    survey: Path | None,
    output: Path | None,
    seed: int,
) -> None:
    """Learn which attributes to randomize together, from a first stage.

    REPORTS come from a survey of the design "independent" (or any that asks all pairs);
    or the tables of all pairs were shared among aggregators, named by --at. Clusters are
    merged as in Domingo's algorithm 1, by |r| between ordinal attributes and Cramér's V
    otherwise. The last line printed goes into the survey of the second stage, whose design
    is "clusters"; -o writes that survey, which means ε, repeats and channels as the first
    does. Both stages cost ε; whoever answers both, as often as allowed, spends the sum.
    What shared pairs cost is what the aggregators say that they were made at.
    """
    from deniable.planning.clusters import cluster, second_stage  # noqa: PLC0415 -- slow to load

    _check(reports, at, survey, output, least_dependence)
    _check_levels(reports, pair_epsilon, epsilon)
    remote = aggregators_at(at)
    asked = None if survey is None else _loaded(survey)
    if asked is not None:
        epsilon = _level_of_second(asked, epsilon)
    if reports is not None:
        first = _from_reports(reports, survey, seed, as_published=as_published)
    else:
        assert asked is not None  # noqa: S101 -- said above
        first = _from_sums(asked, remote, pair_epsilon)
    found = cluster(
        first.learned.dependence,
        first.sizes,
        most_cells=max_cells,
        least_dependence=least_dependence,
    )
    second = None
    if asked is not None and epsilon is not None:
        second = second_stage(asked, found.groups, epsilon)
    _print(first, found, _both(first, second, epsilon))
    if output is not None and second is not None:
        second.dump(output)
        note(f"Next: deniable serve {output}")


def _check(
    reports: Path | None,
    at: tuple[str, ...],
    survey: Path | None,
    output: Path | None,
    least_dependence: float,
) -> None:
    if (reports is None) == (not at):
        raise click.UsageError("Say either REPORTS or the aggregators, each with --at.")
    if survey is None and (at or output):
        raise click.UsageError("Name the survey file of the first stage by --survey.")
    if math.isnan(least_dependence):  # every number's comparison with it is false, click's too
        raise click.UsageError("--least-dependence is no number; give one from 0 to 1.")


def _check_levels(reports: Path | None, pair_epsilon: float | None, epsilon: float | None) -> None:
    from deniable.sharing.kind import checked_level  # noqa: PLC0415 -- slow to load

    if reports is not None and pair_epsilon is not None:
        raise click.UsageError("--pair-epsilon is for shared pairs (--at); REPORTS know their ε.")
    for option, level in (("--pair-epsilon", pair_epsilon), ("--epsilon", epsilon)):
        if level is not None:
            checked_level(option, level)


def _loaded(path: Path) -> Survey:
    from deniable.schema import Survey  # noqa: PLC0415 -- slow to load

    return Survey.load(path)


def _level_of_second(survey: Survey, epsilon: float | None) -> float:
    """Return the second stage's ε, and see that it can be had before anything is asked."""
    from deniable.channels import format_epsilon  # noqa: PLC0415 -- slow to load
    from deniable.planning.clusters import second_stage, spent_on  # noqa: PLC0415

    level = survey.privacy.epsilon if epsilon is None else epsilon
    spent_on(second_stage(survey, (), level))
    if epsilon is None:
        each = " for each attribute" if survey.privacy.level == "attribute" else ""
        note(f"No --epsilon: the second stage takes the first's, {format_epsilon(level)}{each}.")
    return level


def _both(first: _First, second: Survey | None, epsilon: float | None) -> float | None:
    """Return what both stages cost a respondent together, rounded up; None if nobody knows."""
    from deniable.planning.clusters import spent_on  # noqa: PLC0415 -- slow to load
    from deniable.planning.learning import times  # noqa: PLC0415

    if epsilon is None:
        return None
    later = times(epsilon, first.repeats) if second is None else spent_on(second)
    return math.nextafter(first.learned.epsilon + later, math.inf)


def _ordinal(survey: Survey) -> list[bool]:
    return [attribute.kind != "nominal" for attribute in survey.schema.attributes]


def _from_reports(path: Path, survey: Path | None, seed: int, *, as_published: bool) -> _First:
    import numpy as np  # noqa: PLC0415 -- slow to load

    from deniable.planning.learning import (  # noqa: PLC0415
        learn_from_estimates,
        learn_from_reports,
    )

    source = open_source(path, survey)
    kinds = [] if source.schema is None else [a.kind for a in source.schema.attributes]
    ordinal = [kind != "nominal" for kind in kinds] or [False] * len(source.names)
    if as_published:
        learned = learn_from_reports(source.reports, ordinal)
    else:
        learned = learn_from_estimates(source.reports, ordinal, rng=np.random.default_rng(seed))
    return _First(source.names, source.design.sizes, learned, source.design.repeats)


def _from_sums(
    survey: Survey, remote: list[RemoteAggregator], pair_epsilon: float | None
) -> _First:
    from deniable.planning.learning import learn_from_sums  # noqa: PLC0415 -- slow to load
    from deniable.sharing import gather, kind_of, sheet_of_survey  # noqa: PLC0415
    from deniable.sharing.adding import agreed_kind  # noqa: PLC0415
    from deniable.sharing.kind import check_kind, check_tables  # noqa: PLC0415

    sheet = sheet_of_survey(survey)
    kind = agreed_kind(remote)
    if pair_epsilon is None:
        check_tables(kind, kind_of(sheet))
    else:
        check_kind(kind, kind_of(sheet, pair_epsilon))
    sums, people = gather(sheet, remote, kind=kind)
    note(f"{people:,} people reached all {len(remote)} aggregators; the shares are {kind.level}.")
    learned = learn_from_sums(sheet, sums, people, _ordinal(survey), epsilon=kind.epsilon)
    return _First(survey.schema.names, survey.schema.sizes, learned)


def _print(first: _First, found: Clusters, both: float | None) -> None:
    from deniable.channels import format_epsilon  # noqa: PLC0415 -- slow to load

    names, learned = first.names, first.learned
    rows = [
        (f"{merge.dependence:.3f}", *(_named(names, side) for side in (merge.first, merge.second)))
        for merge in found.merges
    ]
    if rows:
        print_table(("dependence", "merged", "with"), rows, title="In the order of merging")
    spent = format_epsilon(learned.epsilon)
    if first.repeats > 1:
        spent += f" by one who answers {first.repeats} times"
    facts = [("learned from", learned.way), ("ε spent", spent)]
    if learned.epsilon_of_sums is not None:
        least = format_epsilon(learned.epsilon_of_sums)
        facts.append(("", f"{least} for whoever sees the sums only, as the source counts"))
    if both is not None:
        facts.append(("ε of both stages", format_epsilon(both)))
    print_facts(facts)
    quoted = ("[" + ", ".join(f'"{names[a]}"' for a in group) + "]" for group in found.groups)
    click.echo(f"clusters = [{', '.join(quoted)}]")


def _named(names: tuple[str, ...], group: tuple[int, ...]) -> str:
    return " + ".join(names[attribute] for attribute in group)
