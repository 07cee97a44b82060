"""The command line: parse, call one function, print."""

from __future__ import annotations

import click


@click.group()
def main() -> None:
    """Ask sensitive questions without ever holding the true answers."""
