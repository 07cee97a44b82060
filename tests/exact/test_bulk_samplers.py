"""Bulk and device turn the same words into the same reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable import channels
from deniable.bulk import _kernels
from deniable.bulk.keystream import TILE_WORDS, Keystream
from deniable.bulk.respondents import draw_views
from deniable.bulk.sampler import sampler_of
from deniable.channels import KAry, LocalHash, Matrix, WordCoin
from deniable.protocol import Design, Group, View

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.channels import Channel

WORD = 2**32


class Words(WordCoin):
    """A coin of given words, for the device."""

    def __init__(self, words: list[int]) -> None:
        self.left = words[::-1]

    def word(self) -> int:
        """Return the next word."""
        return self.left.pop()


class Script(Keystream):
    """A keystream of given words, for bulk."""

    __slots__ = ("_next", "_script")

    def __init__(self, script: NDArray[np.uint32]) -> None:
        super().__init__()
        self._script = script
        self._next = 0

    def words(self, count: int) -> NDArray[np.uint32]:
        """Return the next words."""
        first, self._next = self._next, self._next + count
        return self._script[first : self._next]


rng = np.random.default_rng(20_26)
CHANNELS: list[Channel] = [
    channels.k_ary(1.0, 2),
    channels.k_ary(1.0, 3),
    channels.k_ary(0.1, 16),
    channels.k_ary(2.0, 65_537),
    channels.k_ary(12.0, 3_000_000),
    KAry(1, 2),
    KAry(WORD - 1, 300),
    channels.two_coin(1.0, [0.05, 0.15, 0.8]),
    channels.two_coin(1.0, rng.dirichlet([0.1] * 300).tolist(), floor=0.05),
    channels.subset(1.0, 2, 1),
    channels.subset(1.0, 4, 3),
    channels.subset(1.0, 16),
    channels.subset(0.5, 65),
    channels.subset(1.0, 300),
    channels.subset(6.0, 3000),
    channels.rounded_laplace(1.0, 7),
    Matrix(((WORD, 0, 0), (0, WORD // 2, WORD // 2))),
    channels.symmetric_unary(1.0, 5),
    channels.symmetric_unary(1.0, 32),
    channels.optimized_unary(1.0, 70),
    channels.local_hash(1.0, 16),
    LocalHash(2**30, 3, 5, prime=7),
]


def words_for(channel: Channel, rows: int, per_row: int) -> NDArray[np.uint32]:
    """Return words at random, among them those at which a toss could be decided wrongly."""
    words = rng.integers(0, WORD, rows * per_row, dtype=np.uint32)
    edges = [0, 1, WORD - 1, WORD - 2, WORD // 2, WORD // 2 - 1]
    edges += [WORD * cell // channel.size + shift for cell in (1, 2) for shift in (-1, 0, 1)]
    for name in ("head", "keep", "flip"):
        edges += [getattr(channel, name, 1) + shift for shift in (-1, 0)]
    for bounds in np.array(getattr(channel, "bounds", ())).reshape(-1)[:50].tolist():
        edges += [bounds - 1, bounds]
    edges = [edge for edge in edges if 0 <= edge < WORD]
    places = rng.random(words.size) < 0.3
    words[places] = rng.choice(edges, int(places.sum()))
    return words


@pytest.mark.parametrize("channel", CHANNELS, ids=lambda c: f"{c.kind}-{c.size}")
def test_the_same_words_give_the_report_that_the_device_makes(channel: Channel) -> None:
    """Every channel: row by row, the sampler's report is the channel's own."""
    sampler = sampler_of(channel)
    rows = max(3, min(2000, 40_000 // sampler.words))
    cells = rng.integers(0, channel.size, rows).astype(sampler.dtype)
    words = words_for(channel, rows, sampler.words)
    script = Script(np.append(words, np.arange(20_000, dtype=np.uint32)))
    reports = sampler.randomize(cells, script).reshape(rows, channel.width).tolist()
    for row, report in enumerate(reports):
        spent = words[row * sampler.words :][: sampler.words].tolist()
        if tossed_again(sampler.channel, spent):
            continue  # the next test's concern
        assert tuple(report) == channel.randomize(int(cells[row]), Words(spent))
        channel.check(tuple(report))


def tossed_again(channel: Channel, words: list[int]) -> bool:
    """Tell whether the device needs more words than a row has."""
    try:
        for cell in (0, channel.size - 1):
            channel.randomize(cell, Words(words))
    except IndexError:
        return True
    return False


@pytest.mark.parametrize("channel", [channels.subset(1.0, 7, 3), channels.local_hash(1.0, 16)])
def test_a_row_that_must_toss_again_goes_on_as_the_device_does(channel: Channel) -> None:
    """Words beyond the last whole stretch are thrown again, with the words that come next."""
    sampler = sampler_of(channel)
    good = rng.integers(0, WORD // 2, (5, sampler.words), dtype=np.uint32)
    bad = good.copy()
    bad[1, -4:], bad[3, 1:3] = WORD - 1, WORD - 1
    if isinstance(channel, LocalHash):
        bad[1, :4] = WORD - 1
    after = rng.integers(0, WORD // 2, 64, dtype=np.uint32)
    cells = np.array([0, 1, 2, 3, 4], sampler.dtype)
    reports = sampler.randomize(cells, Script(np.append(bad.reshape(-1), after))).tolist()
    later = Words(after.tolist())
    for row in range(5):
        coin = Words([])
        coin.left = later.left + bad[row].tolist()[::-1]
        used = len(coin.left) - sampler.words
        assert tuple(reports[row]) == channel.randomize(int(cells[row]), coin)
        if len(coin.left) < used:  # what was tossed again came from the later words
            later.left = coin.left
    assert len(later.left) < after.size


def test_a_channel_too_long_for_a_tile_is_tossed_by_the_device_itself() -> None:
    """A report that needs more words than are drawn at once is right all the same."""
    channel = channels.optimized_unary(1.0, TILE_WORDS + 40)
    sampler = sampler_of(channel)
    words = rng.integers(0, WORD, sampler.words, dtype=np.uint32)
    (report,) = sampler.randomize(np.array([5], np.uint32), Script(words)).tolist()
    assert tuple(report) == channel.randomize(5, Words(words.tolist()))


class Weighted:
    """A design of three views with odds 1 : 5 : 2."""

    group = Group((0,), (2,))
    design: ClassVar[Design] = Design(
        "weighted",
        "-",
        (("a", 2), ("b", 2), ("c", 2)),
        tuple(View((Group((a,), (2,)),), weight) for a, weight in enumerate((1, 5, 2))),
        ((channels.k_ary(1.0, 2),),) * 3,
        "1",
    )


def test_views_are_drawn_as_the_device_draws_them() -> None:
    """The same two words draw the same view."""
    rows = 3000
    words = rng.integers(0, WORD, 2 * rows, dtype=np.uint32)
    views = draw_views(Weighted.design, rows, Script(words))
    for row in range(rows):
        spent = words[2 * row : 2 * row + 2].tolist()
        assert views[row] == Weighted.design.draw_view(Words(spent))


@given(st.integers(2, 2**31), st.integers(0, WORD - 1))
def test_even_cells_are_those_of_the_coin(size: int, word: int) -> None:
    """``even`` agrees with the coin for any size and word, also beside a cell's border."""
    cell = Words([word]).even(size)
    for near in {word, WORD * cell // size, WORD * (cell + 1) // size - 1, WORD - 1} - {WORD}:
        words = np.array([WORD - 1, near], np.uint32)
        out = np.empty(1, np.uint32)
        _kernels.even_coins(np.zeros(1, np.uint32), words, out, np.uint64(1), np.uint64(size))
        assert out[0] == Words([near]).even(size)


@given(st.integers(1, 2**61 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**64))
def test_remainders_by_multiplication_are_remainders(bound: int, number: int, times: int) -> None:
    """``remainder`` is %, also just below and above a multiple."""
    magic = np.uint64((2**64 - 1) // bound)
    for near in (number, bound * times % 2**64, (bound * times - 1) % 2**64, 2**64 - 1):
        found = _kernels.remainder(np.uint64(near), np.uint64(bound), magic)
        assert int(found) == near % bound
