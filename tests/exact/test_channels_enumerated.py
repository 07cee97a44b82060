"""Every path of every channel is walked, and fractions are compared with ``==``."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import pytest

from deniable.channels import (
    KAry,
    LocalHash,
    Matrix,
    SubsetSelection,
    TwoCoin,
    Unary,
    epsilon_of,
    estimate,
    k_ary,
    local_hash,
    matrix,
    optimized_unary,
    rounded_laplace,
    subset,
    support_of,
    supports,
    symmetric_unary,
    total_variation_of,
    two_coin,
    uniform_two_coin,
    variances,
    warner,
)
from deniable.channels.coin import WORD
from deniable.testing import enumerate_channel

if TYPE_CHECKING:
    from deniable.channels import Channel

SMALL: dict[str, Channel] = {
    "k-ary of 2": k_ary(1.0, 2),
    "k-ary of 3, which does not divide 2^32": k_ary(0.5, 3),
    "k-ary of 16": k_ary(4.0, 16),
    "Warner": warner(0.75),
    "two coins, uneven": two_coin(1.0, [0.5, 0.3, 0.2]),
    "two coins with a floor": two_coin(2.0, [0.9, 0.1, 0, 0], floor=0.2),
    "subset of 1": subset(1.0, 4, 1),
    "subset of 2 out of 5": subset(1.0, 5, 2),
    "subset of 3 out of 7": subset(0.25, 7, 3),
    "matrix": matrix([[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]),
    "rounded Laplace": rounded_laplace(1.0, 5),
    "symmetric unary": symmetric_unary(1.0, 4),
    "optimized unary": optimized_unary(1.0, 5),
    "hash over a field of 5": LocalHash(k_ary(1.0, 3).head, 3, 4, prime=5),
    "hash over a field of 7": LocalHash(k_ary(2.0, 2).head, 2, 6, prime=7),
}


@pytest.fixture(params=list(SMALL.values()), ids=list(SMALL))
def channel(request: pytest.FixtureRequest) -> Channel:
    """Every small channel in turn."""
    found: Channel = request.param
    return found


def assert_certified(certified: float, worst: Fraction) -> None:
    """Compare a certificate with the log of a ratio, beyond the precision of floats."""
    with localcontext() as context:
        context.prec = 50
        true = (Decimal(worst.numerator) / Decimal(worst.denominator)).ln()
        assert true <= Decimal(certified) <= true + Decimal("1e-9")


def test_enumerated_probabilities_equal_the_stated_fractions(channel: Channel) -> None:
    """Walking every path of the coins gives exactly the probabilities that are stated."""
    for answer in range(channel.size):
        walked = enumerate_channel(channel, answer)
        stated = {report: channel.probability(report, answer) for report in channel.reports()}
        assert walked == {report: p for report, p in stated.items() if p}
        assert sum(walked.values()) == 1


def test_certified_epsilon_is_the_enumerated_maximum(channel: Channel) -> None:
    """The certified level is at least the true worst case and within 1e-9 of it."""
    worst = Fraction(1)
    for report in channel.reports():
        seen = [channel.probability(report, answer) for answer in range(channel.size)]
        worst = max(worst, max(seen) / min(seen))
    assert Fraction(*channel.worst_ratio()) == worst
    assert_certified(epsilon_of(channel), worst)


def test_checks_accept_exactly_the_reports_that_occur(channel: Channel) -> None:
    """Every report that a channel yields passes its own check and has its width."""
    for report in channel.reports():
        channel.check(report)
        assert len(report) == channel.width


def test_inverse_is_unbiased_exactly(channel: Channel) -> None:
    """The expectation of the estimate over all reports of an answer is that answer."""
    for answer in range(channel.size):
        expected = [Fraction(0)] * channel.size
        for report, probability in enumerate_channel(channel, answer).items():
            for cell, value in enumerate(estimate(channel, [report])):
                expected[cell] += probability * value
        assert expected == [Fraction(int(cell == answer)) for cell in range(channel.size)]


def test_stated_variance_is_the_enumerated_one(channel: Channel) -> None:
    """The variance formula equals the variance over all paths, for an uneven truth."""
    weights = [Fraction(cell + 1) for cell in range(channel.size)]
    truth = [weight / sum(weights) for weight in weights]
    second = [Fraction(0)] * channel.size
    for answer, share in enumerate(truth):
        for report, probability in enumerate_channel(channel, answer).items():
            for cell, value in enumerate(estimate(channel, [report])):
                second[cell] += share * probability * value**2
    enumerated = tuple(s - t**2 for s, t in zip(second, truth, strict=True))
    assert variances(channel, truth) == enumerated


@pytest.mark.parametrize(
    "name", [name for name in SMALL if "matrix" not in name and "Lap" not in name]
)
def test_support_probabilities_are_the_enumerated_ones(name: str) -> None:
    """The chance that a report supports a cell is slope·[truth] + offset, exactly."""
    channel = SMALL[name]
    support = support_of(channel)
    for answer, cell in product(range(channel.size), repeat=2):
        walked = enumerate_channel(channel, answer).items()
        seen = sum((p for report, p in walked if supports(channel, report, cell)), Fraction(0))
        assert seen == support.slope * (answer == cell) + support.offsets[cell]


def test_total_variation_is_the_enumerated_one(channel: Channel) -> None:
    """The stated advantage of a guess between two answers is the largest enumerated one."""
    rows = [enumerate_channel(channel, answer) for answer in range(channel.size)]
    worst = max(
        sum(
            (abs(one.get(y, Fraction(0)) - two.get(y, Fraction(0))) for y in {*one, *two}),
            Fraction(0),
        )
        / 2
        for one, two in product(rows, repeat=2)
    )
    assert total_variation_of(channel) == worst


@pytest.mark.parametrize("size", [2, 3, 5, 7, 16, 33, 64])
@pytest.mark.parametrize("epsilon", [0.05, 0.25, 1.0, 2.0, 8.0])
def test_built_channels_reach_the_asked_level_and_never_pass_it(size: int, epsilon: float) -> None:
    """k-ary, two-coin, subset and unary channels come within 1e-6 below what was asked."""
    uneven = [2.0 * (cell + 1) / size / (size + 1) for cell in range(size)]
    built: list[Channel] = [
        k_ary(epsilon, size),
        two_coin(epsilon, uneven),
        subset(epsilon, size),
        symmetric_unary(epsilon, size),
        optimized_unary(epsilon, size),
        local_hash(epsilon, size),
    ]
    for channel in built:
        assert epsilon - 1e-6 < epsilon_of(channel) <= epsilon, channel.kind


@pytest.mark.parametrize("size", range(2, 65))
def test_certificates_hold_for_every_size_up_to_64(size: int) -> None:
    """k-ary and two coins, walked path by path: the certificate is the worst ratio that occurs."""
    epsilon = (0.05, 0.5, 1.0, 2.0, 8.0)[size % 5]
    fake = [float(2 ** (cell % 5)) for cell in range(size)]
    for channel in (k_ary(epsilon, size), two_coin(epsilon, [f / sum(fake) for f in fake])):
        rows = [enumerate_channel(channel, answer) for answer in range(size)]
        columns = [[row[report] for row in rows] for report in channel.reports()]
        for report, column in zip(channel.reports(), columns, strict=True):
            assert column == [channel.probability(report, answer) for answer in range(size)]
        assert_certified(epsilon_of(channel), max(max(seen) / min(seen) for seen in columns))
        assert epsilon - 1e-6 < epsilon_of(channel) <= epsilon


def test_k_ary_is_exactly_the_even_two_coin_channel() -> None:
    """A k-ary channel and its two-coin form state the same probabilities."""
    for size in (2, 3, 7, 16):
        one = k_ary(1.0, size)
        two = uniform_two_coin(one.head, size)
        for y, x in product(range(size), repeat=2):
            assert one.probability((y,), x) == two.probability((y,), x)
        assert one.worst_ratio() == two.worst_ratio()


def test_published_level_of_two_coins_is_not_the_true_one() -> None:
    """At p = 1/2 the published ln(1/(1-p)) = 0.693 is 1.10, 1.61 and 2.83 in truth."""
    half = WORD // 2
    for size, true in ((2, 1.10), (4, 1.61), (16, 2.83)):
        assert round(epsilon_of(KAry(half, size)), 2) == true


def test_two_coin_total_variation_is_p() -> None:
    """Between any two answers the reports differ by exactly p in total variation."""
    channel = TwoCoin(WORD // 3, (WORD - 2, 1, 1))
    assert total_variation_of(channel) == Fraction(WORD // 3, WORD)


def test_a_wrong_channel_is_caught() -> None:
    """A channel whose last bit is never randomized does not equal its stated fractions."""

    class LastBitBare(Unary):
        def randomize(self, answer: int, coin: object) -> tuple[int, ...]:
            (word,) = super().randomize(answer, coin)  # type: ignore[arg-type]
            last = 1 << (self.size - 1)
            return ((word & ~last) | (last if answer == self.size - 1 else 0),)

    wrong = LastBitBare(WORD // 2, WORD // 4, 3)
    walked = enumerate_channel(wrong, 0)
    assert walked != {report: wrong.probability(report, 0) for report in wrong.reports()}


def lengths(channel: Channel, answer: int) -> set[int]:
    """Return how long the reports of an answer can be, as they are written down."""
    return {len(str(list(report))) for report in enumerate_channel(channel, answer)}


def test_the_length_of_a_report_rules_out_no_answer(channel: Channel) -> None:
    """Whatever the answer, its reports come in the same lengths, from one digit to many."""
    assert len({frozenset(lengths(channel, answer)) for answer in range(channel.size)}) == 1


def test_a_length_that_tells_the_answer_is_caught() -> None:
    """A bare answer is as long as it is: answer 10 takes a digit more than answer 9."""
    bare = Matrix(tuple(tuple(WORD * (x == y) for y in range(11)) for x in range(11)))
    assert lengths(bare, 9) != lengths(bare, 10)


def test_matrix_inverse_refuses_a_singular_channel() -> None:
    """A channel whose rows are equal has no inverse, and says so."""
    same = Matrix(((WORD // 2, WORD // 2), (WORD // 2, WORD // 2)))
    with pytest.raises(Exception, match="no inverse"):
        estimate(same, [(0,)])


def test_subset_selection_beats_k_ary_where_it_should() -> None:
    """At m = 16, ε = 1 the variance falls 1.9 times and at m = 36, ε = 1/4 7.3 times."""
    for size, epsilon, gain in ((16, 1.0, 1.9), (36, 0.25, 7.3)):
        even = [Fraction(1, size)] * size
        ratio = sum(variances(k_ary(epsilon, size), even)) / sum(
            variances(subset(epsilon, size), even)
        )
        assert ratio == pytest.approx(gain, rel=0.03)
    assert isinstance(subset(1.0, 16), SubsetSelection)
