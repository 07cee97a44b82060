"""Add the tallies of several servers."""

from __future__ import annotations

import json
import re
from contextlib import closing
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import note, print_facts
from deniable.errors import DeniableError, RequestError, TallyError

if TYPE_CHECKING:
    from deniable.protocol import Tally


@click.command()
@click.argument("tallies", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Where to write the sum.")
@click.option("--into", help="A survey's address, as https://…/v1/surveys/NAME.")
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False),
    help="Holds a token to merge, alone or as the server sent it.",
)
def command(
    *, tallies: tuple[str, ...], output: str | None, into: str | None, token_file: str | None
) -> None:
    """Add the tallies of several servers.

    Order and grouping do not matter, and a tally that comes twice is noticed. The sum is
    written to a file, or each tally is sent into a server that collects the same survey.
    """
    from deniable.collection.line import Line  # noqa: PLC0415 - loads HTTP
    from deniable.protocol import Tally  # noqa: PLC0415

    if bool(output) == bool(into):
        raise click.UsageError("Say either --output or --into.")
    read = [_read(Path(name)) for name in tallies]
    total = reduce(Tally.plus, read)
    if output:
        Path(output).write_bytes(total.to_bytes())
        print_facts([("people", f"{total.total:,}"), ("sources", len(total.sources))])
        return
    token = token_in(Path(token_file).read_bytes()) if token_file else ""
    url = f"{str(into).rstrip('/')}/tallies"
    with closing(Line(url)) as line:
        for name, tally in zip(tallies, read, strict=True):
            status = line.post_tally(url, tally.to_bytes(), token)
            note(f"{name}: {status}")


def _read(path: Path) -> Tally:
    """Read a tally; if it is none, say which file that was."""
    from deniable.protocol import tally_from_bytes  # noqa: PLC0415

    try:
        return tally_from_bytes(path.read_bytes())
    except DeniableError as error:
        problem = f"{path.name} holds no tally: {error.problem}"
        raise TallyError(problem, given=error.given, expected=error.expected) from error


def token_in(content: bytes) -> str:
    """Return the token in a file that holds it alone, or in the server's answer that made it."""
    try:
        text = content.decode().strip()
        token = str(json.loads(text)["token"]) if text.startswith("{") else text
    except (ValueError, KeyError, RecursionError):
        token = ""
    if not re.fullmatch(r"[!-~]+", token):
        expected = "a token alone, or what the server answered when it made one"
        raise RequestError("there is no token in this file", expected=expected)
    return token
