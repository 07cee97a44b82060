"""Add up shares of a survey's tables of pairs, as one of several who do not collude."""

from __future__ import annotations

import time

import click

from deniable.cli.terminal import note, port_option


@click.command()
@click.argument("survey_file", type=click.Path(exists=True, dir_okay=False))
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@port_option(9001)
@click.option(
    "--fewest",
    type=click.IntRange(min=3),
    default=100,
    show_default=True,
    help="Of how many people a total must be.",
)
@click.option("--pair-epsilon", type=float, help="Take shares of pairs randomized at this level.")
def command(
    *, survey_file: str, host: str, port: int, fewest: int, pair_epsilon: float | None
) -> None:
    """Add up shares of a survey's tables of pairs, as one of several who do not collude.

    Each device sends one share to every aggregator (deniable share). A share is uniform
    noise; what all aggregators but one know together is, too. The totals are laid together
    by deniable clusters. Run each aggregator on a machine of its own, under other hands,
    behind TLS. Shares are kept in memory until the program ends.

    Every share says of which survey it is a part, and at what level its pairs were
    randomized, or that it is exact. Another survey's are refused; without --pair-epsilon
    the first share decides on the level, and those made at another are refused.
    """
    from deniable.schema import Survey  # noqa: PLC0415 -- slow to load
    from deniable.sharing import (  # noqa: PLC0415
        Aggregator,
        Desk,
        kind_of,
        sheet_of_survey,
    )
    from deniable.sharing.kind import checked_level  # noqa: PLC0415

    sheet = sheet_of_survey(Survey.load(survey_file))
    kind = None
    if pair_epsilon is not None:
        kind = kind_of(sheet, checked_level("--pair-epsilon", pair_epsilon))
    aggregator = Aggregator(sheet.width, fewest, kind=kind, sheet=sheet)
    with Desk(aggregator, port, host) as desk:
        note(f"Adding up {sheet.width:,} cells at {desk.address} until you press Ctrl+C.")
        while True:
            time.sleep(3600)
