"""Learn from a first stage of reports which attributes to randomize together."""

from __future__ import annotations

from pathlib import Path

import click

from deniable.cli.sources import open_source
from deniable.cli.terminal import print_facts, print_table

_PATH = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.argument("reports", type=_PATH)
@click.option("--max-cells", default=50, show_default=True, help="T_v: most cells of a cluster.")
@click.option(
    "--least-dependence", default=0.1, show_default=True, help="T_d: merged from here on."
)
@click.option("--as-published", is_flag=True, help="Take the dependence of the reports.")
@click.option("--epsilon", type=float, help="The ε of the stage to come, to add up both.")
@click.option("--survey", type=_PATH, help="A survey file that says which attributes are ordinal.")
@click.option("--seed", default=0, show_default=True, help="For estimators that throw dice.")
def command(
    *,
    reports: Path,
    max_cells: int,
    least_dependence: float,
    as_published: bool,
    epsilon: float | None,
    survey: Path | None,
    seed: int,
) -> None:
    """Learn from a first stage of reports which attributes to randomize together.

    REPORTS come from a survey of the design "independent" (or any that asks all pairs).
    Clusters are merged as in Domingo's algorithm 1, by |r| between ordinal attributes and
    Cramér's V otherwise. The last line printed goes into the survey of the second stage,
    whose design is "clusters". Both stages cost ε; whoever answers both spends the sum.
    """
    import numpy as np  # noqa: PLC0415 -- slow to load

    from deniable.channels import format_epsilon  # noqa: PLC0415
    from deniable.planning.clusters import cluster  # noqa: PLC0415
    from deniable.planning.learning import (  # noqa: PLC0415
        learn_from_estimates,
        learn_from_reports,
    )

    source = open_source(reports, survey)
    kinds = [] if source.schema is None else [a.kind for a in source.schema.attributes]
    ordinal = [kind != "nominal" for kind in kinds] or [False] * len(source.names)
    if as_published:
        learned = learn_from_reports(source.reports, ordinal)
    else:
        learned = learn_from_estimates(source.reports, ordinal, rng=np.random.default_rng(seed))
    found = cluster(
        learned.dependence,
        source.design.sizes,
        most_cells=max_cells,
        least_dependence=least_dependence,
    )
    names = source.names
    rows = [
        (f"{merge.dependence:.3f}", *(_named(names, side) for side in (merge.first, merge.second)))
        for merge in found.merges
    ]
    if rows:
        print_table(("dependence", "merged", "with"), rows, title="In the order of merging")
    facts = [("learned from", learned.way), ("ε spent", format_epsilon(learned.epsilon))]
    if epsilon is not None:
        facts.append(("ε of both stages", format_epsilon(learned.epsilon + epsilon)))
    print_facts(facts)
    quoted = ("[" + ", ".join(f'"{names[a]}"' for a in group) + "]" for group in found.groups)
    click.echo(f"clusters = [{', '.join(quoted)}]")


def _named(names: tuple[str, ...], group: tuple[int, ...]) -> str:
    return " + ".join(names[attribute] for attribute in group)
