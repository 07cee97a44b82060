"""Channels refuse what is no channel, in one sentence."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from deniable.channels import (
    KAry,
    LocalHash,
    Matrix,
    SubsetSelection,
    SystemCoin,
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
    matrix,
    optimized_unary,
    rounded_laplace,
    subset,
    symmetric_unary,
    two_coin,
    warner,
)
from deniable.channels.choose import BUILDERS
from deniable.channels.coin import WORD
from deniable.errors import AnswerError, ChannelError, EpsilonError, ReportError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deniable.channels import Channel

HALF = WORD // 2


def anything(value: Any) -> Any:  # noqa: ANN401 -- what no type checker would let pass
    """Return a value as if it were of the right type."""
    return value


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


def test_shares_may_be_any_kind_of_number() -> None:
    """Arrays, fractions and decimals are probabilities like floats."""
    for share in (Decimal("0.75"), Fraction(3, 4), np.float64(0.75), np.float32(0.75)):
        assert warner(anything(share)) == warner(0.75)
    half = two_coin(1.0, [0.5, 0.5])
    assert two_coin(1.0, anything(np.array([0.5, 0.5]))) == half
    assert two_coin(1.0, (0.5, 0.5), floor=anything(np.float32(0.5))) == half
    assert two_coin(1.0, (0.5, 0.5), floor=anything(Decimal("0.5"))) == half
    assert keeps_floor(half, anything(np.float32(0.5)))
    table = [[0.75, 0.25], [0.25, 0.75]]
    assert matrix(anything(np.array(table))) == matrix(table)


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
        (lambda: channel_for(anything(None), 1.0, 4), "no channel called None.*'k-ary'"),
        (lambda: channel_for(anything([]), 1.0, 4), "no channel called"),
        (lambda: warner(anything("1")), "Warner.*given: '1'"),
        (lambda: warner(anything(None)), "Warner"),
        (lambda: warner(math.nan), "Warner"),
        (lambda: warner(1.0), "Warner"),
        (lambda: warner(10**400), "Warner"),
        (lambda: two_coin(1.0, anything(None)), "list of numbers.*given: 'NoneType'"),
        (lambda: two_coin(1.0, anything(None), floor=0.1), "list of numbers"),
        (lambda: two_coin(1.0, anything(["a", "b"])), "list of numbers"),
        (lambda: two_coin(1.0, anything("ab")), "list of numbers.*given: 'str'"),
        (lambda: two_coin(1.0, anything({0: 0.5, 1: 0.5})), "list of numbers"),
        (lambda: two_coin(1.0, [0.5, 0.5], floor=anything("x")), "floor.*given: 'x'"),
        (lambda: two_coin(1.0, [0.5, 0.5], floor=anything(Decimal("NaN"))), "floor"),
        (lambda: two_coin(1.0, [1.0], floor=0.5), "two cells"),
        (lambda: matrix(anything("ab")), "list of rows.*given: 'str'"),
        (lambda: matrix(anything(None)), "list of rows"),
        (lambda: matrix(anything([1, 2])), "list of numbers"),
        (lambda: matrix(anything(["a", "b"])), "list of numbers"),
    ],
)
def test_what_is_no_channel_is_refused(make: Callable[[], Channel], words: str) -> None:
    """Each malformed channel is one clear error."""
    with pytest.raises(ChannelError, match=words):
        make()


ONE_OF_EACH = [
    k_ary(1.0, 5),
    warner(0.75),
    two_coin(1.0, [0.2, 0.8]),
    subset(1.0, 9),
    matrix([[0.75, 0.25], [0.25, 0.75]]),
    rounded_laplace(1.0, 4),
    optimized_unary(1.0, 40),
    local_hash(1.0, 40),
]


class NoCoin:
    """A coin that must not be tossed."""

    def heads(self, head: int) -> bool:
        """Fail."""
        raise AssertionError(head)

    def pick(self, bounds: Sequence[int]) -> int:
        """Fail."""
        raise AssertionError(bounds)

    def even(self, size: int) -> int:
        """Fail."""
        raise AssertionError(size)

    def below(self, bound: int) -> int:
        """Fail."""
        raise AssertionError(bound)


@pytest.mark.parametrize("answer", ["secret", "1", b"1", -1, -7, 1_234_567, 1.5, 1.0, None, [1]])
@pytest.mark.parametrize("channel", ONE_OF_EACH, ids=lambda channel: channel.kind)
def test_an_answer_that_is_no_cell_is_refused_before_any_coin(
    channel: Channel,
    answer: Any,  # noqa: ANN401 -- whatever somebody may pass
) -> None:
    """Nothing but a cell can be reported as one, and the error does not name it."""
    with pytest.raises(AnswerError, match=f"from 0 to {channel.size - 1}") as caught:
        channel.randomize(answer, NoCoin())
    assert str(caught.value) == (
        "a channel randomizes the number of a cell, and this answer is none; "
        f"expected an integer from 0 to {channel.size - 1}."
    )
    with pytest.raises(AnswerError):
        channel.randomize(channel.size, NoCoin())


@pytest.mark.parametrize("channel", ONE_OF_EACH, ids=lambda channel: channel.kind)
def test_a_cell_may_be_any_kind_of_integer(channel: Channel) -> None:
    """NumPy's integers are answers too, and their reports are made of plain ones."""
    for answer in (1, np.int64(1), np.uint8(1)):
        report = channel.randomize(cast("int", answer), SystemCoin())
        channel.check(report)
        assert {type(number) for number in report} <= {int}


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
