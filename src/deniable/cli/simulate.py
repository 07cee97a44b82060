"""Let simulated respondents answer a survey over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from deniable.cli.people import answers_of
from deniable.cli.terminal import note, people_option, print_facts, progress
from deniable.errors import SubmissionError

if TYPE_CHECKING:
    from deniable.collection.simulating import Outcome

MOST_SENTENCES: Final = 10
_PATH = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.argument("survey_file", type=_PATH)
@click.option("--against", required=True, help="The server, as http://localhost:8000.")
@people_option(1_000)
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
    Whoever is refused is counted by what the server or the device said.
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
    _show(outcome, people)


def _show(outcome: Outcome, people: int) -> None:
    """Print what became of everybody; that nobody arrived is an error."""
    rate = (outcome.arrived + outcome.refused.total()) / max(outcome.seconds, 1e-9)
    print_facts(
        [
            ("arrived", f"{outcome.arrived:,}"),
            ("refused", f"{outcome.refused.total():,}"),
            ("seconds", f"{outcome.seconds:.1f}"),
            ("a second", f"{rate:,.0f}"),
        ]
    )
    for sentence, count in outcome.refused.most_common(MOST_SENTENCES):
        note(f"{count:,} were told: {sentence}")
    if len(outcome.refused) > MOST_SENTENCES:
        note(f"{len(outcome.refused) - MOST_SENTENCES:,} more sentences were told.")
    if not outcome.arrived:
        problem = "no report arrived"
        expected = "a server that takes reports of this survey file"
        raise SubmissionError(problem, given=f"{people:,} respondents", expected=expected)
