"""Two coins (Imran eq. 3): heads, the truth; tails, a fake cell drawn from T."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from deniable.channels.coin import WORD
from deniable.channels.exact import (
    bounds_of,
    cell_of,
    check_head,
    check_probabilities,
    check_size,
    check_weights,
    even_weights,
    fraction_of,
    is_share,
    truth_out_of,
    weights_from,
)
from deniable.channels.k_ary import check_cell
from deniable.errors import ChannelError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deniable.channels.coin import Coin
    from deniable.channels.contract import Value


@dataclass(frozen=True, slots=True)
class TwoCoin:
    """P(y|x) = p·[y = x] + (1 − p)·T[y], with p = head / 2³² and T = fake / 2³².

    Every fake weight is at least 1: a report never proves an answer.
    """

    kind: ClassVar[str] = "two-coin"

    head: int
    fake: tuple[int, ...]
    bounds: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse what is not a channel."""
        check_head(self.head)
        check_weights(self.fake, "the fake weights")
        check_size(len(self.fake))
        if min(self.fake) < 1:
            problem = "every fake weight must be an integer of at least 1"
            given = f"smallest {min(self.fake)}"
            expected = "a fake distribution with a floor: a cell never faked proves an answer"
            raise ChannelError(problem, given=given, expected=expected)
        object.__setattr__(self, "bounds", bounds_of(self.fake))

    @property
    def size(self) -> int:
        """Return the number of cells."""
        return len(self.fake)

    @property
    def width(self) -> int:
        """Return 1: a report is one cell."""
        return 1

    def randomize(self, answer: int, coin: Coin) -> Value:
        """Toss both coins, always, and return the cell they decide."""
        answer = cell_of(answer, self.size)
        truth = coin.heads(self.head)
        fake = coin.pick(self.bounds)
        return (answer if truth else fake,)

    def probability(self, report: Value, answer: int) -> Fraction:
        """Return P(report | answer) exactly."""
        (cell,) = report
        truth = WORD * self.head if cell == answer else 0
        return Fraction(truth + (WORD - self.head) * self.fake[cell], WORD * WORD)

    def reports(self) -> Iterator[Value]:
        """Yield every cell."""
        return ((cell,) for cell in range(self.size))

    def check(self, report: Value) -> None:
        """Raise ``ReportError`` unless the report is one cell of the group."""
        check_cell(report, self.size)

    def worst_ratio(self) -> tuple[int, int]:
        """Return 1 + p / ((1 − p)·min T) as a ratio of integers."""
        lie = (WORD - self.head) * min(self.fake)
        return WORD * self.head + lie, lie


def with_floor(fake: Sequence[float], floor: float) -> tuple[int, ...]:
    """Return the weights of T' = (1 − g)·T + g/m, the fake distribution with floor g.

    No weight falls below the share ⌊g·2³²/m⌋ that the floor promises.
    """
    if not is_share(floor) or not floor:
        problem = "the floor of a fake distribution must be above 0 and at most 1"
        raise ChannelError(problem, given=floor, expected="a share such as 0.1")
    check_probabilities(fake)  # the floor would hide what is wrong with T
    check_size(len(fake))
    size = len(fake)
    evened = float(floor)
    mixed = [(1 - evened) * value + evened / size for value in fake]
    return weights_from(mixed, least=least_weight(floor, size))


def least_weight(floor: float, size: int) -> int:
    """Return the smallest fake weight that a floor of g over m cells allows."""
    return max(1, int(fraction_of(floor) * WORD / size))


def two_coin(epsilon: float, fake: Sequence[float], *, floor: float = 0.0) -> TwoCoin:
    """Return the most truthful two-coin channel of at most ``epsilon`` that fakes from T.

    >>> two_coin(1.0, [0.25, 0.75]).size
    2
    """
    weights = with_floor(fake, floor) if floor else weights_from(fake)
    if min(weights) < 1:
        problem = "a fake distribution with an empty cell has no finite epsilon"
        raise ChannelError(problem, given=list(fake)[:8], expected="a floor above 0")
    return TwoCoin(truth_out_of(epsilon, min(weights)), weights)


def uniform_two_coin(head: int, size: int) -> TwoCoin:
    """Return the two-coin channel that a k-ary one of the same truth coin is."""
    return TwoCoin(head, even_weights(size))
