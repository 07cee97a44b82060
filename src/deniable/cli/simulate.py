"""Let simulated respondents answer a survey over HTTP."""

from __future__ import annotations

from pathlib import Path

import click

from deniable.cli.people import answers_of
from deniable.cli.terminal import note, print_facts, progress

_PATH = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.argument("survey_file", type=_PATH)
@click.option("--against", required=True, help="The server, as http://localhost:8000.")
@click.option(
    "--n",
    "people",
    type=click.IntRange(1),
    default=1_000,
    show_default=True,
    help="Respondents.",
)
@click.option("--data", type=_PATH, help="Their answers, as CSV.")
@click.option("--network", type=_PATH, help="A Bayesian network to draw them from, as BIF.")
@click.option("--seed", type=click.IntRange(0), help="For the same people again.")
@click.option(
    "--threads",
    type=click.IntRange(1, 1_000),
    default=32,
    show_default=True,
    help="Respondents at once.",
)
def command(
    *,
    survey_file: Path,
    against: str,
    people: int,
    data: Path | None,
    network: Path | None,
    seed: int | None,
    threads: int,
) -> None:
    """Let simulated respondents answer a survey over HTTP.

    Each is a device of its own that checks the promised ε and randomizes. Their answers
    come from a file with a column for each attribute, row by row and over again; from a
    Bayesian network with a variable for each attribute; or from a made-up population.
    """
    import numpy as np  # noqa: PLC0415 - naming the command loads no number crunching

    from deniable.collection.simulating import simulate  # noqa: PLC0415
    from deniable.protocol import design_for  # noqa: PLC0415
    from deniable.schema import Survey  # noqa: PLC0415

    survey = Survey.load(survey_file)
    rng = np.random.default_rng(seed)
    answers = answers_of(survey, people, data=data, network=network, rng=rng)
    with progress("responding", people, unit="respondents") as advance:
        outcome = simulate(
            against,
            survey.name,
            answers,
            epsilon=float(design_for(survey).epsilon),
            threads=threads,
            advance=advance,
        )
    rate = (outcome.arrived + outcome.refused.total()) / max(outcome.seconds, 1e-9)
    print_facts(
        [
            ("arrived", f"{outcome.arrived:,}"),
            ("refused", f"{outcome.refused.total():,}"),
            ("seconds", f"{outcome.seconds:.1f}"),
            ("a second", f"{rate:,.0f}"),
        ]
    )
    for code, count in outcome.refused.most_common():
        note(f"{count:,} were told: {code}")
