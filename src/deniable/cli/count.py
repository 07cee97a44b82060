"""Count a file of reports into a tally, which can be added to others and published."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import note, print_facts, print_table, progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.counting import Counted
    from deniable.protocol.at_rest import Provenance

_PATH = click.Path(path_type=Path)
_SHOWN = 20


@click.command()
@click.argument("reports", type=_PATH)
@click.option("-o", "--output", type=_PATH, help="Where the tally goes, as JSON.")
@click.option("--joint", is_flag=True, help="Count the groups of a view together.")
@click.option("--source", help="The name under which the tally remembers this file.")
@click.option("--design", "design_file", type=_PATH, help="The design of a server's reports.")
@click.option(
    "--block",
    "block_files",
    type=_PATH,
    multiple=True,
    help="A block of theirs after the first. May be repeated.",
)
def command(
    *,
    reports: Path,
    output: Path | None,
    joint: bool,
    source: str | None,
    design_file: Path | None,
    block_files: tuple[Path, ...],
) -> None:
    """Count a file of reports into a tally, which can be added to others and published.

    REPORTS is a Parquet file of reports, or a CSV file with its provenance beside it. What
    is no report is not counted, but said, by reason.

    Or it holds the reports that a server gave away (.jsonl or .csv, from
    /v1/surveys/NAME/reports). These lack the design: save it from /v1/designs/DIGEST, and
    each block after the first from /v1/blocks/DIGEST, and give them with --design and
    --block. The server counts the same reports in its own tally; add only one of the two.
    """
    from deniable.counting import count  # noqa: PLC0415 -- slow to load

    about = _about(design_file, block_files, source)
    with progress("Counting", None) as done:
        counted = count(reports, joint=joint, about=about, source=source, progress=done)
    tally = counted.tally()
    print_facts(
        [
            ("design", f"{counted.provenance.design.protocol} {counted.provenance.design.digest}"),
            ("respondents", f"{tally.total:,}"),
            ("no reports", f"{sum(counted.rejected.values()):,}"),
        ]
    )
    print_table(("block", "view", "groups", "reports", "different"), _rows(counted)[:_SHOWN])
    if len(counted.strata) > _SHOWN:
        note(f"… and {len(counted.strata) - _SHOWN:,} more.")
    for reason, number in sorted(counted.rejected.items()):
        note(f"{number:,} rows were not counted: {WORDS[reason]}.")
    if output is not None:
        output.write_bytes(tally.to_bytes())


def _about(
    design_file: Path | None, block_files: Sequence[Path], source: str | None
) -> Provenance | None:
    """Put together what reports that came from a server do not say themselves."""
    from deniable.protocol import (  # noqa: PLC0415 -- seldom needed
        block_from_bytes,
        design_from_bytes,
        first_block,
    )
    from deniable.protocol.at_rest import Provenance  # noqa: PLC0415

    if design_file is None:
        if block_files:
            message = "--block goes with --design"
            raise click.UsageError(message)
        return None
    design = design_from_bytes(design_file.read_text(encoding="utf-8"))
    blocks = [block_from_bytes(path.read_text(encoding="utf-8"), design) for path in block_files]
    by_number = {block.number: block for block in (first_block(design), *blocks)}
    # Two exports of one survey hold the same reports, so both have the same name.
    name = source or f"export of {design.survey}"
    return Provenance(design, tuple(by_number.values()), name)


WORDS = {
    "missing": "they hold no report",
    "block": "they name a block that does not exist",
    "view": "they name a view that does not exist",
    "length": "they have too many or too few integers",
    "impossible": "no coin could have led to them",
}
"""What a person is told for each of ``counting.count.REASONS``."""


def _rows(counted: Counted) -> list[tuple[object, ...]]:
    design = counted.provenance.design
    rows: list[tuple[object, ...]] = []
    for seen in counted.strata:
        groups = design.views[seen.stratum.view].groups
        asked = [
            "+".join(design.names[a] for a in groups[place].attributes)
            for place in seen.stratum.groups
        ]
        number = f"{int(seen.counts.sum()):,}"
        block, view = seen.stratum.block, seen.stratum.view
        rows.append((block, view, ", ".join(asked), number, f"{len(seen.counts):,}"))
    return rows
