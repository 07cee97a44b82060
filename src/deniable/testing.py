"""Scripted, seeded and enumerating coins, and a small design. Nothing here is private."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import TYPE_CHECKING

from deniable.channels import WordCoin, best, epsilon_of
from deniable.channels.coin import WORD
from deniable.channels.exact import even_weights
from deniable.protocol import Design, Group, View, all_groups

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeVar

    from deniable.channels import Channel, Coin, Value

    Outcome = TypeVar("Outcome")


class ScriptedCoin(WordCoin):
    """Tosses the words it was given, then fails.

    >>> ScriptedCoin([7]).heads(8)
    True
    """

    __slots__ = ("_words", "spent")

    def __init__(self, words: Iterable[int]) -> None:
        """Remember the script."""
        self._words = list(words)
        self.spent = 0

    def word(self) -> int:
        """Return the next word of the script."""
        if self.spent == len(self._words):
            message = "the script has no more words"
            raise AssertionError(message)
        self.spent += 1
        return self._words[self.spent - 1]


class UnsafeSeededCoin(WordCoin):
    """A coin that anybody who knows the seed can predict."""

    __slots__ = ("_random",)

    def __init__(self, seed: int) -> None:
        """Start the predictable sequence."""
        self._random = random.Random(seed)  # noqa: S311 - that is the point

    def word(self) -> int:
        """Return the next word."""
        return self._random.getrandbits(32)


class _BranchingCoin:
    """Follows one path through a finite channel and notes the branches it passed."""

    def __init__(self, path: Sequence[int]) -> None:
        self._path = list(path)
        self.taken: list[int] = []
        self.branches: list[int] = []
        self.probability = Fraction(1)

    def _toss(self, weights: Sequence[int]) -> int:
        depth = len(self.taken)
        possible = [cell for cell, weight in enumerate(weights) if weight]
        place = self._path[depth] if depth < len(self._path) else 0
        self.taken.append(place)
        self.branches.append(len(possible))
        self.probability *= Fraction(weights[possible[place]], sum(weights))
        return possible[place]

    def heads(self, head: int) -> bool:
        return bool(self._toss([WORD - head, head]))

    def pick(self, bounds: Sequence[int]) -> int:
        lows = [0, *bounds[:-1]]
        return self._toss([high - low for low, high in zip(lows, bounds, strict=True)])

    def even(self, size: int) -> int:
        return self._toss(even_weights(size))

    def below(self, bound: int) -> int:
        return self._toss([1] * bound)


def enumerate_paths(toss: Callable[[Coin], Outcome]) -> Iterator[tuple[Outcome, Fraction]]:
    """Yield every outcome of a finite experiment with its exact probability, path by path."""
    path: list[int] = []
    while True:
        coin = _BranchingCoin(path)
        outcome = toss(coin)
        yield outcome, coin.probability
        path = coin.taken
        while path and path[-1] + 1 == coin.branches[len(path) - 1]:
            path.pop()
        if not path:
            return
        path[-1] += 1


def enumerate_channel(channel: Channel, answer: int) -> dict[Value, Fraction]:
    """Return P(report | answer) by walking every path of the coins, exactly.

    >>> from deniable.channels import warner
    >>> enumerate_channel(warner(0.75), 0)
    {(0,): Fraction(3, 4), (1,): Fraction(1, 4)}
    """
    found: dict[Value, Fraction] = {}
    for report, probability in enumerate_paths(lambda coin: channel.randomize(answer, coin)):
        found[report] = found.get(report, Fraction(0)) + probability
    return dict(sorted(found.items()))


def ask_one_design(
    sizes: Sequence[int] = (2, 3, 4),
    *,
    epsilon: float = 1.0,
    together: int = 2,
    survey: str = "example",
    repeats: int = 1,
) -> Design:
    """Return a small design that asks each respondent one random group."""
    groups = [
        Group(chosen, tuple(sizes[a] for a in chosen))
        for chosen in all_groups(len(sizes), together)
    ]
    channels = tuple((best(epsilon, group.size),) for group in groups)
    cost = max(epsilon_of(channel) for (channel,) in channels)
    return Design(
        survey=survey,
        schema="-" * 43,
        attributes=tuple((f"a{place}", size) for place, size in enumerate(sizes)),
        views=tuple(View((group,)) for group in groups),
        channels=channels,
        epsilon=f"{max(cost, epsilon):f}",
        protocol="ask-one",
        repeats=repeats,
    )
