"""The classic rules: how RRBA changes the fake distribution after each block (Imran 4.1).

Version 2 takes eq. 4 over the block that has just closed,

    T'[v] = (o[v] / n − (1 − p)·T[v]) / p,

version 1 over all clients so far. As a running mean that needs no memory but their number
n: T' = T + (X − T)/(n + 2), where X is eq. 4 of the client who has just answered and the
even start counts as one more.

Three things are added to what is published. Negative cells are set to 0 and the rest
rescaled, since eq. 3 cannot draw from them. A floor stays, T' = (1 − g)·T + g/m, because a
cell that is never faked proves an answer. And p follows T, so that every block costs the ε
of the first one: p = a·t/(1 + a·t), a = e^ε − 1, t = min T'.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from deniable.channels import TwoCoin, epsilon_of, two_coin
from deniable.channels.coin import WORD
from deniable.errors import DesignError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deniable.channels import Channel
    from deniable.protocol.block import Block
    from deniable.protocol.design import Channels, Design
    from deniable.protocol.tally import Tally

    Learn = Callable[[TwoCoin, Sequence[float], float, float], list[float]]


def update_by_blocks(design: Design, block: Block, tally: Tally) -> Channels:
    """Return the channels after a closed block by version 2: eq. 4 over that block alone."""
    return _updated(design, block, tally, _of_block)


def update_by_clients(design: Design, block: Block, tally: Tally) -> Channels:
    """Return the channels after a client by version 1: a running mean of eq. 4."""
    return _updated(design, block, tally, _of_clients)


def estimate_by_eq_4(shares: Sequence[float], fake: Sequence[float], truth: float) -> list[float]:
    """Return Imran's eq. 4: what was reported, less what was faked, over p.

    >>> estimate_by_eq_4([0.5, 0.5], [0.25, 0.75], 0.5)
    [0.75, 0.25]
    """
    return [(share - (1 - truth) * lie) / truth for share, lie in zip(shares, fake, strict=True)]


def made_proper(estimate: Sequence[float]) -> list[float]:
    """Return an estimate with negative cells set to 0 and the rest rescaled.

    >>> made_proper([-0.25, 0.75, 0.75])
    [0.0, 0.5, 0.5]
    """
    lifted = [max(value, 0.0) for value in estimate]
    total = sum(lifted)
    return [value / total for value in lifted]


def _updated(design: Design, block: Block, tally: Tally, learn: Learn) -> Channels:
    floor = float(design.rule.floor)
    if floor <= 0:
        problem = "a classic rule needs a floor: a cell that is never faked proves an answer"
        raise DesignError(problem, given=design.rule.floor, expected="a share such as 0.1")
    counted = cells_reported(tally, block)
    # Each view is drawn by so many of the clients who came before, on average.
    shares = [view.weight / design.total_weight for view in design.views]
    return tuple(
        tuple(
            _following(
                channel,
                design.channels[view][place],
                learn,
                counts=counted.get((view, place), Counter()),
                floor=floor,
                clients=block.number * shares[view],
            )
            for place, channel in enumerate(row)
        )
        for view, row in enumerate(block.channels)
    )


def _following(
    channel: Channel,
    first: Channel,
    learn: Learn,
    *,
    counts: Counter[int],
    floor: float,
    clients: float,
) -> Channel:
    """Return the channel after one; the same if nobody has answered its group."""
    if not isinstance(channel, TwoCoin):
        problem = "a classic rule updates a fake distribution, which only two coins have"
        raise DesignError(problem, given=channel.kind, expected="channel = 'two-coin'")
    people = counts.total()
    if not people:
        return channel
    shares = [counts[cell] / people for cell in range(channel.size)]
    learned = made_proper(learn(channel, shares, floor, clients))
    return two_coin(epsilon_of(first), learned, floor=floor)


def cells_reported(tally: Tally, block: Block) -> dict[tuple[int, int], Counter[int]]:
    """Return how often each cell came, by view and group, whichever were counted together."""
    found: dict[tuple[int, int], Counter[int]] = {}
    for stratum, seen in tally.counts.items():
        if stratum.block != block.number:
            continue
        for where, place in enumerate(stratum.groups):  # a report of two coins is one integer
            counts = found.setdefault((stratum.view, place), Counter())
            for value, number in seen.items():
                counts[value[where]] += number
    return found


def _of_block(
    channel: TwoCoin, shares: Sequence[float], floor: float, clients: float
) -> list[float]:
    del floor, clients
    return estimate_by_eq_4(shares, _fake(channel), channel.head / WORD)


def _of_clients(
    channel: TwoCoin, shares: Sequence[float], floor: float, clients: float
) -> list[float]:
    """Move T towards the newcomer's own estimate; the even start counts as one client."""
    kept = 1 - floor or 1.0  # with a floor of 1 there is nothing to move
    before = [(lie - floor / channel.size) / kept for lie in _fake(channel)]
    newcomer = estimate_by_eq_4(shares, _fake(channel), channel.head / WORD)
    return [t + (x - t) / (clients + 2) for t, x in zip(before, newcomer, strict=True)]


def _fake(channel: TwoCoin) -> list[float]:
    return [weight / WORD for weight in channel.fake]
