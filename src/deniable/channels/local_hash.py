"""Local hashing: k-ary randomized response on a random hash. Kept for comparison with peers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, ClassVar

from deniable.channels.exact import asked_epsilon, cell_of, check_head, check_size
from deniable.channels.k_ary import KAry, check_cells, k_ary
from deniable.errors import ChannelError, ReportError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deniable.channels.coin import Coin
    from deniable.channels.contract import Value

FIELD = 65_537
"""The default prime field: larger than any attribute, small enough for plain arithmetic."""


@dataclass(frozen=True, slots=True)
class LocalHash:
    """A report (a, b, y): y is the k-ary report of ((a·x + b) mod prime) mod buckets.

    The hash (a, b) is drawn without looking at the answer, so ε is that of the k-ary
    channel over the buckets, and the family is exactly pairwise independent over the field.
    """

    kind: ClassVar[str] = "local-hash"

    head: int
    buckets: int
    size: int
    prime: int = FIELD

    def __post_init__(self) -> None:
        """Refuse what is not a channel."""
        check_head(self.head)
        check_size(self.size)
        check_size(self.buckets, "a hash")
        prime = self.prime
        known = isinstance(prime, int) and prime <= FIELD and is_prime(prime)
        if not known or self.size > prime or self.buckets > prime:
            problem = "a hash needs a prime field as large as the cells and the buckets"
            raise ChannelError(problem, given=prime, expected=f"a prime up to {FIELD}")

    @property
    def width(self) -> int:
        """Return 3: two numbers that name the hash, and the reported bucket."""
        return 3

    @property
    def inner(self) -> KAry:
        """Return the k-ary channel over the buckets."""
        return KAry(self.head, self.buckets)

    def bucket(self, factor: int, shift: int, cell: int) -> int:
        """Return the bucket into which a hash puts a cell."""
        return (factor * cell + shift) % self.prime % self.buckets

    def randomize(self, answer: int, coin: Coin) -> Value:
        """Draw a hash, then randomize the answer's bucket."""
        answer = cell_of(answer, self.size)
        factor = coin.below(self.prime)
        shift = coin.below(self.prime)
        return factor, shift, *self.inner.randomize(self.bucket(factor, shift, answer), coin)

    def probability(self, report: Value, answer: int) -> Fraction:
        """Return P(report | answer) exactly."""
        factor, shift, reported = report
        inner = self.inner.probability((reported,), self.bucket(factor, shift, answer))
        return inner / self.prime**2

    def reports(self) -> Iterator[Value]:
        """Yield every hash with every bucket."""
        return product(range(self.prime), range(self.prime), range(self.buckets))

    def check(self, report: Value) -> None:
        """Raise ``ReportError`` unless the report names a hash and a bucket."""
        if len(report) != self.width:
            problem = "a report of this channel is a hash and a bucket"
            raise ReportError(problem, given=f"{len(report)} numbers", expected="3 numbers")
        check_cells(report[:2], self.prime)
        check_cells(report[2:], self.buckets)

    def worst_ratio(self) -> tuple[int, int]:
        """Return the k-ary channel's ratio over the buckets."""
        return self.inner.worst_ratio()

    def bucket_share(self, bucket: int) -> Fraction:
        """Return the share of the field that falls into a bucket."""
        whole, longer = divmod(self.prime, self.buckets)
        return Fraction(whole + (bucket < longer), self.prime)


def is_prime(number: int) -> bool:
    """Tell whether a small number is prime.

    >>> is_prime(65_537)
    True
    """
    return number > 1 and all(number % factor for factor in range(2, math.isqrt(number) + 1))


MOST_USEFUL = 10.0
"""Beyond this level more buckets than the field has would be best."""


def local_hash(epsilon: float, size: int) -> LocalHash:
    """Return optimal local hashing: about e^ε + 1 buckets."""
    check_size(size)
    if size > FIELD:
        problem = "local hashing is offered up to the size of its field"
        raise ChannelError(problem, given=size, expected=f"at most {FIELD} cells")
    buckets = max(2, round(math.exp(min(float(asked_epsilon(epsilon)), MOST_USEFUL))) + 1)
    return LocalHash(k_ary(epsilon, buckets).head, buckets, size)
