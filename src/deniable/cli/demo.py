"""Collect a survey from 10,000 simulated people and print what was learned beside the truth."""

from __future__ import annotations

import json
import tempfile
import time
from contextlib import closing
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.terminal import (
    COLUMNS,
    note,
    people_option,
    port_option,
    print_facts,
    print_table,
    progress,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from deniable.protocol import Tally
    from deniable.schema import Survey

TOGETHER = ("drugs", "cheated")
"""The attributes of the joint table: do those who take drugs cheat more often?"""


@click.command()
@people_option(10_000)
@click.option("--seed", type=click.IntRange(0), default=7, show_default=True, help="Which people.")
@port_option(8000)
@click.option("--once", is_flag=True, help="End after printing; else keep serving.")
def command(*, people: int, seed: int, port: int, once: bool) -> None:
    """Collect a survey from 10,000 simulated people and print what was learned beside the truth.

    A server with its own database, a survey on a sensitive subject, and respondents who
    answer over HTTP, each with a device that randomizes before anything leaves it. The
    people are drawn from a made-up network of habits; only the simulation knows the truth.
    """
    import numpy as np  # noqa: PLC0415 - naming the command loads no number crunching

    from deniable.cli.people import drawn_from  # noqa: PLC0415
    from deniable.collection import (  # noqa: PLC0415
        Collection,
        create_app,
        issue_token,
        listen,
        open_store,
        serving,
    )
    from deniable.collection.assets import example  # noqa: PLC0415
    from deniable.collection.simulating import Line, simulate  # noqa: PLC0415
    from deniable.experiments.network import parse_network  # noqa: PLC0415
    from deniable.protocol import tally_from_bytes  # noqa: PLC0415
    from deniable.schema import Survey  # noqa: PLC0415

    survey = Survey.parse(example("health.toml"))
    rng = np.random.default_rng(seed)
    answers = drawn_from(parse_network(example("health.bif")), survey, people, rng=rng)
    with tempfile.TemporaryDirectory(prefix="deniable-demo-") as folder:
        collection = Collection(open_store(str(Path(folder) / "reports.db")))
        collection.present(survey)
        token = issue_token(collection.store, "research", survey=survey.name, now=collection.now())
        listening = listen("127.0.0.1", port)
        with serving(create_app(collection), listening) as address:
            note(f"Serving {survey.heading()!r}; {people:,} simulated people answer over HTTP.")
            with progress("responding", people, unit="respondents") as advance:
                outcome = simulate(
                    address,
                    survey.name,
                    answers.tolist(),
                    epsilon=survey.privacy.epsilon,
                    advance=advance,
                )
            with closing(Line(address)) as line:
                results = json.loads(line.get(f"/v1/surveys/{survey.name}/results", token))
                tally = tally_from_bytes(line.get(f"/v1/surveys/{survey.name}/tally", token))
            show(survey, answers, results)
            show_together(survey, answers, tally, rng=rng)
            print_facts(
                [
                    ("reports", f"{outcome.arrived:,} in {outcome.seconds:.1f} s"),
                    ("ε of one answer", results["epsilon"]["answer"]),
                    ("page", f"{address}/s/{survey.name}"),
                    ("results", f"{address}/r/{survey.name}#{token}"),
                ]
            )
            if not once:
                note("Serving until you press Ctrl+C.")
                while True:
                    time.sleep(3600)


def show(survey: Survey, answers: np.ndarray, results: dict[str, Any]) -> None:
    """Print each category's estimate and interval beside the share that the simulation knows."""
    from deniable.collection.population import shares_of  # noqa: PLC0415

    rows = []
    for place, found in enumerate(results["attributes"]):
        if found["estimate"] is None:
            note(f"Too few reports say anything of {found['name']}.")
            continue
        truth = shares_of(answers, place, len(found["cells"]))
        attribute = survey.schema.attributes[place]
        for cell, category in enumerate(attribute.categories):
            known = (found["estimate"][cell], found["low"][cell], found["high"][cell])
            name = found["name"] if cell == 0 else ""
            rows.append([name, category.label(), *_beside(known, truth[cell])])
    print_table(["attribute", "category", *HEADINGS], rows)
    _tell_how_many_hold(rows)


def show_together(
    survey: Survey, answers: np.ndarray, tally: Tally, *, rng: np.random.Generator
) -> None:
    """Print a joint table beside the truth, and whether its attributes depend on each other."""
    import numpy as np  # noqa: PLC0415

    from deniable.errors import EstimationError  # noqa: PLC0415
    from deniable.estimation import estimate  # noqa: PLC0415
    from deniable.inference import independence_test  # noqa: PLC0415

    try:
        table = estimate(tally, TOGETHER, method="maximum-likelihood", rng=rng)
        interval = table.interval(0.95)
    except EstimationError as error:
        note(fill(f"No joint table: {error}", COLUMNS))
        return
    attributes = [survey.schema[name] for name in TOGETHER]
    places = [survey.schema.names.index(name) for name in TOGETHER]
    truth = np.zeros(table.estimate.shape)
    np.add.at(truth, tuple(answers[:, place] for place in places), 1 / len(answers))
    rows = []
    for cell in np.ndindex(truth.shape):
        known = [float(one[cell]) for one in (table.estimate, interval.low, interval.high)]
        labels = [one.categories[at].label() for one, at in zip(attributes, cell, strict=True)]
        rows.append([*labels, *_beside(known, float(truth[cell]))])
    print_table([*TOGETHER, *HEADINGS], rows)
    _tell_how_many_hold(rows)
    names = " and ".join(TOGETHER)
    try:
        chance = independence_test(tally, list(TOGETHER), rng=rng).p_value
    except EstimationError as error:
        note(fill(f"Whether {names} depend on each other cannot be said: {error}", COLUMNS))
        return
    note(f"If {names} had nothing to do with each other, reports that differ from")
    note(f"it as much or more would come with probability {chance:.2g}.")


HEADINGS = ("learned", "95 % interval", "truth", "")


def _beside(known: Sequence[float], truth: float) -> list[str]:
    """Return an estimate, its interval, the truth, and whether the interval misses it."""
    estimate, low, high = known
    missed = "" if low <= truth <= high else "outside"
    return [f"{estimate:.3f}", f"{low:.3f} to {high:.3f}", f"{truth:.3f}", missed]


def _tell_how_many_hold(rows: Sequence[Sequence[str]]) -> None:
    held = sum(not row[-1] for row in rows)
    note(f"{held} of {len(rows)} intervals hold the truth; 95 % are meant to.")
