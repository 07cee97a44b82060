"""The four tosses, at every boundary of their words."""

from __future__ import annotations

import math

import pytest

from deniable.channels.coin import WORD, SystemCoin
from deniable.channels.exact import bounds_of, even_weights
from deniable.testing import ScriptedCoin, enumerate_paths


@pytest.mark.parametrize("head", [1, 2**31, WORD - 1])
def test_heads_is_true_for_exactly_head_words(head: int) -> None:
    """The word just below ``head`` is heads and ``head`` itself is tails."""
    assert ScriptedCoin([0]).heads(head)
    assert ScriptedCoin([head - 1]).heads(head)
    assert not ScriptedCoin([head]).heads(head)


def test_pick_gives_every_cell_its_interval() -> None:
    """The first and the last word of a cell's interval give the cell."""
    weights = (5, 1, WORD - 10, 4)
    bounds = bounds_of(weights)
    low = 0
    for cell, high in enumerate(bounds):
        assert ScriptedCoin([low]).pick(bounds) == cell
        assert ScriptedCoin([high - 1]).pick(bounds) == cell
        low = high


@pytest.mark.parametrize("size", [2, 3, 7, 64, 1000, 65_537])
def test_even_is_the_pick_of_even_weights(size: int) -> None:
    """The arithmetic of ``even`` agrees with searching its weights, at every edge."""
    bounds = bounds_of(even_weights(size))
    edges = {0, WORD - 1, *bounds[:-1], *(bound - 1 for bound in bounds)}
    for word in edges:
        assert ScriptedCoin([word]).even(size) == ScriptedCoin([word]).pick(bounds)


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 2**31 + 1])
def test_below_rejects_the_incomplete_last_stretch(bound: int) -> None:
    """Numbers of the last incomplete stretch are thrown again; all others count alike."""
    limit = WORD**2 - WORD**2 % bound
    last = divmod(limit - 1, WORD)
    assert ScriptedCoin(last).below(bound) == bound - 1
    if limit < WORD**2:
        coin = ScriptedCoin([*divmod(limit, WORD), 0, 5])
        assert coin.below(bound) == 5 % bound
        assert coin.spent == 4


def test_system_coin_yields_words() -> None:
    """The operating system's coin stays in range and does not repeat itself."""
    words = [SystemCoin().word() for _ in range(64)]
    assert all(0 <= word < WORD for word in words)
    assert len(set(words)) > 60  # 64 words repeat four times with probability below 1e-20


def test_enumeration_walks_every_path_once() -> None:
    """Three draws without return have 60 paths that sum to one."""
    paths = list(enumerate_paths(lambda coin: (coin.below(5), coin.below(4), coin.below(3))))
    assert len(paths) == math.perm(5, 3)
    assert len({outcome for outcome, _ in paths}) == 60
    assert sum(probability for _, probability in paths) == 1
