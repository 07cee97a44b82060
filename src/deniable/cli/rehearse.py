"""Carry a survey's design out on known answers, block by block, without a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import note, print_facts

if TYPE_CHECKING:
    import numpy as np

    from deniable.protocol import Tally
    from deniable.schema import Survey

_PATH = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.argument("survey_file", type=_PATH)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The tally.")
@click.option("--n", "people", default=10_000, show_default=True, help="Respondents.")
@click.option("--data", type=_PATH, help="Answers, as CSV; else from a made-up population.")
@click.option("--seed", default=7, show_default=True, help="Which population, in which order.")
@click.option("--joint", is_flag=True, help="Count the groups of a view together.")
def command(
    *, survey_file: Path, output: Path, people: int, data: Path | None, seed: int, joint: bool
) -> None:
    """Carry a survey's design out on known answers, block by block, without a server.

    Every protocol runs as over the server: views are drawn, answers randomized, and where
    a rule changes channels between blocks, it does. The tally that comes of it is what a
    server would hold; the coins are tossed anew each time.
    """
    import numpy as np  # noqa: PLC0415 -- slow to load

    from deniable.planning.rehearsal import rehearse  # noqa: PLC0415
    from deniable.protocol import design_for  # noqa: PLC0415
    from deniable.schema import Survey  # noqa: PLC0415

    survey = Survey.load(survey_file)
    rng = np.random.default_rng(seed)
    answers = _answers(survey, people, data, rng)
    design = design_for(survey)
    tally = rehearse(design, answers, joint=joint)
    output.write_bytes(tally.to_bytes())
    print_facts(_facts(tally))
    if design.rule.name.startswith("classic") and len(tally.blocks) > 1:
        note(f"Next: deniable convergence {output}")
    else:
        note(f"Next: deniable estimate {output} --survey {survey_file}")


def _answers(
    survey: Survey, people: int, data: Path | None, rng: np.random.Generator
) -> np.ndarray:
    """Return everybody's cells in an order that tells nothing."""
    import numpy as np  # noqa: PLC0415

    from deniable.cli.simulate import rows_of  # noqa: PLC0415
    from deniable.collection.population import make_population  # noqa: PLC0415

    if data is None:
        drawn = make_population(survey.schema.sizes, rng=rng).draw(people, rng=rng)
        return np.asarray(drawn)
    rows = np.array(list(rows_of(str(data), survey, people)), dtype=np.int64)
    return np.asarray(rng.permutation(rows.reshape(-1, len(survey.schema.names))))


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
