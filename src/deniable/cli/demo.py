"""Collect a survey from 10,000 simulated people and print what was learned beside the truth."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.terminal import note, print_facts, print_table, progress

if TYPE_CHECKING:
    import numpy as np

    from deniable.schema import Survey


@click.command()
@click.option("--n", "people", default=10_000, show_default=True, help="Respondents.")
@click.option("--seed", default=7, show_default=True, help="Which made-up population.")
@click.option("--port", default=8000, show_default=True, help="0 takes a free one.")
@click.option("--once", is_flag=True, help="End after printing; else keep serving.")
def command(*, people: int, seed: int, port: int, once: bool) -> None:
    """Collect a survey from 10,000 simulated people and print what was learned beside the truth.

    A server with its own database, a survey on a sensitive subject, and respondents who
    answer over HTTP, each with a device that randomizes before anything leaves it. Only
    the simulation knows the truth.
    """
    import numpy as np  # noqa: PLC0415 - naming the command loads no number crunching

    from deniable.collection import (  # noqa: PLC0415
        Collection,
        create_app,
        issue_token,
        listen,
        open_store,
        serving,
    )
    from deniable.collection.assets import example  # noqa: PLC0415
    from deniable.collection.population import make_population  # noqa: PLC0415
    from deniable.collection.simulating import Line, simulate  # noqa: PLC0415
    from deniable.schema import Survey  # noqa: PLC0415

    survey = Survey.parse(example("health.toml"))
    rng = np.random.default_rng(seed)
    answers = make_population(survey.schema.sizes, rng=rng).draw(people, rng=rng)
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
            results = json.loads(Line(address).get(f"/v1/surveys/{survey.name}/results", token))
            show(survey, answers, results)
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
    inside = cells = 0
    for place, found in enumerate(results["attributes"]):
        truth = shares_of(answers, place, len(found["cells"]))
        attribute = survey.schema.attributes[place]
        for cell, category in enumerate(attribute.categories):
            low, high = found["low"][cell], found["high"][cell]
            holds = low <= truth[cell] <= high
            inside += holds
            cells += 1
            rows.append(
                [
                    found["name"] if cell == 0 else "",
                    category.label(),
                    f"{found['estimate'][cell]:.3f}",
                    f"{low:.3f} to {high:.3f}",
                    f"{truth[cell]:.3f}",
                    "" if holds else "outside",
                ]
            )
    headings = ["attribute", "category", "learned", "95 % interval", "truth", ""]
    print_table(headings, rows)
    note(f"{inside} of {cells} intervals hold the truth; 95 % are meant to.")
