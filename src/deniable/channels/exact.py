"""Exact arithmetic that every channel stands on: weights out of 2³², ε as the log of a ratio."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from numbers import Rational, Real
from operator import index
from typing import TYPE_CHECKING

from deniable.channels.coin import WORD
from deniable.errors import AnswerError, ChannelError, EpsilonError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import SupportsIndex

DIGITS = 60
"""Decimal digits carried where ε is computed; a float has 17."""

LARGEST_EPSILON = 44.0
"""Beyond this no 32-bit coin can tell the channel from the bare truth."""

SMALLEST_EPSILON = Decimal(2) ** -32
"""Below this no 32-bit coin tells one answer from another, whatever the channel."""

SLACK = Decimal(2) ** -44
"""Relative room left under an asked ε, so that a client that certifies with rounded-up
doubles (the browser) still accepts a channel built to the limit."""


def asked_epsilon(epsilon: float) -> Decimal:
    """Return an asked-for ε as an exact decimal, or say why it is none."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, Real | Decimal):
        problem = "epsilon is not a number"
        raise EpsilonError(problem, given=epsilon, expected="a positive number such as 1.0")
    # NumPy's numbers are numbers too, but only their Python value has an exact decimal.
    level = Decimal(epsilon if isinstance(epsilon, int | Decimal) else float(epsilon))
    if not level.is_finite() or level <= 0:
        problem = "epsilon must be positive and finite"
        raise EpsilonError(problem, given=epsilon, expected="a number such as 1.0")
    if level < SMALLEST_EPSILON:
        raise _too_small(epsilon)
    return min(level, Decimal(LARGEST_EPSILON)) * (1 - SLACK)


@lru_cache(maxsize=4096)
def log_ratio(numerator: int, denominator: int) -> float:
    """Return ln(numerator / denominator), rounded up to the next float; infinite over zero.

    >>> log_ratio(3, 1) >= math.log(3)
    True
    """
    if denominator == 0:
        return math.inf
    if numerator == denominator:
        return 0.0
    with localcontext() as context:
        context.prec = DIGITS
        exact = (Decimal(numerator) / Decimal(denominator)).ln()
        near = float(exact)
        return near if Decimal(near) >= exact else math.nextafter(near, math.inf)


def format_epsilon(epsilon: float, digits: int = 3) -> str:
    """Write ε for a person, rounded up: a printed ε is never below the true one.

    >>> format_epsilon(1.0000001)
    '1.001'
    >>> format_epsilon(2.0)
    '2.000'
    """
    if math.isinf(epsilon):
        return "∞"
    step = Decimal(1).scaleb(-digits)
    return str(Decimal(epsilon).quantize(step, rounding=ROUND_CEILING))


def odds_out_of(epsilon: float, numerator: int, denominator: int) -> int:
    """Return the largest ``head`` whose coin has odds at most (n/d)·e^ε.

    ``head / (2³² − head) ≤ e^ε · n / d``, rounded down.
    """
    with localcontext() as context:
        context.prec = DIGITS
        odds = asked_epsilon(epsilon).exp() * numerator / denominator
        head = int(odds / (1 + odds) * WORD)
    # Between (n/d) and (n/d)·e^ε there must be room for at least one step of the coin.
    informs = head * denominator > (WORD - head) * numerator
    return _usable_head(head if informs else 0, epsilon)


def truth_out_of(epsilon: float, least: int) -> int:
    """Return the largest truth coin of a two-coin channel whose least fake weight is given.

    p = a·t / (1 + a·t) with a = e^ε − 1 and t = least / 2³², rounded down.
    """
    with localcontext() as context:
        context.prec = DIGITS
        gain = (asked_epsilon(epsilon).exp() - 1) * least / WORD
        head = int(gain / (1 + gain) * WORD)
    return _usable_head(head, epsilon)


def _usable_head(head: int, epsilon: float) -> int:
    if head < 1:
        raise _too_small(epsilon)
    return min(head, WORD - 1)


def _too_small(epsilon: float) -> EpsilonError:
    problem = "epsilon is too small for a 32-bit coin: no answer would ever show"
    return EpsilonError(problem, given=epsilon, expected="a larger epsilon or fewer cells")


def even_weights(size: int) -> tuple[int, ...]:
    """Return ``size`` weights that sum to 2³² and differ by at most one, larger ones first.

    >>> even_weights(3)
    (1431655766, 1431655765, 1431655765)
    """
    weight, longer = divmod(WORD, size)
    return (weight + 1,) * longer + (weight,) * (size - longer)


def weights_from(probabilities: Sequence[float], *, least: int = 1) -> tuple[int, ...]:
    """Turn probabilities into integer weights that sum to exactly 2³².

    Largest remainders; no weight is below ``least`` where the probability is positive.
    """
    check_probabilities(probabilities)
    total = math.fsum(probabilities)
    shares = [value / total * WORD for value in probabilities]
    floors = [max(int(share), least) if share > 0 else 0 for share in shares]
    missing = WORD - sum(floors)
    order = sorted(range(len(shares)), key=lambda cell: floors[cell] - shares[cell])
    if missing < 0:  # cells lifted to `least` are paid for by the largest one
        floors[max(range(len(shares)), key=floors.__getitem__)] += missing
        missing = 0
    for cell in order[:missing]:
        floors[cell] += 1
    if sum(floors) != WORD or min(floors) < 0:
        problem = "probabilities cannot be expressed in 32 bits"
        raise ChannelError(problem, given=f"{len(shares)} cells")
    return tuple(floors)


def check_probabilities(probabilities: Sequence[float]) -> None:
    """Refuse what is no distribution."""
    if not is_list(probabilities) or not all(isinstance(one, Real) for one in probabilities):
        problem = "probabilities must be a list of numbers"
        given = type(probabilities).__name__
        raise ChannelError(problem, given=given, expected="numbers such as [0.25, 0.75]")
    if any(not math.isfinite(value) or value < 0 for value in probabilities):
        problem = "probabilities must be finite and not negative"
        raise ChannelError(problem, given=list(probabilities)[:8])
    if not math.isclose(math.fsum(probabilities), 1, abs_tol=1e-6):
        problem = "probabilities must sum to 1"
        raise ChannelError(problem, given=math.fsum(probabilities))


def is_list(value: object) -> bool:
    """Tell whether a value holds others in an order, as lists and arrays do and texts do not."""
    return (
        hasattr(value, "__len__")
        and hasattr(value, "__getitem__")
        and not isinstance(value, str | bytes | Mapping)
    )


def is_share(value: object) -> bool:
    """Tell whether a value is a number from 0 to 1."""
    if isinstance(value, Decimal):
        return value.is_finite() and 0 <= value <= 1
    known = isinstance(value, Real) and not isinstance(value, bool)
    return known and bool(0 <= value <= 1)  # type: ignore[operator]  # a number, as just said


def fraction_of(share: float) -> Fraction:
    """Return a number exactly; NumPy's have a fraction only as Python's."""
    return Fraction(share if isinstance(share, Rational | Decimal) else float(share))


def bounds_of(weights: Sequence[int]) -> tuple[int, ...]:
    """Return the cumulative weights that ``Coin.pick`` searches."""
    return tuple(accumulate(weights))


def check_size(size: int, what: str = "a channel") -> None:
    """Refuse fewer than two cells, and more than one word can address."""
    if isinstance(size, bool) or not isinstance(size, int) or not 2 <= size < WORD:  # noqa: PLR2004
        problem = f"{what} needs at least two cells"
        raise ChannelError(problem, given=size, expected="an integer from 2 to 2**32 - 1")


def check_weights(weights: tuple[int, ...], what: str) -> None:
    """Refuse anything but a tuple of integers of at least 0 that sum to 2³²."""
    whole = isinstance(weights, tuple) and all(
        isinstance(weight, int) and not isinstance(weight, bool) and weight >= 0
        for weight in weights
    )
    if not whole or sum(weights) != WORD:
        problem = f"{what} must be integers of at least 0 that sum to 2**32"
        raise ChannelError(problem, expected="weights such as (2147483648, 2147483648)")


def check_head(head: int, what: str = "head") -> None:
    """Refuse a coin that is no integer strictly between 0 and 2³²."""
    if isinstance(head, bool) or not isinstance(head, int) or not 0 < head < WORD:
        problem = f"{what} must be an integer strictly between 0 and 2**32"
        raise ChannelError(problem, given=head, expected="a probability of neither 0 nor 1")


def cell_of(answer: SupportsIndex, size: int) -> int:
    """Return an answer as a plain integer, or refuse what is no cell of the channel.

    Every channel asks this before any coin is tossed: what is no cell could otherwise leave
    the device as it was given. The error does not name it.
    """
    try:
        cell = int(index(answer))
    except TypeError:
        cell = -1
    if not 0 <= cell < size:
        problem = "a channel randomizes the number of a cell, and this answer is none"
        raise AnswerError(problem, expected=f"an integer from 0 to {size - 1}")
    return cell
