"""Measure a published figure or table again, beside what was published."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import COLUMNS, note, print_table, progress

if TYPE_CHECKING:
    from deniable.experiments.experiment import Exhibit, Experiment, Setting

_PATH = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.argument("name", required=False)
@click.option("--data", type=_PATH, help="The file that the experiment is about.")
@click.option("--runs", type=int, help="How often what is random is repeated.")
@click.option("--seed", default=1, show_default=True, help="Another seed, other chance.")
def command(*, name: str | None, data: Path | None, runs: int | None, seed: int) -> None:
    """Measure a published figure or table again, beside what was published.

    Without NAME, list the experiments. Each prints what the paper says beside what was
    measured, and which of the paper's conclusions came out.
    """
    from deniable.experiments import experiment as room  # noqa: PLC0415 -- slow to load

    if name is None:
        print_table(("experiment", "what it measures again"), list(room.summaries()))
        return
    experiment = room.experiment_named(name)
    setting = room.Setting(experiment.runs if runs is None else runs, seed, data)
    experiment.check(setting)
    _introduce(experiment, setting)
    steps = experiment.steps + experiment.steps_a_run * setting.runs
    with progress("measuring", steps, unit="steps") as advance:
        exhibits = list(experiment.carry_out(setting.watched(advance)))
    for exhibit in exhibits:
        _show(exhibit)


def _introduce(experiment: Experiment, setting: Setting) -> None:
    data = experiment.made_up if setting.data is None else setting.data.name
    note(f"{experiment.source}. Runs: {setting.runs:,}; seed: {setting.seed}.")
    if data is not None:
        note(f"Data: {data}.")


def _show(exhibit: Exhibit) -> None:
    click.echo(fill(exhibit.title, COLUMNS))
    print_table(exhibit.headings, exhibit.rows)
    for claim in exhibit.claims:
        mark = "holds:" if claim.holds else "does not hold:"
        _say(f"{mark} {claim.sentence}" + (f" – {claim.why}" if claim.why else ""))
    for remark in exhibit.remarks:
        _say(remark)
    click.echo()


def _say(sentence: str) -> None:
    click.echo(fill(sentence, COLUMNS, subsequent_indent="  "))
