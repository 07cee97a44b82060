"""One climb of a mixture towards the maximum of the likelihood, with every step kept.

EM moves a class's log-shares by the logarithm of what it expects over what it had. The
climb goes η times as far (Salakhutdinov & Roweis 2003, adaptive over-relaxation): η grows
while the likelihood rises and falls back to EM's own step where it does not. Where coins
hide nearly everything EM creeps, and η reaches tens. Σ η is the climb's clock: how many
EM steps it stands for.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.likelihood import Expectation, Likelihood, People

    Array = NDArray[np.float64]

GROWTH = 1.2
LEAST_SHARE = 1e-10
"""No share falls to zero: a multiplicative climb could not leave it again."""

FARTHEST = 30.0
"""No step changes a log-share by more."""

SETTLED = 1e-3
"""Nats of likelihood per step below which a climb without held-out people ends."""


@dataclass(frozen=True, slots=True, eq=False)
class Camp:
    """Where a climb stood: its clock, its scores (see ``Expectation``), and the mixture."""

    clock: float
    fitted: float
    held: float
    square: float
    weight: Array
    theta: Array


class Ascent:
    """A climb that can be continued; it keeps its camps in ``camps``."""

    def __init__(
        self,
        likelihood: Likelihood,
        weight: Array,
        theta: Array,
        people: People,
        prior: Array | None = None,
    ) -> None:
        self.camps: list[Camp] = []
        self._likelihood, self._people = likelihood, people
        self._weight, self._theta = weight, theta
        self._prior = np.zeros((len(theta), 1)) if prior is None else prior
        self._clock, self._eta = 0.0, 1.0
        self._plain: tuple[Array, Array] | None = None

    def advance(self, steps: int) -> None:
        """Take some steps; one that lowered the likelihood is taken back and done plainly."""
        for _ in range(steps):
            found = self._likelihood.expect(self._weight, self._theta, self._people)
            # Before any report: Σ α·m·ln θ over classes, as if α people had answered m.
            fitted = found.fitted + float(np.sum(self._prior * np.log(self._theta)))
            if self._plain and self._eta > 1 and fitted < self.camps[-1].fitted:
                self._retreat()
                continue
            here = Camp(self._clock, fitted, found.held, found.square, self._weight, self._theta)
            self.camps.append(here)
            self._step(found)

    def settle(self, most_steps: int) -> Camp:
        """Climb until a step gains next to nothing, and return the place."""
        while len(self.camps) < most_steps:
            self.advance(1)
            gains = [here.fitted - before.fitted for before, here in pairwise(self.camps[-2:])]
            if any(0 <= gain < SETTLED for gain in gains):
                break
        return self.camps[-1]

    def at(self, clock: float) -> Camp:
        """Return the camp nearest to a time on the clock."""
        return min(self.camps, key=lambda camp: abs(np.log1p(camp.clock) - np.log1p(clock)))

    def _retreat(self) -> None:
        assert self._plain is not None  # noqa: S101
        self._weight, self._theta = self._plain
        self._plain = None
        self._clock = self.camps[-1].clock + 1
        self._eta = max(1.0, self._eta / 2)

    def _step(self, found: Expectation) -> None:
        offsets = self._likelihood.offsets
        weight = normal(found.mass, (0, len(found.mass)))
        theta = normal(found.counts + self._prior, offsets)
        self._plain = (weight, theta)
        if self._eta > 1:
            weight = _farther(self._weight, weight, self._eta, (0, len(weight)))
            theta = _farther(self._theta, theta, self._eta, offsets)
        self._weight, self._theta = weight, theta
        self._clock += self._eta
        self._eta *= GROWTH


def _farther(here: Array, there: Array, eta: float, offsets: Sequence[int]) -> Array:
    """Return the shares η times as far from ``here``, in logarithms, as ``there`` is."""
    move = np.clip(eta * np.log(there / here), -FARTHEST, FARTHEST)
    return normal(here * np.exp(move), offsets)


def normal(numbers: Array, offsets: Sequence[int]) -> Array:
    """Return positive shares that sum to 1 in each attribute (and class)."""
    begins, widths = offsets[:-1], np.diff(offsets)
    sums = np.repeat(np.add.reduceat(numbers, begins, axis=0), widths, axis=0)
    even = np.repeat(1.0 / widths, widths).reshape([-1] + [1] * (numbers.ndim - 1))
    # A class that nobody belongs to any more knows nothing: it answers evenly.
    shares = np.where(sums > 0, numbers / np.where(sums > 0, sums, 1.0), even)
    shares = np.maximum(shares, LEAST_SHARE)
    sums = np.repeat(np.add.reduceat(shares, begins, axis=0), widths, axis=0)
    result: Array = shares / sums
    return result
