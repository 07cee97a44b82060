"""What is estimated of a graph, as text for a terminal, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
import json
import textwrap
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.terminal import COLUMNS, print_facts, print_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deniable.graphs import GraphReports, Outcome, Sequence, Triangles
    from deniable.inference import Estimate

SHOWN = 10
RELIABLE = 0.5
"""Below this reliability, most of what sets people apart is noise."""


def print_estimates(
    reports: GraphReports,
    edges: Estimate,
    degrees: Sequence,
    triangles: Triangles | None,
    level: float,
    form: str,
) -> None:
    """Print what was estimated, in the form asked for."""
    sequences = [degrees] if triangles is None else [degrees, triangles.of_each]
    totals = [edges] if triangles is None else [edges, triangles.total]
    if form == "csv":
        click.echo(_as_csv(sequences, level), nl=False)
    elif form == "json":
        click.echo(json.dumps(_as_data(reports, totals, sequences, level), ensure_ascii=False))
    else:
        _print(reports, totals, sequences, level)


def _print(
    reports: GraphReports, totals: list[Estimate], sequences: list[Sequence], level: float
) -> None:
    from deniable.channels import format_epsilon  # noqa: PLC0415 -- slow to load

    people = len(sequences[0].people)
    print_facts(
        [
            ("people", f"{people:,} of {len(reports.roster):,} have answered"),
            ("ε of an edge", f"{format_epsilon(reports.epsilon)}, {_reporters(reports)}"),
            ("ε of a person", f"{format_epsilon(reports.epsilon_of_person)}: all their edges"),
        ]
    )
    click.echo()
    rows = []
    for one in totals:
        low, high, _ = one.interval(level)
        error = _number(one.standard_error)
        rows.append((one.name, _number(one.value), error, f"{_whole(low)} – {_whole(high)}"))
    print_table(("in all", "estimate", "se", f"{level:.0%} interval"), rows)
    for sequence in sequences:
        click.echo()
        _print_sequence(sequence, level)
    for line in dict.fromkeys(line for one in totals for line in one.notes):
        _say(f"{line}.")


def _reporters(reports: GraphReports) -> str:
    return "reported by one of its ends" if reports.roster.ends == 1 else "reported by both ends"


def _print_sequence(sequence: Sequence, level: float) -> None:
    low, high = sequence.interval(level)
    shrunken = sequence.shrunken
    order = sorted(range(len(low)), key=lambda place: -sequence.values[place])[:SHOWN]
    rows = [
        (
            _shortened(sequence.people[place]),
            _number(sequence.values[place]),
            _number(sequence.standard_errors[place]),
            f"{_whole(low[place])} – {_whole(high[place])}",
            _number(shrunken[place]),
        )
        for place in order
    ]
    print_table((sequence.name, "estimate", "se", f"{level:.0%} interval", "shrunken"), rows)
    if len(low) > SHOWN:
        click.echo(f"… and {len(low) - SHOWN:,} people with less; --format csv has all.")
    mean, error = sequence.values.mean(), (sequence.standard_errors**2).mean() ** 0.5
    told = (
        f"On average {_number(mean)}; people differ by {_number(sequence.spread)} (sd), and each "
        f"is known to ± {_number(error)}: reliability {sequence.reliability:.2f}."
    )
    if sequence.reliability < RELIABLE:
        told += " Most of what sets people apart here is noise; the order says little."
    _say(told)


def print_outcomes(people: int, edges: float, outcomes: Iterable[Outcome]) -> None:
    """Print the standard errors that each level brings about."""
    found = list(outcomes)
    rows = [
        (
            _level(one),
            *(_number(error) for error in (one.edges, one.degree, one.triangles, one.of_each)),
        )
        for one in found
    ]
    mean = 2 * edges / people
    expected = people * (people - 1) * (people - 2) / 6 * (mean / (people - 1)) ** 3
    click.echo(f"{people:,} people, {edges:,.0f} edges; nobody is asked for this.\n")
    print_table(("ε of an edge", "edges ±", "a degree ±", "triangles ±", "of a person ±"), rows)
    _say(
        f"The mean degree is {_number(mean)}; saying that of everybody is off by "
        f"{_number(found[0].uninformed)} in a random graph, and by more in a true one. A random "
        f"graph has {_number(expected)} triangles; a true one may have many times that."
    )


def _level(outcome: Outcome) -> str:
    from deniable.channels import format_epsilon  # noqa: PLC0415 -- slow to load

    return format_epsilon(outcome.epsilon)


def _as_csv(sequences: list[Sequence], level: float) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    columns = ("", "_se", "_low", "_high", "_shrunken")
    writer.writerow(("person", *(one.name + column for one in sequences for column in columns)))
    parts = [
        (one.values, one.standard_errors, *one.interval(level), one.shrunken) for one in sequences
    ]
    for place, person in enumerate(sequences[0].people):
        values = (f"{column[place]:.6g}" for part in parts for column in part)
        writer.writerow((person, *values))
    return written.getvalue()


def _as_data(
    reports: GraphReports, totals: list[Estimate], sequences: list[Sequence], level: float
) -> dict[str, Any]:
    from deniable.channels import format_epsilon  # noqa: PLC0415 -- slow to load

    return {
        "people": list(sequences[0].people),
        "epsilon_of_edge": format_epsilon(reports.epsilon),
        "epsilon_of_person": format_epsilon(reports.epsilon_of_person),
        "level": level,
        "totals": {
            one.name: {
                "value": one.value,
                "standard_error": one.standard_error,
                "interval": list(one.interval(level)[:2]),
                "notes": list(one.notes),
            }
            for one in totals
        },
        "sequences": {
            one.name: {
                "values": one.values.tolist(),
                "standard_errors": one.standard_errors.tolist(),
                "low": one.interval(level)[0].tolist(),
                "high": one.interval(level)[1].tolist(),
                "shrunken": one.shrunken.tolist(),
                "spread": one.spread,
                "reliability": one.reliability,
            }
            for one in sequences
        },
    }


def _whole(value: float) -> str:
    """Write a bound without its fraction; a little less than nothing is 0, not −0.

    >>> _whole(-0.3), _whole(1234.6), _whole(-7.0)
    ('0', '1,235', '−7')
    """
    return f"{round(value):,}".replace("-", "−")


def _number(value: float) -> str:
    if abs(value) >= 100:  # noqa: PLR2004 -- digits
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"  # noqa: PLR2004 -- digits


def _shortened(name: str) -> str:
    most = 24
    return name if len(name) <= most else name[: most - 1] + "…"


def _say(sentence: str) -> None:
    click.echo(textwrap.fill(sentence, COLUMNS))
