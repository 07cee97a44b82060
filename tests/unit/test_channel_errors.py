"""Channels refuse what is no channel, in one sentence."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pytest

from deniable.channels import (
    KAry,
    LocalHash,
    Matrix,
    SubsetSelection,
    TwoCoin,
    Unary,
    best,
    channel_for,
    channel_from_dict,
    channel_to_dict,
    epsilon_of,
    format_epsilon,
    k_ary,
    keeps_floor,
    local_hash,
    rounded_laplace,
    subset,
    symmetric_unary,
    two_coin,
    warner,
)
from deniable.channels.choose import BUILDERS
from deniable.channels.coin import WORD
from deniable.errors import ChannelError, EpsilonError, ReportError

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.channels import Channel

HALF = WORD // 2


@pytest.mark.parametrize(
    "epsilon",
    [
        *(0, -1, math.nan, math.inf, True, "1", None, 1j),
        *(2.0**-33, 1e-12, 1e-17, 1e-300, 5e-324, Decimal("sNaN"), np.float64("nan")),
    ],
)
def test_a_level_that_is_none_is_refused(epsilon: float) -> None:
    """Zero, negative, infinite, missing and unreachably small levels are errors."""
    for build in BUILDERS.values():
        with pytest.raises(EpsilonError):
            build(epsilon, 4)
    with pytest.raises(EpsilonError):
        best(epsilon, 4)


@pytest.mark.parametrize("epsilon", [1, 1.0, Decimal(1), np.float64(1), np.float32(1), np.int64(1)])
def test_a_level_may_be_any_kind_of_number(epsilon: float) -> None:
    """One is one, whoever counts: NumPy's numbers give the channel of Python's."""
    for build in BUILDERS.values():
        assert build(epsilon, 4) == build(1.0, 4)


def test_a_level_beyond_any_coin_is_a_level() -> None:
    """However much is allowed, a 32-bit coin spends what it can."""
    assert epsilon_of(k_ary(10**400, 4)) == epsilon_of(k_ary(44.0, 4)) < 44.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TwoCoin(HALF, (WORD, 0)), "fake weight"),
        (lambda: TwoCoin(HALF, (HALF, HALF - 1)), "sum to"),
        (lambda: TwoCoin(0, (HALF, HALF)), "strictly between"),
        (lambda: TwoCoin(WORD, (HALF, HALF)), "strictly between"),
        (lambda: TwoCoin(HALF, (WORD,)), "two cells"),
        (lambda: KAry(HALF, 1), "two cells"),
        (lambda: KAry(head=True, size=2), "strictly between"),
        (lambda: SubsetSelection(HALF, 4, 4), "subset"),
        (lambda: SubsetSelection(HALF, 4, 0), "subset"),
        (lambda: subset(1.0, 4, 9), "subset"),
        (lambda: Matrix(((HALF, HALF), (WORD,))), "differ in length"),
        (lambda: Matrix(((HALF, HALF), (HALF, HALF - 1))), "row 1"),
        (lambda: Unary(HALF, HALF, 3), "kept more often"),
        (lambda: LocalHash(HALF, 2, 10, prime=9), "prime"),
        (lambda: LocalHash(HALF, 2, 10, prime=7), "prime"),
        (lambda: warner(0.5), "above 1/2"),
        (lambda: two_coin(1.0, [1.0, 0.0]), "no finite epsilon"),
        (lambda: two_coin(1.0, [0.5, 0.4]), "sum to 1"),
        (lambda: two_coin(1.0, [0.5, math.nan]), "finite"),
        (lambda: two_coin(1.0, [0.5, 0.5], floor=2), "floor"),
        (lambda: two_coin(1.0, [-0.05, 1.05], floor=0.5), "not negative"),
        (lambda: two_coin(1.0, [0.5, 0.4], floor=1), "sum to 1"),
        (lambda: channel_for("k-arry", 1.0, 4), "k-ary"),
    ],
)
def test_what_is_no_channel_is_refused(make: Callable[[], Channel], words: str) -> None:
    """Each malformed channel is one clear error."""
    with pytest.raises(ChannelError, match=words):
        make()


@pytest.mark.parametrize(
    ("channel", "report"),
    [
        (k_ary(1.0, 4), (4,)),
        (k_ary(1.0, 4), (-1,)),
        (k_ary(1.0, 4), (True,)),
        (k_ary(1.0, 4), ()),
        (two_coin(1.0, [0.5, 0.5]), (0, 0)),
        (subset(1.0, 6, 2), (1, 1)),
        (subset(1.0, 6, 2), (2, 1)),
        (subset(1.0, 6, 2), (1,)),
        (subset(1.0, 6, 2), (1, 6)),
        (symmetric_unary(1.0, 3), (8,)),
        (symmetric_unary(1.0, 3), (1, 1)),
        (local_hash(1.0, 9), (65_537, 0, 0)),
        (local_hash(1.0, 9), (0, 0, 99)),
        (local_hash(1.0, 9), (0, 0)),
    ],
)
def test_impossible_reports_are_refused(channel: Channel, report: tuple[int, ...]) -> None:
    """A hostile −1 is an error and is never credited to the last category."""
    with pytest.raises(ReportError):
        channel.check(report)


@pytest.mark.parametrize(
    "channel",
    [
        k_ary(1.0, 5),
        two_coin(1.0, [0.2, 0.8]),
        subset(1.0, 9),
        rounded_laplace(1.0, 4),
        symmetric_unary(1.0, 40),
        local_hash(1.0, 40),
    ],
    ids=lambda channel: channel.kind,
)
def test_the_wire_form_comes_back_equal(channel: Channel) -> None:
    """A channel written as plain data and read again is the same record."""
    assert channel_from_dict(channel_to_dict(channel)) == channel


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "must be an object"),
        ({"kind": "karry"}, "'k-ary'"),
        ({"kind": "k-ary", "head": 1}, "lacks 'size'"),
        ({"kind": "k-ary", "head": 1, "size": 2, "sice": 3}, "unknown field 'sice'"),
        ({"kind": "k-ary", "head": 0.5, "size": 2}, "strictly between"),
        ({"kind": "two-coin", "head": 1, "fake": 7}, "invalid|integer|list"),
        ({"kind": "matrix", "rows": [1, 2]}, "row"),
    ],
)
def test_a_malformed_wire_form_is_an_error(data: object, words: str) -> None:
    """Unknown kinds and fields name the nearest known one."""
    with pytest.raises(ChannelError, match=words):
        channel_from_dict(data)


def test_a_matrix_with_a_bare_zero_has_no_finite_level() -> None:
    """A report that only one answer can give proves it: the level is infinite."""
    bare = Matrix(((WORD, 0), (HALF, HALF)))
    assert math.isinf(epsilon_of(bare))


def test_floors_are_kept_and_seen_to_be_broken() -> None:
    """A fake distribution below the agreed floor is recognised."""
    kept = two_coin(1.0, [1.0, 0.0], floor=0.2)
    assert keeps_floor(kept, 0.2)
    assert not keeps_floor(kept, 0.21)
    assert keeps_floor(k_ary(1.0, 3), 1.0)


def test_epsilon_is_printed_rounded_up() -> None:
    """A printed level is never below the true one."""
    assert format_epsilon(0.12301) == "0.124"
    assert format_epsilon(math.inf) == "∞"


def test_best_changes_from_k_ary_to_subset_near_the_known_size() -> None:
    """k-ary is chosen while m is at most about 1.5(e^ε + 1), subset selection above."""
    for epsilon in (0.5, 1.0, 2.0):
        turn = 1.5 * (math.exp(epsilon) + 1)
        assert best(epsilon, max(2, int(turn) - 1)).kind == "k-ary"
        assert best(epsilon, int(turn) + 2).kind == "subset"
