"""Rates counted over many places of a grid, and a verdict that knows how many places there are.

Every place is looked at three times at most, with fresh surveys each time: a place whose
rate is outside its range by more than half a standard error is looked at again with four
times as many, then with twenty-five times as many. Only the last look decides, so that
nothing is held against a place for having been picked; there a place misses if the test of
the nearest edge of the range rejects at .01, divided by how many places came so far
(Bonferroni). The first looks of all places, pooled by what places have in common, are held
to the range in the same manner.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

LOOKS = (1, 4, 25)
ALPHA = 0.01
SLACK = 0.5
"""Standard errors that a first or second look may be off without another."""


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of so many, and the range where their share should lie."""

    hits: int
    of: int
    low: float = 0.0
    high: float = 1.0

    def __add__(self, other: Rate) -> Rate:
        """Return both together."""
        return Rate(self.hits + other.hits, self.of + other.of, self.low, self.high)

    @property
    def share(self) -> float:
        """Return the rate."""
        return self.hits / max(self.of, 1)

    @property
    def error(self) -> float:
        """Return its standard error, as if it were the one of a rate of at least .02."""
        share = min(max(self.share, 0.02), 0.98)
        return math.sqrt(share * (1 - share) / max(self.of, 1))

    def strays(self) -> bool:
        """Tell whether it is outside by more than half a standard error."""
        slack = SLACK * self.error
        return self.of > 0 and not self.low - slack <= self.share <= self.high + slack

    def tail(self) -> float:
        """Return how likely so extreme a count is at the nearest edge of the range."""
        if self.share > self.high:
            return float(stats.binom.sf(self.hits - 1, self.of, self.high))
        if self.share < self.low:
            return float(stats.binom.cdf(self.hits, self.of, self.low))
        return 1.0

    def __str__(self) -> str:
        """Say the rate and its standard error."""
        return f"{self.share:.4f} ± {self.error:.4f} of {self.of}"


@dataclass(frozen=True, slots=True)
class Ratio:
    """What should be 1, to within some share."""

    value: float
    error: float
    within: float

    def strays(self) -> bool:
        """Tell whether it is off by more than half a standard error too much."""
        return abs(self.value - 1) > self.within + SLACK * self.error

    def tail(self) -> float:
        """Return how likely it is to be so far off, were it just within."""
        return float(stats.norm.sf((abs(self.value - 1) - self.within) / self.error))

    def __str__(self) -> str:
        """Say the ratio and its standard error."""
        return f"{self.value:.3f} ± {self.error:.3f}"


@dataclass(frozen=True, slots=True)
class Score:
    """What one look at a place found.

    Attributes:
        rate: The rate asked about.
        ratio: A standard error over the standard deviation it stands for; None if unasked.
        told: What else there is to say.
    """

    rate: Rate
    ratio: Ratio | None = None
    told: str = ""

    def strays(self) -> bool:
        """Tell whether another look is due."""
        return self.rate.strays() or (self.ratio is not None and self.ratio.strays())

    def misses(self, places: int) -> bool:
        """Tell whether it is outside, one of so many places."""
        tails = [self.rate.tail(), 1.0 if self.ratio is None else self.ratio.tail()]
        return min(tails) * places < ALPHA

    def __str__(self) -> str:
        """Say everything."""
        parts = [str(self.rate), "" if self.ratio is None else f"se/sd {self.ratio}", self.told]
        return "  ".join(filter(None, parts))


@dataclass(slots=True)
class Grid:
    """What was counted so far.

    Attributes:
        pools: The first looks, by what places have in common.
        last: The last looks of the places that came so far.
        places: How many places were looked at.
    """

    pools: dict[str, Rate] = field(default_factory=dict)
    last: dict[str, Score] = field(default_factory=dict)
    places: int = 0

    def look(
        self,
        places: Mapping[str, Iterable[str]],
        count: Callable[[int, int, list[str]], Mapping[str, Score]],
    ) -> None:
        """Look at places that share their surveys until each is clear.

        Args:
            places: Their names, and what each has in common with others.
            count: From which look it is, how many times the first look's surveys and which
                places to what was found.
        """
        told: dict[str, list[str]] = {name: [] for name in places}
        open_ = list(places)
        for number, times in enumerate(LOOKS):
            found = count(number, times, open_)
            for name, score in found.items():
                told[name].append(str(score))
                for trait in () if number else places[name]:
                    pooled = self.pools.get(trait)
                    self.pools[trait] = score.rate if pooled is None else pooled + score.rate
            open_ = [name for name, score in found.items() if score.strays()]
            if not open_:
                break
        self.last |= {name: found[name] for name in open_}
        self.places += len(places)
        for name, looks in told.items():
            print(f"  {name.rpartition(': ')[2]:42} {'; '.join(looks)}", flush=True)

    def verdict(self) -> int:
        """Print what misses; return how much of it there is."""
        print(f"\n{self.places} places. First looks together:")
        missed = self._judge({name: Score(rate) for name, rate in self.pools.items()})
        print(f"\nPlaces still outside at their last look: {len(self.last)}")
        missed += self._judge(self.last)
        print(f"\n{missed} of these are outside by more than chance explains")
        return missed

    def _judge(self, scores: Mapping[str, Score]) -> int:
        missed = 0
        for name, score in scores.items():
            wrong = score.misses(len(scores))
            missed += wrong
            print(f"  {name:42} {score}{'  MISSED' if wrong else ''}")
        return missed
