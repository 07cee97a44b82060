"""Kikuchi's schemes on people whose answers are known, with and without randomizing anybody.

``Expected`` takes the expected shares of the reports, rounded to 1/n: nobody tosses a coin.
``Reported`` takes the shares of reports that were made by everybody with coins. The schemes
are computed from either in the same way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

import numpy as np

from deniable.estimation.bump import along
from deniable.estimation.lens import PointLens
from deniable.experiments.population import Population
from deniable.planning.dependence import cramers_v

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Group = tuple[int, ...]

T = TypeVar("T")

SCHEMES: Final = ("RR-Ind-Joint", "RR-Independent", "hybrid", "truncated", "as printed", "RR-Joint")
CROSSOVER: Final = 4
"""The most attributes for which the published hybrid takes RR-Ind-Joint on Adult."""


class Seen(Protocol):
    """Where the shares of the reports come from."""

    def apart(self, group: Group) -> Array:
        """Return the shares of reports on attributes randomized one by one."""

    def together(self, group: Group) -> Array:
        """Return the shares of reports on attributes randomized as one cell."""


@dataclass(frozen=True)
class Expected:
    """The expected shares of the reports, rounded to 1/n.

    Attributes:
        population: The people.
        epsilon: The level of each attribute; of a cell of several, the sum.
    """

    population: Population
    epsilon: float

    def apart(self, group: Group) -> Array:
        """Return λ of attributes randomized one by one, rounded."""
        lenses = lenses_of([self.population.sizes[a] for a in group], self.epsilon)
        return self._rounded(along(share_of(self.population, group), [one.see for one in lenses]))

    def together(self, group: Group) -> Array:
        """Return λ of one cell, rounded."""
        share = share_of(self.population, group)
        (lens,) = lenses_of([share.size], len(group) * self.epsilon)
        return self._rounded(lens.truth * share + lens.lie[0])

    def _rounded(self, shares: Array) -> Array:
        people = len(self.population.answers)
        result: Array = np.rint(shares * people) / people
        return result


@dataclass(frozen=True)
class Reported:
    """The shares of reports that everybody made with coins.

    Attributes:
        population: The people.
        epsilon: The level of each attribute; of a cell of several, the sum.
        rng: Tosses the coins.
    """

    population: Population
    epsilon: float
    rng: np.random.Generator

    @cached_property
    def _reports(self) -> Population:
        sizes = self.population.sizes
        people = len(self.population.answers)
        columns = []
        for place, lens in enumerate(lenses_of(sizes, self.epsilon)):
            lies = self.rng.integers(0, sizes[place], people)
            true = self.population.answers[:, place]
            columns.append(np.where(self.rng.random(people) < lens.truth, true, lies))
        return Population(self.population.names, sizes, np.stack(columns, axis=1))

    def apart(self, group: Group) -> Array:
        """Return the shares of everybody's reports on some attributes."""
        return share_of(self._reports, group)

    def together(self, group: Group) -> Array:
        """Return the shares of fresh reports on one cell."""
        counts = self.population.counts(group)
        (lens,) = lenses_of([counts.size], len(group) * self.epsilon)
        kept = self.rng.binomial(counts.astype(np.int64), lens.truth)
        lies = self.rng.multinomial(int(counts.sum() - kept.sum()), lens.fake)
        result: Array = (kept + lies.reshape(counts.shape)) / counts.sum()
        return result


def lenses_of(sizes: Sequence[int], epsilon: float) -> list[PointLens]:
    """Return k-ary randomized response on each attribute: p = (e^ε − 1)/(e^ε + d − 1)."""
    odds = math.exp(epsilon)
    return [PointLens((odds - 1) / (odds + d - 1), np.full(d, 1 / d)) for d in sizes]


def share_of(population: Population, group: Group) -> Array:
    """Return the shares of people in the cells of some attributes."""
    counts = population.counts(group)
    result: Array = counts / counts.sum()
    return result


def schemes(seen: Seen, group: Group, sizes: Sequence[int], epsilon: float) -> Mapping[str, Array]:
    """Return a table by each scheme, for w attributes."""
    lenses = lenses_of([sizes[a] for a in group], epsilon)
    joint = _inverted(seen, group, lenses)
    margins = [
        _inverted(seen, (attribute,), [lens]) for attribute, lens in zip(group, lenses, strict=True)
    ]
    product = np.asarray(reduce(np.multiply.outer, margins))
    # Algorithm 4: the tables of one attribute less, each estimated by itself.
    limits = [
        np.expand_dims(_inverted(seen, _without(group, a), _without(tuple(lenses), a)), a)
        for a in range(len(group))
    ]
    whole = seen.together(group)
    (cell,) = lenses_of([whole.size], len(group) * epsilon)
    return {
        "RR-Ind-Joint": joint,
        "RR-Independent": product,
        "hybrid": joint if len(group) <= CROSSOVER else product,
        "truncated": reduce(np.minimum, [np.maximum(x, 0) for x in limits], np.maximum(joint, 0)),
        "as printed": reduce(np.minimum, limits, np.maximum(joint, 0)),
        "RR-Joint": (whole - cell.lie[0]) / cell.truth,
    }


def _inverted(seen: Seen, group: Group, lenses: Sequence[PointLens]) -> Array:
    """Return the inverse axis by axis (algorithm 3, castell)."""
    return along(seen.apart(group), [lens.invert for lens in lenses])


def _without(items: tuple[T, ...], place: int) -> tuple[T, ...]:
    return (*items[:place], *items[place + 1 :])


def largest_error(found: Array, true: Array) -> float:
    """Return the largest error of a cell, which the source averages as AVD."""
    return float(np.abs(found - true).max())


def total_variation(found: Array, true: Array) -> float:
    """Return half the sum of all errors; above 1 where a table is far from proper."""
    return float(np.abs(found - true).sum() / 2)


def cramers_v_of(population: Population, pair: tuple[int, int]) -> float:
    """Return the dependence of two attributes as table V prints it."""
    return cramers_v(population.counts(pair))
