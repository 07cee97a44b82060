"""Show how a table's estimate moves from block to block, and when to stop asking."""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli.sources import open_source
from deniable.cli.terminal import level_option, note, print_facts, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deniable.planning.convergence import Kind, Trace
    from deniable.protocol import Design, Tally

_PATH = click.Path(path_type=Path, exists=True, dir_okay=False)
SHOWN = 20


@click.command()
@click.argument("reports", type=_PATH)
@click.option("--table", "table", help="Attributes: sex,income; else the first group.")
@click.option("--width", default=0.1, show_default=True, help="Whole width wanted of intervals.")
@level_option
@click.option(
    "--classic-interval",
    type=click.Choice(["either", "normal", "log-odds"]),
    default="either",
    show_default=True,
    help="Of the classic rule; either: log odds where few answers are expected.",
)
@click.option("--survey", type=_PATH, help="A survey file that names the categories.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the trace of every cell as CSV.")
def command(
    *,
    reports: Path,
    table: str | None,
    width: float,
    level: float,
    classic_interval: str,
    survey: Path | None,
    as_csv: bool,
) -> None:
    """Show how a table's estimate moves from block to block, and when to stop asking.

    REPORTS is a tally (.json) or a file of reports in blocks. The classic rule (Imran,
    section 5) stops when the step from one block to the next is below δ*, the width of an
    interval of a share without coins. It stops by chance. What tells how much is known is
    the width of the interval by all blocks so far; the last lines say how many people
    that takes.
    """
    from deniable.planning.convergence import trace  # noqa: PLC0415 -- slow to load
    from deniable.protocol import Tally  # noqa: PLC0415

    source = open_source(reports, survey)
    counted = source.reports
    tally = counted if isinstance(counted, Tally) else counted.tally()  # type: ignore[union-attr]
    names = _first_group(tally.design) if table is None else [w.strip() for w in table.split(",")]
    found = trace(tally, names)
    kind: Kind | None = None if classic_interval == "either" else classic_interval  # type: ignore[assignment]
    if as_csv:
        _write(found, source.categories, level)
        return
    _show(found, level, kind)
    print_facts(_facts(tally, found, width, level, kind))


def _first_group(design: Design) -> list[str]:
    return [design.names[attribute] for attribute in design.views[0].groups[0].attributes]


def _show(found: Trace, level: float, kind: Kind | None) -> None:
    from deniable.channels import format_epsilon  # noqa: PLC0415

    count = len(found.blocks)
    widest = found.widths(level).reshape(count, -1).max(axis=1)
    cells = found.estimate[0].size
    step = found.step.reshape(count - 1, cells)
    limit = found.tolerance(level, kind).reshape(count, cells)
    every = math.ceil(count / SHOWN)
    rows = []
    total = 0
    for place, number in enumerate(found.blocks):
        total += found.people[place]
        if place % every and place != count - 1:
            continue
        row: list[object] = [number, f"{total:,}", format_epsilon(found.epsilon[place])]
        if place:
            worst = int((step[place - 1] - limit[place]).argmax())
            held = bool((step[place - 1] < limit[place]).all())
            row += [f"{step[place - 1, worst]:.3f}", f"{limit[place, worst]:.3f}"]
            row.append("holds" if held else "")
        else:
            row += ["", "", ""]
        rows.append((*row, f"{widest[place]:.3f}"))
    click.echo(f"{' × '.join(found.names)}; step and δ* of the cell furthest beyond its δ*")
    print_table(("block", "people", "ε", "step", "δ*", "classic", "widest interval"), rows)
    if every > 1:
        note(f"One block of {every} is shown; --csv prints all {count:,}, cell by cell.")


def _facts(
    tally: Tally, found: Trace, width: float, level: float, kind: Kind | None
) -> list[tuple[str, object]]:
    from deniable.planning.convergence import CLASSIC_LOSES  # noqa: PLC0415

    stop = found.classic_stop(level, kind)
    firing = found.holding(level, kind)
    count = len(found.blocks)
    would = "never stop" if stop is None else f"stop after {stop} of {count} blocks"
    enough = found.stop_at_width(width, level)
    facts: list[tuple[str, object]] = []
    if count > 1:  # the rule compares a block with the one before
        facts.append(("classic rule", f"would {would}; it holds in {firing:.0%} of them"))
        facts.append(("", CLASSIC_LOSES))
    reached = "not yet" if enough is None else f"after {enough} of {count} blocks"
    needed = found.people_for_width(width, level)
    facts.append((f"width {width:g}", f"{reached}; it takes about {needed:,} people on this table"))
    asked = sum(found.people) / max(tally.total, 1)
    alone = math.ceil(needed / asked)
    size = tally.design.rule.block_size
    advice = f"about {alone:,} respondents to reach it by one block"
    facts.append(("block size", f"{advice}; it is {size:,}" if size else advice))
    return facts


def _write(found: Trace, categories: Mapping[str, tuple[str, ...]], level: float) -> None:
    import numpy as np  # noqa: PLC0415

    from deniable.channels import format_epsilon  # noqa: PLC0415

    widths, normal = found.widths(level), found.tolerance(level, "normal")
    odds = found.tolerance(level, "log-odds")
    written = csv.writer(sys.stdout, lineterminator="\n")
    heads = ("by_block", "by_all", "se", "width", "normal", "log_odds")
    written.writerow(("block", "people", "epsilon", *found.names, *heads))
    columns = (found.estimate, found.running, found.error, widths, normal, odds)
    for place, number in enumerate(found.blocks):
        for cell in np.ndindex(*found.estimate.shape[1:]):
            labels = [
                categories[name][one] if name in categories else one
                for name, one in zip(found.names, cell, strict=True)
            ]
            values = [f"{column[place][cell]:.6f}" for column in columns]
            spent = format_epsilon(found.epsilon[place], 6)
            written.writerow((number, found.people[place], spent, *labels, *values))
