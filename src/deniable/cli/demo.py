"""Randomize a population and print its recovered tables beside the truth."""

from __future__ import annotations

import click

from deniable.cli.terminal import note


@click.command()
def command() -> None:
    """Randomize a population and print its recovered tables beside the truth."""
    note("The demonstration is not built yet.")
