"""A plan as text for a terminal, and as CSV."""

from __future__ import annotations

import csv
import io
import math
import textwrap
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.plan_words import people_text, share_text, shortened, worth_text
from deniable.cli.terminal import COLUMNS, note, print_facts, print_table
from deniable.schema.canonical import spell_number

if TYPE_CHECKING:
    from deniable.planning.checking import Check
    from deniable.planning.compare import Plan

SHOWN = 10
COSTS = {"answer": "answer", "attribute": "attr."}


def print_plan(plan: Plan) -> None:
    """Print the designs side by side, the one recommended and why, and its tables."""
    goal = plan.goal
    shares = "even shares" if plan.prior is None else "the shares guessed"
    protected = "each answer" if plan.survey.privacy.level == "attribute" else "all answers"
    count = len(plan.tables)
    click.echo(
        f"{plan.survey.heading()}: {goal.people:,.0f} people, "
        f"ε = {spell_number(plan.survey.privacy.epsilon)} for {protected},"
    )
    click.echo(f"{count:,} table{'s' if count > 1 else ''}, {shares}; nobody is asked for this.\n")
    _print_options(plan)
    click.echo()
    for reason in plan.recommendation.reasons:
        _say(reason)
    click.echo()
    _print_facts(plan)
    _print_channels(plan)
    _print_tables(plan)
    _print_bounds(plan)
    for sentence in plan.refused:
        note(textwrap.fill(f"not compared – {sentence}", COLUMNS, subsequent_indent="  "))


def _say(sentence: str) -> None:
    click.echo(textwrap.fill(sentence, COLUMNS))


def _print_options(plan: Plan) -> None:
    from deniable.planning.telling import summary_of  # noqa: PLC0415 -- slow to load

    goal = plan.goal
    found = [summary_of(plan, option) for option in plan.options]
    wanted = goal.width is not None or goal.power is not None
    # Side by side stand the ε that differ: attribute-level if the promise is of all answers.
    costs = ["attribute"] if plan.survey.privacy.level == "respondent" else ["answer"]
    if not wanted and goal.association is None:
        costs = ["answer", "attribute"]
    columns: dict[str, list[object]] = {"design": [_marked(one) for one in found]}
    if not wanted or goal.association is None:  # else there is no room at eighty columns
        columns["views"] = [f"{one['views']:,}" for one in found]
    for cost in costs:
        columns[f"ε {COSTS[cost]}"] = [one["epsilon"][cost] for one in found]
    columns |= {
        "error": [share_text(one["error"]) for one in found],
        "worth": [worth_text(one["worth"]) for one in found],
        "width": [share_text(one["width"]) for one in found],
    }
    if goal.association is not None:
        columns["power"] = [f"{one['power']:.2f}" for one in found]
    if wanted:
        columns["n needed"] = [people_text(one["people_needed"]) for one in found]
    rows = list(zip(*columns.values(), strict=True))
    headings = list(columns)
    print_table(headings, rows)
    _say(
        "→ recommended, * the survey's own, † classic, its channels drawn. error: "
        "root mean square over a table's cells, mean over tables; worth: in plain answers, "
        f"per table; width: the widest {goal.level:.0%} interval of any cell"
        + (
            "; power: the least of any pair, 0 where the test would say “too little data”, of † "
            "that of its pooled table: a test of all its blocks notices somewhat more"
            if goal.association is not None
            else ""
        )
        + "."
    )


def _marked(found: dict[str, Any]) -> str:
    head = "→" if found["recommended"] else " "
    marks = ("*" if found["own"] else "") + ("†" if found["classic"] else "")
    return f"{head} {found['label']}{marks}"


def _print_facts(plan: Plan) -> None:
    from deniable.channels import format_epsilon  # noqa: PLC0415 -- slow to load
    from deniable.planning.recommendation import people_needed  # noqa: PLC0415
    from deniable.planning.telling import lies_of, needed_epsilon  # noqa: PLC0415

    goal, best = plan.goal, plan.chosen
    repeats = best.design.repeats
    times = "once" if repeats == 1 else f"{repeats} times"
    lies = lies_of(best, goal.people)
    cells = best.coverage.cells
    sizes = f"{cells[0]:,}" if cells[0] == cells[1] else f"{cells[0]:,} to {cells[1]:,}"
    facts: list[tuple[str, object]] = [
        ("design", f"{best.label}, {_kinds(plan)}"),
        ("groups", f"{best.coverage.groups:,}, of {sizes} cells"),
        ("ε per answer", format_epsilon(best.answer)),
        ("ε per respondent", f"{format_epsilon(best.respondent)} (answers {times})"),
        ("ε per attribute", f"{format_epsilon(best.attribute)} (a change in one answer alone)"),
    ]
    needed = people_needed(best, goal)
    if not math.isnan(needed):
        facts.append(("n needed", f"{people_text(needed)} for {_wanted(plan)}"))
        if plan.people_given:
            epsilon, trouble = needed_epsilon(plan)
            with_people = f"with {goal.people:,.0f} people"
            told = trouble if epsilon is None else f"{spell_number(epsilon)} {with_people}"
            facts.append(("ε needed", told))
    facts += [
        ("one liar", f"moves a cell by {share_text(lies.one)} at most, whatever the truth"),
        ("1 % liars", f"by {share_text(lies.drawn)} if each keeps to the view drawn,"),
        ("", f"by {share_text(lies.chosen)} if all choose the view that matters most"),
    ]
    for name, value in facts:
        width = COLUMNS - 18
        lines = textwrap.wrap(str(value), width) or [""]
        print_facts([(f"{name:<16}", lines[0]), *((" " * 16, line) for line in lines[1:])])


def _kinds(plan: Plan) -> str:
    kinds = sorted({c.kind for row in plan.chosen.design.channels for c in row})
    return " and ".join(kinds) + " channels"


def _wanted(plan: Plan) -> str:
    goal = plan.goal
    parts = []
    if goal.width is not None:
        parts.append(f"intervals of {goal.width:g} at most")
    if goal.power is not None:
        what = "" if goal.association is None else f" at V = {goal.association:g}"
        parts.append(f"power {goal.power:g}{what}")
    return " and ".join(parts)


def _print_channels(plan: Plan) -> None:
    rows = []
    for name, option in plan.by_channel(plan.chosen).items():
        people = plan.goal.people
        rows.append(
            (
                name,
                share_text(option.error(people)),
                share_text(option.worst_error(people)),
                worth_text(option.worth(people)),
                share_text(option.width(people, plan.goal.level)),
            )
        )
    if len(rows) > 1:
        click.echo()
        print_table(("channel", "error", "worst", "worth", "width"), rows)


def _print_tables(plan: Plan) -> None:
    from deniable.planning.telling import table_of  # noqa: PLC0415 -- slow to load

    best = plan.chosen
    by_worth = sorted(best.tables, key=lambda table: table.worth(1.0))
    shown = by_worth[:SHOWN]
    powers = plan.goal.association is not None
    # There is room for one of the two at eighty columns.
    headings = ["table", "cells", "n", "error", *([] if powers else ["largest"])]
    headings += ["worth", "width", "at once", *(["power"] if powers else [])]
    rows = []
    for table in shown:
        found = table_of(plan, best, table)
        row = [
            shortened(found["attributes"]),
            f"{found['cells']:,}",
            people_text(found["people"]),
            share_text(found["error"]),
            *([] if powers else [share_text(found["largest_error"])]),
            worth_text(found["worth"]),
            *(share_text(found[key]) for key in ("width", "simultaneous_width")),
        ]
        if powers:
            row.append(f"{found['power']:.2f}" if "power" in found else "")
        rows.append(row)
    click.echo()
    print_table(headings, rows)
    if len(by_worth) > SHOWN:
        click.echo(f"… and {len(by_worth) - SHOWN:,} tables worth more; --format json has all.")


def _print_bounds(plan: Plan) -> None:
    from deniable.planning.telling import bounds_of  # noqa: PLC0415 -- slow to load

    best = plan.chosen
    table = min(best.tables, key=lambda one: one.worth(1.0))
    bounds = bounds_of(plan, table)
    rows = [
        (one.source, one.of, share_text(one.bound), one.beside, share_text(one.exact))
        for one in bounds
    ]
    click.echo(f"\nBounds as published, for {shortened(table.names)}, and what is exact:")
    print_table(("source", "bounds", "value", "beside it", "exact"), rows)
    for one in bounds:
        if one.note:
            _say(f"{one.source} {one.note}.")


def print_check(found: Check) -> None:
    """Print what a simulation of the plan gave beside what the formulas foresee."""
    rows = [
        (
            shortened(one.names, 15),
            share_text(one.predicted),
            share_text(one.simulated),
            f"{one.simulated / one.predicted:.3f} ± {one.uncertainty:.3f}",
            share_text(one.reported),
            f"{one.coverage:.3f}",
            f"{one.simultaneous:.3f}",
        )
        for one in found.tables
    ]
    headings = ("table", "foreseen", "came", "ratio ± se", "printed", "covers", "at once")
    title = f"{found.rounds:,} simulated surveys of {found.people:,} people, {found.label}"
    click.echo()
    print_table(headings, rows, title=title)
    ratio, error = found.ratio
    _say(
        f"All together the errors were {ratio:.3f} ± {error:.3f} times those foreseen. printed: "
        "the standard error that a table of such reports shows; covers, at once: how often its "
        "intervals held the truth, cell by cell and all of them."
    )
    for line in found.remarks:
        _say(line)


def as_csv(plan: Plan) -> str:
    """Return a row for each design, and one for each of its tables."""
    from deniable.planning.telling import summary_of, table_of  # noqa: PLC0415 -- slow to load

    written = io.StringIO()
    numbers = ("error", "largest_error", "worth", "width", "simultaneous_width", "power", "people")
    costs = ("answer", "respondent", "attribute")
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(
        ("design", "recommended", "views", *(f"epsilon_{c}" for c in costs), "table", *numbers)
    )
    for option in plan.options:
        whole = summary_of(plan, option)
        head = [whole["label"], int(whole["recommended"]), whole["views"]]
        head += [whole["epsilon"][cost] for cost in costs]
        for table in option.tables:
            found = table_of(plan, option, table)
            values = (found.get(number) for number in numbers)
            shown = ("" if value is None else f"{value:.6g}" for value in values)
            writer.writerow((*head, ",".join(found["attributes"]), *shown))
    return written.getvalue()
