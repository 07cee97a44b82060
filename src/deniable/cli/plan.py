"""Say which design serves the tables wanted best, how sure they will be, and for how many."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli.plan_text import as_csv, print_check, print_plan
from deniable.cli.terminal import format_option, level_option, note, progress, require_new

if TYPE_CHECKING:
    from deniable.planning.compare import Plan

_PATH = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.argument("survey_file", metavar="SURVEY", type=_PATH)
@click.option("--epsilon", type=float, help="The level promised.  [the survey's own]")
@click.option("--people", type=float, help="How many will answer.  [what is wanted takes]")
@click.option(
    "--tables", "tables", multiple=True, help="Attributes of a table; repeatable.  [all pairs]"
)
@click.option("--whole-joint", is_flag=True, help="Every table, out of a model of all attributes.")
@click.option("--width", type=float, help="Wanted: intervals no wider than this (high − low).")
@click.option("--simultaneous", is_flag=True, help="All intervals of a table shall hold at once.")
@click.option("--power", type=float, help="Wanted: power of the test of each pair.")
@click.option("--association", type=float, help="Cramér's V that the tests shall notice.")
@click.option("--prior", type=_PATH, help="A guess of the shares, JSON or CSV.  [even shares]")
@click.option("--design", help="Look at this design of the list.  [the recommended one]")
@level_option
@click.option(
    "--check",
    "rounds",
    is_flag=False,
    flag_value=200,
    type=click.IntRange(10, 100_000),
    metavar="[ROUNDS]",
    help="Simulate the plan beside its formulas.  [200 rounds]",
)
@click.option("--seed", default=1, show_default=True, help="For what is simulated.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the survey with that design.",
)
@click.option("--replace", is_flag=True, help="Write over a survey file that is there.")
@format_option("How the plan is printed.")
def command(  # noqa: PLR0913 -- one parameter for each word of the command
    *,
    survey_file: Path,
    epsilon: float | None,
    people: float | None,
    tables: tuple[str, ...],
    whole_joint: bool,
    width: float | None,
    simultaneous: bool,
    power: float | None,
    association: float | None,
    prior: Path | None,
    design: str | None,
    level: float,
    rounds: int | None,
    seed: int,
    output: Path | None,
    replace: bool,
    form: str,
) -> None:
    """Say which design serves the tables wanted best, how sure they will be, and for how many.

    All designs are compared by closed formulas at the same promise: nobody is asked. With
    a width, or an association and a power, the plan also says how many people that takes,
    and which ε the people given would need.
    """
    import numpy as np  # noqa: PLC0415 -- slow to load

    from deniable.planning.compare import plan as make_plan  # noqa: PLC0415
    from deniable.planning.prior import read_prior  # noqa: PLC0415
    from deniable.schema import Survey  # noqa: PLC0415

    require_new(output, replace=replace)
    survey = Survey.load(survey_file)
    guess = None if prior is None else read_prior(prior, survey.schema)
    wanted = [[name.strip() for name in one.split(",") if name.strip()] for one in tables]
    made = make_plan(
        survey,
        people,
        epsilon=epsilon,
        tables=wanted,
        whole_joint=whole_joint,
        width=width,
        level=level,
        simultaneous=simultaneous,
        association=association,
        power=power,
        prior=guess,
        rng=np.random.default_rng(seed),
    )
    if design is not None:
        made = made.looking_at(design)
    if form == "json":
        from deniable.planning.telling import told  # noqa: PLC0415

        click.echo(json.dumps(told(made), ensure_ascii=False, indent=2))
    elif form == "csv":
        click.echo(as_csv(made), nl=False)
    else:
        print_plan(made)
    if rounds is not None:
        _check(made, rounds, seed)
    if output is not None:
        made.chosen.survey.dump(output)
        note(f"Wrote {output}: next, deniable serve {output}")


def _check(made: Plan, rounds: int, seed: int) -> None:
    import numpy as np  # noqa: PLC0415

    from deniable.planning.checking import check  # noqa: PLC0415

    with progress("Simulating", rounds, unit="rounds") as done:
        found = check(made, rng=np.random.default_rng(seed), rounds=rounds, progress=done)
    print_check(found)
