"""Learn which attributes to randomize together, from a first stage."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli.sources import open_source
from deniable.cli.terminal import note, print_facts, print_table

if TYPE_CHECKING:
    from deniable.planning.clusters import Clusters
    from deniable.planning.learning import Learned
    from deniable.schema import Survey

_PATH = click.Path(path_type=Path, exists=True, dir_okay=False)


@dataclass(frozen=True, slots=True)
class _First:
    """What the first stage taught.

    Attributes:
        names: The attributes.
        sizes: Their numbers of cells.
        learned: How they depend on each other.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    learned: Learned


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
@click.option("--pair-epsilon", type=float, help="The level of each pair that was shared.")
@click.option("--epsilon", type=float, help="The ε of the stage to come, to add up both.")
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
    is "clusters"; -o writes that survey. Both stages cost ε; whoever answers both spends
    the sum.
    """
    from deniable.planning.clusters import cluster  # noqa: PLC0415 -- slow to load

    if (reports is None) == (not at):
        raise click.UsageError("Say either REPORTS or the aggregators, each with --at.")
    if survey is None and (at or output):
        raise click.UsageError("Name the survey file of the first stage by --survey.")
    asked = None if survey is None else _loaded(survey)
    if reports is not None:
        first = _from_reports(reports, survey, seed, as_published=as_published)
    else:
        assert asked is not None  # noqa: S101 -- said above
        first = _from_sums(asked, at, pair_epsilon)
    found = cluster(
        first.learned.dependence,
        first.sizes,
        most_cells=max_cells,
        least_dependence=least_dependence,
    )
    if epsilon is None and asked is not None:
        epsilon = _promised(asked)
    _print(first, found, epsilon)
    if output is not None and asked is not None and epsilon is not None:
        _write(output, asked, found, epsilon)


def _loaded(path: Path) -> Survey:
    from deniable.schema import Survey  # noqa: PLC0415 -- slow to load

    return Survey.load(path)


def _promised(survey: Survey) -> float:
    from deniable.protocol import design_for  # noqa: PLC0415 -- slow to load

    return float(design_for(survey).epsilon)


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
    return _First(source.names, source.design.sizes, learned)


def _from_sums(survey: Survey, at: tuple[str, ...], pair_epsilon: float | None) -> _First:
    from deniable.planning.learning import learn_from_sums  # noqa: PLC0415 -- slow to load
    from deniable.sharing import RemoteAggregator, gather, sheet_of_pairs  # noqa: PLC0415

    sheet = sheet_of_pairs(survey.schema.sizes)
    remote = [RemoteAggregator(one) for one in at]
    sums, people = gather(sheet, remote, margins=pair_epsilon is None)
    note(f"{people:,} people reached all {len(at)} aggregators.")
    learned = learn_from_sums(sheet, sums, people, _ordinal(survey), epsilon=pair_epsilon)
    return _First(survey.schema.names, survey.schema.sizes, learned)


def _print(first: _First, found: Clusters, epsilon: float | None) -> None:
    from deniable.channels import format_epsilon  # noqa: PLC0415 -- slow to load

    names, learned = first.names, first.learned
    rows = [
        (f"{merge.dependence:.3f}", *(_named(names, side) for side in (merge.first, merge.second)))
        for merge in found.merges
    ]
    if rows:
        print_table(("dependence", "merged", "with"), rows, title="In the order of merging")
    spent = format_epsilon(learned.epsilon)
    facts = [("learned from", learned.way), ("ε spent", spent)]
    if learned.epsilon_of_sums is not None:
        least = format_epsilon(learned.epsilon_of_sums)
        facts.append(("", f"{least} for whoever sees the sums only, as the source counts"))
    if epsilon is not None:
        facts.append(("ε of both stages", format_epsilon(learned.epsilon + epsilon)))
    print_facts(facts)
    quoted = ("[" + ", ".join(f'"{names[a]}"' for a in group) + "]" for group in found.groups)
    click.echo(f"clusters = [{', '.join(quoted)}]")


def _named(names: tuple[str, ...], group: tuple[int, ...]) -> str:
    return " + ".join(names[attribute] for attribute in group)


def _write(path: Path, survey: Survey, found: Clusters, epsilon: float) -> None:
    """Write the survey of the second stage: the same questions, under a name of its own."""
    from deniable.schema import Privacy  # noqa: PLC0415 -- slow to load

    names = survey.schema.names
    clusters = [[names[a] for a in group] for group in found.groups if len(group) > 1]
    if clusters:
        privacy = Privacy(epsilon, "clusters", {"clusters": clusters})
    else:
        privacy = Privacy(epsilon, "independent")
    replace(survey, name=f"{survey.name}-2", privacy=privacy).dump(path)
    note(f"Next: deniable serve {path}")
