"""The two-stage rule: learn the margins, then ask what only a dependence would change.

Block 0 is asked through an ordinary channel. When it closes, the margins of its attributes
say how a table without any dependence would look; at that table the directions that keep
all margins are what a test of independence is about, and every later respondent goes
through the staircase channel that tells most about them, at the level of the first.

The channel depends on reports that came before, the reports behind it do not: the scores
of both stages add, and the score test of all reports keeps its level.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels import epsilon_of
from deniable.estimation.best_sets import GAP
from deniable.estimation.observation import observe
from deniable.estimation.outlook import part_of
from deniable.estimation.simplex import nearest_proper
from deniable.estimation.staircase import MOST_CELLS, mixed, staircase
from deniable.estimation.unbiased import pooled
from deniable.estimation.wish import Wish

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from deniable.channels import Channel
    from deniable.protocol import Block, Design, Group, Tally
    from deniable.protocol.design import Channels

    Array = NDArray[np.float64]

FIRST = 0.15
"""The share of all respondents that the first stage is taken to be."""

FLOOR = 0.05
"""Share of the even distribution in a margin: a category that nobody was seen in may exist."""

MARGINS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
"""Shares of the second stage that may go on to learn about the margins; the smallest that
does is taken. A little always goes, so that the channel has an inverse."""

NOTICED = 4.0
"""Standard errors of a dependence that the test should notice without fail."""

EXPECTED = 20.0
"""Reports of each kind that the second stage should bring, so that χ² is a good limit."""

SEEN = 1e-9


def update_by_stages(design: Design, block: Block, tally: Tally) -> Channels:
    """Return the channels after a closed block: after the first those of the second stage."""
    if block.number > 0:
        return block.channels

    @cache
    def margin(attribute: int) -> Array:
        return _margin(tally, design.names[attribute])

    people: Counter[tuple[int, int]] = Counter()
    for stratum, seen in tally.counts.items():
        for place in stratum.groups:
            people[stratum.view, place] += sum(seen.values())
    return tuple(
        tuple(
            second_channel(channel, group, margin, people[number, place])
            for place, (group, channel) in enumerate(zip(view.groups, row, strict=True))
        )
        for number, (view, row) in enumerate(zip(design.views, block.channels, strict=True))
    )


def contrasts(margins: Sequence[Array]) -> tuple[Array, Array, Array]:
    """Return the table without dependence, and the directions that move margins or keep them.

    Both are scaled so that plain answers would tell as much about each: Dᵀ diag(1/π) D = 1.

    Returns:
        The flat table; a column for each direction that moves some margin; a column for each
        that keeps all of them.
    """
    table = np.ones(())
    for margin in margins:
        table = np.multiply.outer(table, margin)
    flat = table.reshape(-1)
    root = np.sqrt(flat)[:, None]
    places = np.indices(table.shape).reshape(len(margins), -1)
    moves = [
        flat * ((place == cell) - margin[cell])
        for place, margin in zip(places, margins, strict=True)
        for cell in range(len(margin))
    ]
    scaled = np.stack(moves, axis=1) / root
    moving, sizes, _ = np.linalg.svd(scaled, full_matrices=False)
    moving = moving[:, sizes > SEEN]
    taken = np.hstack([root, moving])
    every, _ = np.linalg.qr(taken, mode="complete")
    return flat, moving * root, every[:, taken.shape[1] :] * root


def second_channel(
    channel: Channel,
    group: Group,
    margin: Callable[[int], Array],
    people: float,
    *,
    gap: float = GAP,
) -> Channel:
    """Return the second stage's channel of a group; the same where there is nothing to win.

    Args:
        channel: The first stage's.
        group: The group.
        margin: What the first stage says of an attribute, nowhere 0.
        people: How many it asked the group.
        gap: How near the best channel it is to be; see ``best_sets``.
    """
    if len(group.attributes) == 1 or group.size > MOST_CELLS or not people:
        return channel
    null, nuisance, wanted = contrasts([margin(attribute) for attribute in group.attributes])
    blank = Wish(null, nuisance, wanted, np.zeros(()), 1 - FIRST)
    before = _information(channel, group, blank)
    wish = replace(blank, known=FIRST * before)
    epsilon = epsilon_of(channel)
    sharp, rough = (staircase(epsilon, one, gap) for one in (wish, _about_margins(wish)))
    one, other = wish.information(sharp.rows()), wish.information(rough.rows())
    for share in MARGINS:
        whole = wish.known + wish.share * ((1 - share) * one + share * other)
        if _is_clear(wish, whole, people / FIRST):
            break
    if _worth(wish, whole) <= _worth(wish, wish.known + wish.share * before):
        return channel
    rarest = EXPECTED / ((1 - FIRST) / FIRST * people)
    return mixed([(1 - share, sharp), (share, rough)], null, rarest)


def _about_margins(wish: Wish) -> Wish:
    """Return the wish to know the margins only."""
    nothing = np.zeros((len(wish.null), 0))
    return Wish(wish.null, nothing, wish.nuisance, np.zeros(()), 1.0)


def _worth(wish: Wish, whole: Array) -> float:
    """Return log det of what is told about dependence in all."""
    return float(np.linalg.slogdet(wish.efficient(whole))[1])


def _is_clear(wish: Wish, whole: Array, people: float) -> bool:
    """Tell whether a dependence that would be noticed cannot be taken for one of margins.

    Two margins that are off by u and v shift the table by u⊗v along what is asked about.
    Where n·|u|²·λ_N, the least that this costs, is below what it would explain of a
    dependence of z standard errors, z·√(n·λ_J)·|u||v|, the fit of the hypothesis hides it.
    """
    first = wish.nuisance.shape[1]
    margins = float(np.linalg.eigvalsh(whole[:first, :first])[0])
    noticed = float(np.linalg.eigvalsh(wish.efficient(whole))[-1])
    return margins >= NOTICED * math.sqrt(noticed / people)


def _information(channel: Channel, group: Group, wish: Wish) -> Array:
    """Return what one report of a survey file's channel tells about the directions."""
    echo = part_of(channel, tuple(range(len(group.attributes))), group.size).echo
    covariance = echo.moment(wish.null) - np.outer(wish.null, wish.null)
    # Σπ̂ may be certain; along directions that keep Σπ it does not matter how sure it is.
    covariance += np.trace(covariance) / group.size**2
    directions = wish.directions
    result: Array = directions.T @ np.linalg.solve(covariance, directions)
    return result


def _margin(tally: Tally, name: str) -> Array:
    """Return an attribute's distribution, proper, and nowhere 0."""
    seen = pooled(observe(tally, [name]).sights)
    return believed(seen.centre, float(np.trace(seen.dense())))


def believed(estimate: Array, noise: float) -> Array:
    """Return the margin that the second stage is made for.

    It is shrunk to the even one by as much of its distance from there as is noise (James &
    Stein 1961): a channel made for margins that chance made up tells less than an even one.

    Args:
        estimate: An unbiased estimate of the margin.
        noise: The sum of its cells' variances.
    """
    even = np.full(estimate.size, 1 / estimate.size)
    distance = float(np.sum((estimate - even) ** 2))
    known = max(0.0, 1 - noise / distance) if distance > 0 else 0.0
    proper = nearest_proper(estimate)
    result: Array = even + (1 - FLOOR) * known * (proper - even)
    return result
