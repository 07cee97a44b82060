"""The command line: parse, call one function, print."""

from __future__ import annotations

import click

from deniable.cli.lazy import Commands


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="deniable", message="%(prog)s %(version)s")
def main() -> None:
    """Ask sensitive questions without ever holding the true answers.

    Every command explains itself: deniable COMMAND --help. When a command fails
    unexpectedly, DENIABLE_TRACEBACK=1 shows where.
    """
