"""Unary encoding: one coin for each cell. Kept for comparison with peers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, ClassVar

from deniable.channels.coin import WORD
from deniable.channels.exact import asked_epsilon, cell_of, check_head, check_size, odds_out_of
from deniable.errors import ChannelError, ReportError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deniable.channels.coin import Coin
    from deniable.channels.contract import Value

BITS = 32


@dataclass(frozen=True, slots=True)
class Unary:
    """Bit x is 1 with probability keep / 2³², every other bit with flip / 2³².

    A report is the bits in words of 32, the first cell lowest.
    """

    kind: ClassVar[str] = "unary"

    keep: int
    flip: int
    size: int

    def __post_init__(self) -> None:
        """Refuse what is not a channel."""
        check_head(self.keep, "keep")
        check_head(self.flip, "flip")
        check_size(self.size)
        if self.keep <= self.flip:
            problem = "a true bit must be kept more often than another is flipped"
            raise ChannelError(problem, given=(self.keep, self.flip), expected="keep > flip")

    @property
    def width(self) -> int:
        """Return the number of 32-bit words that hold one bit a cell."""
        return -(-self.size // BITS)

    def randomize(self, answer: int, coin: Coin) -> Value:
        """Toss one coin for each cell."""
        answer = cell_of(answer, self.size)
        bits = [coin.heads(self.keep if cell == answer else self.flip) for cell in range(self.size)]
        return pack_bits(bits)

    def probability(self, report: Value, answer: int) -> Fraction:
        """Return P(report | answer) exactly."""
        result = Fraction(1)
        for cell in range(self.size):
            one = self.keep if cell == answer else self.flip
            bit = report[cell // BITS] >> cell % BITS & 1
            result *= Fraction(one if bit else WORD - one, WORD)
        return result

    def reports(self) -> Iterator[Value]:
        """Yield every pattern of bits."""
        return (pack_bits(bits) for bits in product((False, True), repeat=self.size))

    def check(self, report: Value) -> None:
        """Raise ``ReportError`` unless the report is one bit for each cell."""
        if len(report) != self.width:
            problem = "a report of this channel is one bit for each cell"
            raise ReportError(problem, given=f"{len(report)} words", expected=f"{self.width}")
        for number, word in enumerate(report):
            bits = min(BITS, self.size - BITS * number)
            if isinstance(word, bool) or not isinstance(word, int) or not 0 <= word < 1 << bits:
                problem = "a reported word of bits is out of range"
                raise ReportError(problem, given=word, expected=f"at most {bits} bits")

    def worst_ratio(self) -> tuple[int, int]:
        """Return keep·(1 − flip) / ((1 − keep)·flip): two bits differ between two answers."""
        return self.keep * (WORD - self.flip), (WORD - self.keep) * self.flip


def pack_bits(bits: list[bool] | tuple[bool, ...]) -> Value:
    """Return bits as 32-bit words, the first lowest.

    >>> pack_bits([True, False, True])
    (5,)
    """
    chunks = (bits[start : start + BITS] for start in range(0, len(bits), BITS))
    return tuple(sum(bit << place for place, bit in enumerate(chunk)) for chunk in chunks)


def symmetric_unary(epsilon: float, size: int) -> Unary:
    """Return the channel whose bits are flipped alike: p = e^(ε/2) / (e^(ε/2) + 1)."""
    keep = odds_out_of(float(asked_epsilon(epsilon)) / 2, 1, 1)
    return Unary(keep, WORD - keep, size)


def optimized_unary(epsilon: float, size: int) -> Unary:
    """Return the channel of least variance at small π: p = 1/2, q = 1 / (e^ε + 1)."""
    return Unary(WORD // 2, WORD - odds_out_of(epsilon, 1, 1), size)
