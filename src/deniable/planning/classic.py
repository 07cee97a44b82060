"""A classic design foreseen: its channels change by chance, so they are drawn, not derived.

After each block T follows eq. 4 of the block's reports, p follows T so that ε stays (Imran
4.1; ``deniable.protocol.classic``). How T moves is simulated group by group, without
respondents; the pooled variance over all later blocks is then that of a coin that never
changes, whose p is found. At equal ε it is smaller than the first block's, often by much.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels import KAry, TwoCoin, epsilon_of
from deniable.channels.coin import WORD
from deniable.errors import DesignError
from deniable.estimation.echo import coins_echo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.channels import Channel
    from deniable.planning.prior import Prior
    from deniable.protocol import Design, Group

    Array = NDArray[np.float64]

CHAINS, FEW_CHAINS = 48, 12
"""Courses of a group's channel that are drawn."""

MOST_BLOCKS = 400
"""Blocks that are drawn one by one; those after them are as these on average."""

MOST_GROUPS = 40
"""Up to so many groups each follows its own expected shares; of more, all follow even ones."""


def settled(design: Design, people: float, prior: Prior | None, rng: np.random.Generator) -> Design:
    """Return a design with unchanging coins that is as good as a classic one will be.

    Its ε is not that of the classic design: it is for formulas only.
    """
    size = design.rule.block_size
    later = math.ceil(people / size) - 1
    if later < 1:
        return design
    known: dict[object, KAry] = {}
    few = sum(len(view.groups) for view in design.views) <= MOST_GROUPS
    own = prior is not None and few
    chains = CHAINS if few else FEW_CHAINS  # the mean over many groups is as sure with fewer each
    channels = []
    for view, row in zip(design.views, design.channels, strict=True):
        share = view.weight / design.total_weight
        settled_row: list[Channel] = []
        for group, channel in zip(view.groups, row, strict=True):
            truth = np.full(group.size, 1 / group.size)
            key: object = (group.size, share)
            if own and prior is not None:
                truth, key = _truth(design, group, prior), group
            if key not in known:
                floor = float(design.rule.floor)
                course = (size, later, share, chains)
                known[key] = _as_good(channel, truth, course, floor, rng)
            settled_row.append(known[key])
        channels.append(tuple(settled_row))
    # The first block's channels are certain, and all groups' are at their best there at once.
    views = [replace(view, weight=view.weight * later) for view in design.views]
    return replace(design, views=(*design.views, *views), channels=(*design.channels, *channels))


def _truth(design: Design, group: Group, prior: Prior) -> Array:
    names = [design.names[attribute] for attribute in group.attributes]
    return prior.truth(names, group.sizes).reshape(-1)


def _as_good(
    channel: Channel,
    truth: Array,
    course: tuple[int, int, float, int],
    floor: float,
    rng: np.random.Generator,
) -> KAry:
    """Return the even coin whose variance is that of all blocks but the first, pooled."""
    from scipy.optimize import brentq  # noqa: PLC0415 -- slow to load

    if not isinstance(channel, TwoCoin):
        problem = "a classic rule updates a fake distribution, which only two coins have"
        raise DesignError(problem, given=channel.kind, expected="channel = 'two-coin'")
    per_person = _pooled_variance(channel, truth, course, floor, rng)
    wanted = per_person + float(np.sum(truth**2))
    first = channel.head / WORD

    def excess(log_coin: float) -> float:
        coin = math.exp(log_coin)
        echo = coins_echo(coin, truth.size)
        return math.log((echo.own + (truth.size - 1) * echo.other) / wanted)

    low, high = math.log(1 / WORD), math.log(first)
    coin = first if excess(high) > 0 else math.exp(brentq(excess, low, high))
    return KAry(max(1, min(int(coin * WORD), channel.head)), truth.size)


def _pooled_variance(
    channel: TwoCoin,
    truth: Array,
    course: tuple[int, int, float, int],
    floor: float,
    rng: np.random.Generator,
) -> float:
    """Return Σ_x Var of the estimate pooled over all blocks but the first, for one respondent.

    It is the mean over the chains; a chain in which nobody came tells nothing.
    """
    size, later, share, chains = course
    gain = math.expm1(epsilon_of(channel))
    lies = np.tile(np.array(channel.fake) / WORD, (chains, 1))
    weight = np.zeros(chains)
    spread = np.zeros(chains)
    asked = np.zeros(chains)
    for number in range(min(later, MOST_BLOCKS) + 1):
        least = lies.min(axis=1, keepdims=True)
        coin = gain * least / (1 + gain * least)
        lie = (1 - coin) * lies
        seen = coin * truth + lie
        came = rng.binomial(size, share, chains)
        noise = _noise(coin, lie)
        if number:
            weight += came / noise
            spread += came / noise**2 * np.sum(seen * (1 - seen), axis=1) / coin[:, 0] ** 2
            asked += came
        counts = rng.multinomial(came, seen / seen.sum(axis=1, keepdims=True))
        shares = counts / np.maximum(came, 1)[:, None]
        lifted = np.maximum((shares - lie) / coin, 0)
        total = lifted.sum(axis=1, keepdims=True)
        learned = lifted / np.where(total > 0, total, 1)
        fresh = (1 - floor) * learned + floor / truth.size
        lies = np.where((came > 0)[:, None], fresh, lies)
    used = weight > 0
    return float(np.mean(asked[used] * spread[used] / weight[used] ** 2))


def _noise(coin: Array, lie: Array) -> Array:
    """Return E Σ U² at even π, by which blocks are weighed."""
    seen = coin / lie.shape[1] + lie
    result: Array = np.sum(seen * (1 - 2 * lie) + lie**2, axis=1) / coin[:, 0] ** 2
    return result
