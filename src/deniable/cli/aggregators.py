"""The aggregators that a command names, each by its address."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.sharing import RemoteAggregator


def aggregators_at(addresses: Sequence[str]) -> list[RemoteAggregator]:
    """Return those who add up, none if none are named; one alone would see everything."""
    from deniable.sharing import RemoteAggregator  # noqa: PLC0415 -- slow to load

    found = [RemoteAggregator(address) for address in addresses]
    if found and len({one.address for one in found}) < max(len(found), 2):
        raise click.UsageError("Name two or more different aggregators, each with --at.")
    return found
