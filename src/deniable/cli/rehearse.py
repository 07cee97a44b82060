"""Carry a survey's design out on known answers, block by block, without a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli.people import answers_of
from deniable.cli.terminal import note, people_option, print_facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np

    from deniable.protocol import Tally

_PATH = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.argument("survey_file", type=_PATH)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The tally.")
@people_option(10_000)
@click.option("--data", type=_PATH, help="Their answers, as CSV.")
@click.option("--network", type=_PATH, help="A Bayesian network to draw them from, as BIF.")
@click.option("--seed", default=7, show_default=True, help="Which population, in which order.")
@click.option("--joint", is_flag=True, help="Count the groups of a view together.")
def command(
    *,
    survey_file: Path,
    output: Path,
    people: int,
    data: Path | None,
    network: Path | None,
    seed: int,
    joint: bool,
) -> None:
    """Carry a survey's design out on known answers, block by block, without a server.

    Every protocol runs as over the server: views are drawn, answers randomized, and where
    a rule changes channels between blocks, it does. The tally that comes of it is what a
    server would hold; the coins are tossed anew each time. Answers come from a file, from
    a network with a variable for each attribute, or from a made-up population.
    """
    import numpy as np  # noqa: PLC0415 -- slow to load

    from deniable.planning.rehearsal import rehearse  # noqa: PLC0415
    from deniable.protocol import design_for  # noqa: PLC0415
    from deniable.schema import Survey  # noqa: PLC0415

    survey = Survey.load(survey_file)
    rng = np.random.default_rng(seed)
    answers = answers_of(survey, people, data=data, network=network, rng=rng)
    design = design_for(survey)
    tally = rehearse(design, _shuffled(answers, rng), joint=joint)
    output.write_bytes(tally.to_bytes())
    print_facts(_facts(tally))
    if design.rule.name.startswith("classic") and len(tally.blocks) > 1:
        note(f"Next: deniable convergence {output}")
    elif design.rule.name == "two-stage":
        note(f"Next: deniable test {output} --survey {survey_file}")
    else:
        note(f"Next: deniable estimate {output} --survey {survey_file}")


def _shuffled(answers: Iterable[Sequence[int]], rng: np.random.Generator) -> np.ndarray:
    """Return everybody's cells in an order that tells nothing."""
    import numpy as np  # noqa: PLC0415

    return np.asarray(rng.permutation(np.array(list(answers), dtype=np.int64)))


def _facts(tally: Tally) -> list[tuple[str, object]]:
    from deniable.channels import format_epsilon  # noqa: PLC0415
    from deniable.protocol import view_epsilons  # noqa: PLC0415

    costs = [max(view_epsilons(block.channels)) for block in tally.blocks.values()]
    least, most = format_epsilon(min(costs)), format_epsilon(max(costs))
    return [
        ("design", tally.design.protocol),
        ("respondents", f"{tally.total:,}"),
        ("blocks", f"{len(tally.blocks):,}"),
        ("ε per answer", most if least == most else f"{least} to {most}, by block"),
    ]
