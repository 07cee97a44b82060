"""Response frequencies that no population can show under its channel: not all came through it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from deniable.channels import support_of
from deniable.errors import ChannelError, EstimationError
from deniable.estimation import Batch, Evidence
from deniable.estimation.observation import observe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from deniable.channels import Channel, Value
    from deniable.protocol import Group, Tally

    Blocks: TypeAlias = dict[int, Mapping[Value, int]]
    Lie: TypeAlias = tuple[list[int], int, float, tuple[float, float]]

BEYOND = 6.0
"""Standard errors outside what any population could show: by chance, once in 10⁹ cells."""


def impossible(tally: Tally) -> list[dict[str, object]]:
    """Return the frequencies that are impossible, over all blocks of a channel and block by block.

    P(report supports x) lies between offset(x) and offset(x) + slope, whatever is true.
    A frequency far outside means that not all reports were made by the channel. Blocks are
    looked at by themselves, too: a flood into one of them drowns among the others.

    Args:
        tally: Counted group by group.
    """
    found: list[dict[str, object]] = []
    for (view, place, channel), blocks in _gathered(tally).items():
        group = tally.design.views[view].groups[place]
        try:
            lying = list(_outside(channel, group, blocks))
        except (ChannelError, EstimationError):
            continue  # a bare matrix has no supporting event; a vast group is not laid out
        for where, cell, seen, bounds in lying:
            found.append(
                {
                    "view": view,
                    "group": place,
                    "blocks": where,
                    "attributes": list(group.attributes),
                    "answers": list(group.answers(cell)),
                    "seen": round(seen, 6),
                    "possible": [round(bound, 6) for bound in bounds],
                }
            )
    return found


def _gathered(tally: Tally) -> dict[tuple[int, int, Channel], Blocks]:
    """Put the blocks of each view's group together that share its channel."""
    found: dict[tuple[int, int, Channel], Blocks] = {}
    for (block, view, (place, *_)), counts in sorted(tally.counts.items()):
        channel = tally.blocks[block].channels[view][place]
        found.setdefault((view, place, channel), {})[block] = counts
    return found


def _outside(channel: Channel, group: Group, blocks: Blocks) -> Iterator[Lie]:
    """Yield blocks, cell, the frequency seen, and the bounds between which it can lie."""
    support = support_of(channel)
    slope = float(support.slope)
    low = np.array([float(offset) for offset in support.offsets])
    parts = [(list(blocks), sum(map(Counter, blocks.values()), Counter()))]
    if len(blocks) > 1:
        parts += [([number], Counter(counts)) for number, counts in blocks.items()]
    names = tuple(map(str, group.attributes))
    batches = tuple(_batch(channel, group, counts) for _, counts in parts)
    told: set[int] = set()
    evidence = Evidence(names, group.sizes, batches)
    for (where, _), sight in zip(parts, observe(evidence, names).sights, strict=True):
        # share of reports that support x = slope·π̂(x) + offset(x)
        estimate = sight.invert(sight.counts / sight.people).reshape(-1)
        seen = slope * estimate + low
        nearest = np.clip(seen, low, low + slope)
        error = np.sqrt(nearest * (1 - nearest) / sight.people) + 1 / sight.people
        for cell in map(int, np.flatnonzero(np.abs(seen - nearest) > BEYOND * error)):
            if cell not in told:
                told.add(cell)
                yield where, cell, float(seen[cell]), (float(low[cell]), float(low[cell]) + slope)


def _batch(channel: Channel, group: Group, counts: Mapping[Value, int]) -> Batch:
    values = np.array(list(counts), np.int64).reshape(len(counts), -1)
    attributes = tuple(range(len(group.attributes)))
    numbers = np.array(list(counts.values()), np.int64)
    return Batch((attributes,), (channel,), (values,), numbers)
