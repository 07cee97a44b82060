"""Show what a survey's design asks and costs, and compare it with others."""

from __future__ import annotations

import math
from textwrap import fill
from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import COLUMNS, note, print_facts, print_table

if TYPE_CHECKING:
    from deniable.estimation.outlook import Outlook
    from deniable.planning import Option

RULE_LOSES = "tells less at equal ε than channels that stay"
RULE_POOLED = "less still where answers are uneven; all blocks are pooled"


@click.command()
@click.argument("survey_file", type=click.Path(exists=True, dir_okay=False))
@click.option("--people", default=1_000, show_default=True, help="How many will answer.")
@click.option("--views", "show_views", is_flag=True, help="List the groups of every view.")
def command(*, survey_file: str, people: int, show_views: bool) -> None:
    """Show what a survey's design asks and costs, and compare it with others.

    ε per answer protects everything one respondent says in one submission; per
    respondent, all submissions that the survey allows; per attribute, a change in the
    answer to one question alone. Half-widths are those of 95 % intervals for a cell of
    a pair of attributes, by formula, at even shares: nobody is asked for this. Where
    channels change between blocks, how they move is drawn.
    """
    import numpy as np  # noqa: PLC0415 -- slow to load

    from deniable.planning import plan  # noqa: PLC0415 -- slow to load
    from deniable.protocol import design_for  # noqa: PLC0415
    from deniable.schema import Survey  # noqa: PLC0415

    survey = Survey.load(survey_file)
    design_for(survey)  # says why the survey's own design cannot be had
    made = plan(survey, people, rng=np.random.default_rng(0))
    own = made.options[0]
    print_facts(_facts(own, people))
    if show_views:
        _print_views(own, people)
    click.echo()
    rows = [_row(option, people, is_own=option is own) for option in made.options]
    headings = ("design", "views", "cells", "ε answer", "ε attr.", "n/view", "± mean", "± worst")
    print_table(headings, rows, title=f"{people:,} respondents; * is the survey's own design")
    for sentence in made.refused:
        note(fill(f"not compared – {sentence}", COLUMNS, subsequent_indent="  "))
    note("Which design serves which tables best, and for how many people: deniable plan")


def _facts(own: Option, people: int) -> list[tuple[str, object]]:
    from deniable.channels import format_epsilon, total_variation_of  # noqa: PLC0415

    covered, asked = own.coverage, own.people_per_view(people)
    kinds = sorted({channel.kind for row in own.design.channels for channel in row})
    facts: list[tuple[str, object]] = [
        ("design", f"{own.label}, with {', '.join(kinds)} channels"),
        ("views", f"{covered.views:,}, each drawn by about {asked:,.0f} of {people:,} people"),
        ("groups", f"{covered.groups:,}, of {_range(covered.cells)} cells"),
        ("pairs", f"{covered.met:,} of {covered.pairs:,} are asked together in some group"),
        ("ε per answer", format_epsilon(own.answer)),
        ("ε per respondent", format_epsilon(own.respondent)),
        ("ε per attribute", format_epsilon(own.attribute)),
    ]
    small = [c for row in own.design.channels for c in row if c.kind in {"k-ary", "two-coin"}]
    if small:
        most = max(float(total_variation_of(channel)) for channel in small)
        facts.append(("truth told", f"with probability {most:.3f} in a group, at most"))
    if own.design.rule.name.startswith("classic"):
        facts += [("rule", f"{own.design.rule.name}: {RULE_LOSES}"), ("", RULE_POOLED)]
    return facts


def _range(cells: tuple[int, int]) -> str:
    least, most = cells
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _row(option: Option, people: int, *, is_own: bool) -> tuple[object, ...]:
    from deniable.channels import format_epsilon  # noqa: PLC0415

    widths = [_half_width(table, people) for table in option.tables]
    sure = [width for width in widths if math.isfinite(width)]
    return (
        option.label + (" *" if is_own else ""),
        option.coverage.views,
        option.coverage.cells[1],
        format_epsilon(option.answer, 2),
        format_epsilon(option.attribute, 2),
        f"{option.people_per_view(people):,.0f}",
        _width(sum(sure) / len(sure) if sure else math.nan),
        _width(max(widths)),
    )


def _half_width(table: Outlook, people: int) -> float:
    from deniable.planning.option import width_of  # noqa: PLC0415 -- slow to load

    return width_of(table, people, 0.95) / 2


def _width(width: float) -> str:
    if math.isnan(width):
        return "–"
    if width >= 1:
        return "never" if math.isinf(width) else "> 1"
    return f"{width:.3f}"


def _print_views(own: Option, people: int) -> None:
    """Print the groups of every view and how many draw it, then the pairs that nobody is asked."""
    design, names = own.design, own.design.names
    for number, view in enumerate(design.views):
        groups = (" + ".join(names[a] for a in group.attributes) for group in view.groups)
        drawn = people * view.weight / design.total_weight
        _print_wrapped(f"view {number}, about {drawn:,.0f} people: {'; '.join(groups)}")
    missing = [f"{names[one]} + {names[other]}" for one, other in own.coverage.missing]
    if missing:
        _print_wrapped(f"asked together by nobody: {'; '.join(missing)}")


def _print_wrapped(line: str) -> None:
    click.echo(fill(line, COLUMNS, subsequent_indent="  ", break_on_hyphens=False))
