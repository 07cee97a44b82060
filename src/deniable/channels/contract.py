"""The page of promises: what every channel is and does."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from deniable.channels.coin import Coin

Value: TypeAlias = tuple[int, ...]
"""What leaves the device for one group: ``channel.width`` integers."""


class Channel(Protocol):
    """P(report | answer) for one group of m cells, in exact integers.

    A channel is a frozen record. Its ε, inverse and variance are functions of it
    (``deniable.channels.privacy``, ``deniable.channels.moments``).
    """

    kind: ClassVar[str]

    @property
    def size(self) -> int:
        """Return the number of cells an answer may take."""

    @property
    def width(self) -> int:
        """Return the number of integers in a report."""

    def randomize(self, answer: int, coin: Coin) -> Value:
        """Toss the coins and return a report of ``answer``.

        Raises:
            AnswerError: The answer is no cell. No coin was tossed, and it is not named.
        """

    def probability(self, report: Value, answer: int) -> Fraction:
        """Return P(report | answer) exactly."""

    def reports(self) -> Iterator[Value]:
        """Yield every report that can occur, once; long for large channels."""

    def check(self, report: Value) -> None:
        """Raise ``ReportError`` unless the report can occur."""

    def worst_ratio(self) -> tuple[int, int]:
        """Return the largest P(y|x)/P(y|x') as numerator and denominator (0 if unbounded)."""
