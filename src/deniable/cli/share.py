"""Let simulated respondents send shares of their tables of pairs to aggregators."""

from __future__ import annotations

from pathlib import Path

import click

from deniable.cli.aggregators import aggregators_at
from deniable.cli.terminal import note, people_option, print_facts, progress


@click.command()
@click.argument("survey_file", type=click.Path(exists=True, dir_okay=False))
@click.option("--at", multiple=True, required=True, help="An aggregator's address. Repeat it.")
@people_option(1_000)
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Their answers, as CSV, row by row and over again.",
)
@click.option(
    "--network",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A Bayesian network to draw them from, as BIF.",
)
@click.option("--seed", default=7, show_default=True, help="Which population.")
@click.option("--pair-epsilon", type=float, help="Randomize each pair first, at this level.")
def command(
    *,
    survey_file: str,
    at: tuple[str, ...],
    people: int,
    data: Path | None,
    network: Path | None,
    seed: int,
    pair_epsilon: float | None,
) -> None:
    """Let simulated respondents send shares of their tables of pairs to aggregators.

    Each of them plays one device: it draws an id, splits its ones into shares, and sends one
    to every aggregator. Answers come from a file, from a network with a variable for each
    attribute, or from a made-up population. Without --pair-epsilon the sums will be exact,
    and no ε bounds what they show; with it each pair is randomized on the device before it
    is shared. Either is said with every share.
    """
    import numpy as np  # noqa: PLC0415 -- slow to load

    from deniable.cli.people import answers_of  # noqa: PLC0415
    from deniable.errors import SharingError  # noqa: PLC0415
    from deniable.planning.learning import randomized_places  # noqa: PLC0415
    from deniable.schema import Survey  # noqa: PLC0415
    from deniable.sharing import (  # noqa: PLC0415
        kind_of,
        send_shares,
        sheet_of_survey,
    )
    from deniable.sharing.kind import check_kind, checked_level  # noqa: PLC0415

    remote = aggregators_at(at)
    if pair_epsilon is not None:
        checked_level("--pair-epsilon", pair_epsilon)
    survey = Survey.load(survey_file)
    sheet = sheet_of_survey(survey)
    kind = kind_of(sheet, pair_epsilon)
    for known in [one.kind for one in remote]:  # before anybody is asked: are they there at all?
        if known is not None:
            check_kind(kind, known)
    rng = np.random.default_rng(seed)
    drawn = answers_of(survey, people, data=data, network=network, rng=rng)
    answers = np.array(list(drawn), dtype=np.int64)
    if pair_epsilon is None:
        places = sheet.places(answers)
    else:
        places = randomized_places(sheet, answers, pair_epsilon)
    with progress("sharing", people, unit="respondents") as advance:
        lost = send_shares(sheet, places, remote, kind=kind, advance=advance)
    print_facts([("sent", f"{len(places) - lost:,}"), ("could not", f"{lost:,}")])
    if lost:
        note(f"They did not reach all {len(at)} aggregators, and are left out of the sum.")
    if lost == len(places):
        raise SharingError("nobody reached all aggregators", expected="each of --at to listen")
