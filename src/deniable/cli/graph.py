"""Ask who is joined with whom, edge by edge, and estimate degrees and triangles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli.graph_text import print_estimates, print_outcomes
from deniable.cli.terminal import format_option, level_option, note, print_facts, progress
from deniable.errors import DataError

if TYPE_CHECKING:
    from deniable.graphs.roster import Ends

_PATH = click.Path(path_type=Path, exists=True, dir_okay=False)
_ENDS = click.option(
    "--ends",
    type=click.Choice(["1", "2"]),
    default="1",
    show_default=True,
    help="How many of its ends report an edge; two have half of ε each.",
)


@click.group()
def command() -> None:
    """Ask who is joined with whom, edge by edge, and estimate degrees and triangles.

    Every edge is randomized by itself: ε protects whether two people are joined,
    not how many edges somebody has.
    """


@command.command()
@click.argument("edges", type=_PATH)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), required=True)
@click.option("--epsilon", type=float, required=True, help="The level of one edge.")
@click.option("--roster", type=_PATH, help="Everybody, a name a line.  [whoever has an edge]")
@click.option("--header", is_flag=True, help="The first line names the columns.")
@_ENDS
@click.option("--replace", is_flag=True, help="Replace reports that are there.")
@click.option("--unsafe-seed", type=int, help="Repeatable reports, which protect nobody.")
def randomize(
    *,
    edges: Path,
    output: Path,
    epsilon: float,
    roster: Path | None,
    header: bool,
    ends: str,
    replace: bool,
    unsafe_seed: int | None,
) -> None:
    """Randomize a file of edges into reports.

    EDGES holds two names a line. It is as if everybody had told their device
    whom they are joined with; the reports are safe to keep. Who is on the
    roster is not hidden.
    """
    from deniable.channels import format_epsilon  # noqa: PLC0415 -- slow to load
    from deniable.graphs import randomize_graph, read_graph, read_names  # noqa: PLC0415
    from deniable.graphs.edge_list import seems_headed  # noqa: PLC0415

    if output.exists() and not replace:
        problem = f"there are reports in {output} already"
        expected = "another name, or --replace; who keeps both knows the edges better than ε says"
        raise DataError(problem, expected=expected)
    names = () if roster is None else read_names(roster)
    graph = read_graph(edges, names, header=header)
    if unsafe_seed is not None:
        note("UNSAFE: whoever knows the seed can undo these reports. Never publish them.")
    if roster is None and not header and seems_headed(edges):
        note("The names of the first line stand nowhere else: if it is a heading, use --header.")
    if roster is None:
        note("Without a roster, that somebody is there says that they have an edge.")
    reports = randomize_graph(graph, epsilon, ends=_ends(ends), unsafe_seed=unsafe_seed)
    output.write_bytes(reports.to_bytes())
    pairs = len(reports.roster) * (len(reports.roster) - 1) // 2
    print_facts(
        [
            ("people", f"{len(reports.roster):,}, {pairs:,} pairs"),
            ("ε of an edge", format_epsilon(reports.epsilon)),
            ("ε of a person", f"{format_epsilon(reports.epsilon_of_person)}: all their edges"),
        ]
    )
    note(f"Next: deniable graph estimate {output}")


@command.command()
@click.argument("reports", type=_PATH)
@click.option("--degrees-only", is_flag=True, help="Leave out triangles, which take longer.")
@level_option
@format_option("A summary, a row for each person, or everything.")
def estimate(*, reports: Path, degrees_only: bool, level: float, form: str) -> None:
    """Estimate degrees and triangles from reports.

    In all and of everybody, with intervals. The estimates of single people
    are unbiased; the shrunken ones are nearer to the truth on average.
    """
    from deniable.graphs import (  # noqa: PLC0415 -- slow to load
        GraphReports,
        estimate_degrees,
        estimate_edges,
        estimate_triangles,
    )

    seen = GraphReports.from_bytes(reports.read_bytes())
    triangles = None
    if not degrees_only:
        with progress("Counting triangles", len(seen.roster), unit="people") as done:
            triangles = estimate_triangles(seen, progress=done)
    print_estimates(seen, estimate_edges(seen), estimate_degrees(seen), triangles, level, form)


@command.command()
@click.option("--people", type=int, required=True, help="How many there will be.")
@click.option("--edges", type=float, required=True, help="A guess of how many edges.")
@click.option("--epsilon", "levels", type=float, multiple=True, help="A level; repeatable.")
@_ENDS
def plan(*, people: int, edges: float, levels: tuple[float, ...], ends: str) -> None:
    """Foresee the errors at some levels.

    By formulas, for a random graph with so many people and edges: nobody is
    asked.
    """
    from deniable.graphs import foresee  # noqa: PLC0415 -- slow to load

    asked = levels or (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
    print_outcomes(people, edges, [foresee(people, edges, one, ends=_ends(ends)) for one in asked])


def _ends(text: str) -> Ends:
    return 2 if text == "2" else 1
