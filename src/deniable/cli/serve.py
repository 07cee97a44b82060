"""Serve a survey: the respondent's page, the reports, the researcher's results."""

from __future__ import annotations

import os
import re
import sys
import webbrowser
from typing import Final

import click

from deniable.cli.terminal import note, port_option, print_facts

DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY")
SECRET_IN_ADDRESS: Final = re.compile(r"(?<=://)[^@/]*@")


@click.command()
@click.argument("survey_file", type=click.Path(exists=True, dir_okay=False))
@click.option("--store", "where", help="A file, or postgresql://… [default: NAME.db]")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@port_option(8000)
@click.option(
    "--workers",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Processes; needs PostgreSQL.",
)
@click.option("--invited", is_flag=True, help="Take one report for each invitation.")
@click.option(
    "--block-minutes",
    type=click.IntRange(0),
    default=0,
    help="Close a block after so long; 0: never.",
)
@click.option(
    "--rate",
    type=click.FloatRange(0, 1e9),
    default=5.0,
    show_default="5",
    help="Reports a second per address; 0: any.",
)
@click.option("--tallies-only", is_flag=True, help="Give away counts, and reports to nobody.")
@click.option("--draft", is_flag=True, help="Keep a draft, to be published over HTTP.")
@click.option("--manage", is_flag=True, help="Print a token to manage all surveys, too.")
@click.option(
    "--open/--no-open", "opens", default=None, help="Show the page. [default: on a desktop]"
)
def command(  # noqa: PLR0913 - one for each option
    *,
    survey_file: str,
    where: str | None,
    host: str,
    port: int,
    workers: int,
    invited: bool,
    block_minutes: int,
    rate: float,
    tallies_only: bool,
    draft: bool,
    manage: bool,
    opens: bool | None,
) -> None:
    """Serve a survey: the respondent's page, the reports, the researcher's results.

    The survey is published when it is first served, and locked from then on; serving
    it again goes on collecting. The researcher's link, printed at the start, holds a
    token after its '#', which no browser sends to a server and no log keeps.
    """
    # Imported here, so that naming the command loads no server.
    from deniable.collection import (  # noqa: PLC0415
        Collection,
        Settings,
        Terms,
        address_of,
        issue_token,
        listen,
        open_store,
        serve,
    )
    from deniable.collection.rules import update_for  # noqa: PLC0415
    from deniable.collection.serving import check_shared, is_everywhere  # noqa: PLC0415
    from deniable.protocol import design_for  # noqa: PLC0415
    from deniable.schema import Survey  # noqa: PLC0415

    survey = Survey.load(survey_file)
    where = where or f"{survey.name}.db"
    # Whatever can be refused is refused before the store is touched: publishing cannot be undone.
    check_shared(where, workers)
    update_for(design_for(survey))
    terms = Terms(invited=invited, block_seconds=60 * block_minutes)
    with listen(host, port) as listening:
        collection = Collection(open_store(where))
        collection.present(survey, terms, publish=not draft)
        address = address_of(listening)
        now = collection.now()
        token = issue_token(collection.store, "research", survey=survey.name, now=now)
        facts = [
            ("page", f"{address}/s/{survey.name}"),
            ("results", f"{address}/r/{survey.name}#{token}"),
            ("store", SECRET_IN_ADDRESS.sub("…@", where)),
            ("limit", f"{rate:g} reports a second from one address" if rate > 0 else "none"),
        ]
        if manage:
            facts.append(("manage", issue_token(collection.store, "manage", now=now)))
        collection.store.close()
        print_facts(facts)
        if is_everywhere(listening):
            note("Listening at every address of this machine: others reach it by its name.")
        note("Serving until you press Ctrl+C.")
        if on_a_desktop() if opens is None else opens:
            webbrowser.open(f"{address}/s/{survey.name}")
        settings = Settings(rate=rate, tallies_only=tallies_only)
        serve(where, settings, listening, workers=workers)


def on_a_desktop() -> bool:
    """Tell whether somebody sits at a terminal of a machine that has windows."""
    windows = sys.platform in {"darwin", "win32"} or any(map(os.environ.get, DISPLAYS))
    return sys.stdout.isatty() and windows
