"""Let simulated respondents answer a survey over HTTP."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import note, print_facts, progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deniable.schema import Survey


@click.command()
@click.argument("survey_file", type=click.Path(exists=True, dir_okay=False))
@click.option("--against", required=True, help="The server, as http://localhost:8000.")
@click.option("--n", "people", default=1_000, show_default=True, help="Respondents.")
@click.option("--data", type=click.Path(exists=True, dir_okay=False), help="Answers, as CSV.")
@click.option("--seed", type=int, help="For the same made-up population again.")
@click.option("--threads", default=32, show_default=True, help="Respondents at once.")
def command(
    *,
    survey_file: str,
    against: str,
    people: int,
    data: str | None,
    seed: int | None,
    threads: int,
) -> None:
    """Let simulated respondents answer a survey over HTTP.

    Each is a device of its own that checks the promised ε and randomizes. Their answers
    come from a file with a column for each attribute, row by row and over again, or from
    a made-up population.
    """
    import numpy as np  # noqa: PLC0415 - naming the command loads no number crunching

    from deniable.collection.population import make_population  # noqa: PLC0415
    from deniable.collection.simulating import simulate  # noqa: PLC0415
    from deniable.protocol import design_for  # noqa: PLC0415
    from deniable.schema import Survey  # noqa: PLC0415

    survey = Survey.load(survey_file)
    answers: Iterator[Sequence[int]]
    if data is None:
        rng = np.random.default_rng(seed)
        population = make_population(survey.schema.sizes, rng=rng)
        answers = iter(population.draw(people, rng=rng).tolist())
    else:
        answers = rows_of(data, survey, people)
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


def rows_of(path: str, survey: Survey, people: int) -> Iterator[Sequence[int]]:
    """Yield the file's answers as cells, from the start again where it ends."""
    done = 0
    while done < people:
        before = done
        with open(path, encoding="utf-8", newline="") as file:  # noqa: PTH123 - read row by row
            for row in csv.DictReader(file):
                if done == people:
                    return
                yield survey.schema.encode({name: row.get(name) for name in survey.schema.names})
                done += 1
        if done == before:
            return
