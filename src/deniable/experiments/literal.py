"""RRBA to the letter: p never changes and nothing keeps T from 0. Not private.

With the update as published a cell's fake share falls to 0 sooner or later, and a report of
that cell then proves the answer: ε = ∞ (here, where a weight is never below 2⁻³², about 22).
Devices refuse such blocks, whatever a server says. For experiments on known answers only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.channels import TwoCoin
from deniable.channels.coin import WORD
from deniable.channels.exact import weights_from
from deniable.protocol.classic import cells_reported, estimate_by_eq_4, made_proper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.protocol import Block, Design, Tally
    from deniable.protocol.design import Channels

LEAST = 1
"""The smallest fake weight that a channel can have at all, out of 2³²."""


def unsafe_update_without_floor(design: Design, block: Block, tally: Tally) -> Channels:
    """Return the channels after a block by eq. 4 alone: p as before, T as it comes out."""
    del design
    reported = cells_reported(tally, block)
    views = []
    for view, row in enumerate(block.channels):
        channels = []
        for place, channel in enumerate(row):
            counts = reported.get((view, place))
            if not isinstance(channel, TwoCoin) or counts is None:
                channels.append(channel)
                continue
            people = counts.total()
            shares = [counts[cell] / people for cell in range(channel.size)]
            fake = [weight / WORD for weight in channel.fake]
            learned = made_proper(estimate_by_eq_4(shares, fake, channel.head / WORD))
            channels.append(TwoCoin(channel.head, _weights(learned)))
        views.append(tuple(channels))
    return tuple(views)


def unsafe_two_coin(truth: float, size: int) -> TwoCoin:
    """Return two coins that tell the truth with probability ``truth``, whatever that costs."""
    return TwoCoin(int(truth * WORD), _weights([1 / size] * size))


def _weights(shares: Sequence[float]) -> tuple[int, ...]:
    weights = list(weights_from(shares))
    for cell, weight in enumerate(weights):
        if weight < LEAST:
            weights[max(range(len(weights)), key=weights.__getitem__)] -= LEAST - weight
            weights[cell] = LEAST
    return tuple(weights)
