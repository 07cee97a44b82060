"""Bulk reports follow their channel, and a channel that is a little off is told from it.

Each test is a χ² test against the exact probabilities of every report that can occur, at a
false-alarm rate of 10⁻¹¹; all of them together raise a false alarm once in 10⁹ runs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from deniable import bulk, channels
from deniable.bulk.keystream import Keystream
from deniable.bulk.respondents import permutation
from deniable.bulk.sampler import sampler_of
from deniable.channels import KAry, LocalHash, Matrix
from deniable.protocol import Design, Group, View

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.channels import Channel

FALSE_ALARM = 1e-11
PEOPLE = 2**20

CHANNELS: list[Channel] = [
    channels.k_ary(1.0, 2),
    channels.k_ary(1.0, 7),
    channels.two_coin(1.0, [0.05, 0.15, 0.3, 0.5]),
    channels.subset(1.0, 7, 3),
    channels.rounded_laplace(1.0, 5),
    channels.symmetric_unary(1.0, 5),
    channels.optimized_unary(1.0, 4),
    LocalHash(channels.k_ary(1.0, 3).head, 3, 5, prime=7),
]


def surprise(seen: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """Return the p-value of what was seen under the exact probabilities."""
    expected = probabilities * seen.sum()
    return float(stats.chisquare(seen, expected * (seen.sum() / expected.sum())).pvalue)


def seen_of(sampled: Channel, stated: Channel, answer: int) -> float:
    """Sample one channel and ask how surprising that is under another."""
    sampler = sampler_of(sampled)
    cells = np.full(PEOPLE, answer, sampler.dtype)
    reports = sampler.randomize(cells, Keystream()).reshape(PEOPLE, -1).astype(np.int64)
    every = np.array(list(stated.reports()), np.int64)
    radix = np.cumprod([1, *(every.max(axis=0) + 1)[:-1]])
    keys = np.sort(every @ radix)
    seen = np.bincount(np.searchsorted(keys, reports @ radix), minlength=keys.size)
    probabilities = [float(stated.probability(tuple(y), answer)) for y in every.tolist()]
    return surprise(seen, np.array(probabilities)[np.argsort(every @ radix)])


def slightly_off(channel: Channel) -> Channel:
    """Return the channel with a truth coin that is 4 % off, or a matrix that is."""
    fields: dict[str, Any] = {}
    if isinstance(channel, Matrix):
        moved = channel.rows[0][0] // 25
        first = (channel.rows[0][0] - moved, channel.rows[0][1] + moved, *channel.rows[0][2:])
        fields = {"rows": (first, *channel.rows[1:])}
    for name in ("head", "keep"):
        if hasattr(channel, name):
            fields[name] = int(getattr(channel, name) * 0.96)
    return replace(channel, **fields)  # type: ignore[type-var]


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda c: f"{c.kind}-{c.size}")
def test_reports_follow_the_stated_probabilities(channel: Channel) -> None:
    """Whichever cell is true, every report comes as often as its fraction says."""
    for answer in {0, channel.size - 1}:
        assert seen_of(channel, channel, answer) > FALSE_ALARM


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda c: f"{c.kind}-{c.size}")
def test_a_slightly_wrong_coin_is_caught(channel: Channel) -> None:
    """A truth coin 4 % off does not pass."""
    assert seen_of(slightly_off(channel), channel, 0) < FALSE_ALARM


def test_the_last_bit_is_randomized_like_every_other() -> None:
    """Each bit of a unary report flips as often as it should, the last one too."""
    channel = channels.symmetric_unary(1.0, 40)
    sampler = sampler_of(channel)
    reports = sampler.randomize(np.zeros(2**17, sampler.dtype), Keystream())
    for cell in range(1, channel.size):
        ones = int(np.count_nonzero(reports[:, cell // 32] >> np.uint32(cell % 32) & 1))
        odds = channel.flip / 2**32
        assert stats.binomtest(ones, 2**17, odds).pvalue > FALSE_ALARM


def weighted(weights: tuple[int, ...]) -> Design:
    """Ask one attribute of several, with given odds."""
    views = tuple(View((Group((a,), (2,)),), weight) for a, weight in enumerate(weights))
    attributes = tuple((f"a{place}", 2) for place in range(len(weights)))
    return Design("odds", "-", attributes, views, ((channels.k_ary(1.0, 2),),) * len(weights), "1")


def test_views_are_drawn_by_their_weights_whatever_the_answers() -> None:
    """Views come with odds 1 : 5 : 2, alike for both answers; equal odds would be noticed."""
    design = weighted((1, 5, 2))
    answers = np.arange(2**18) % 2
    frame = pa.table(dict.fromkeys(design.names, answers))
    views = bulk.randomize(frame, design, order="kept")["view"].to_numpy()
    for answer in (0, 1):
        seen = np.bincount(views[answers == answer], minlength=3)
        assert surprise(seen, np.array([1, 5, 2]) / 8) > FALSE_ALARM
        assert surprise(seen, np.ones(3) / 3) < FALSE_ALARM


def test_every_order_of_a_shuffle_is_as_likely() -> None:
    """All 24 orders of four rows come alike; a shuffle that never moves the last is caught."""
    stream = Keystream()
    orders = np.array([permutation(4, stream) for _ in range(24_000)]).astype(np.int64)
    keys = orders @ np.array([64, 16, 4, 1])
    seen = np.unique(keys, return_counts=True)[1]
    assert seen.size == 24
    assert surprise(seen, np.ones(24) / 24) > FALSE_ALARM
    stuck = np.append(seen[:6] * 4, np.zeros(18, np.int64))
    assert surprise(stuck, np.ones(24) / 24) < FALSE_ALARM


def test_reports_of_several_threads_are_independent_of_each_other() -> None:
    """The rows of different chunks, made by different threads, agree as often as chance has it."""
    channel = KAry(1, 16)  # all but pure noise
    group = Group((0,), (16,))
    design = Design("noise", "-", (("a", 16),), (View((group,)),), ((channel,),), "44")
    frame = pa.table({"a": np.zeros(2**19, np.uint8)})
    reports = bulk.randomize(frame, design, threads=4)["a"].to_numpy()
    first, second = np.split(reports, 2)
    alike = int(np.count_nonzero(first == second))
    assert stats.binomtest(alike, 2**18, 1 / 16).pvalue > FALSE_ALARM
    assert stats.binomtest(2**18, 2**18, 1 / 16).pvalue < FALSE_ALARM
