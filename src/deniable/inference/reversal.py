"""A test of every value along a path, turned into intervals: where the slope vanishes.

From the table where the measure has its extreme value (independence, even shares) a path
leads through the table that was found and beyond. At points along it reports are drawn
through the recorded channels; where the statistic seen is not unusual, the measure's value
is in the interval. At the anchor only a large statistic is unusual; further on both tails
are, so the level is kept at either end and in between.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.inference.confidence import Curve
from deniable.inference.replicas import nearest_proper_each

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.inference.form import Form
    from deniable.inference.replicas import Replicas

    Array = NDArray[np.float64]

POINTS = 24
RARE = 0.0005
"""A tail below this ends the path: no interval up to 99.9 % reaches further."""

MOST_DOUBLINGS = 16
HALVINGS = 6
SAME = 1e-6
"""Two tables closer than this share of the usual distance are one."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What is to be reversed.

    Attributes:
        form: The measure; it has a path.
        table: The proper shares found.
        centre: The unprojected shares found.
        replicas: Draws estimates.
    """

    form: Form
    table: Array
    centre: Array
    replicas: Replicas


@dataclass(frozen=True, slots=True, eq=False)
class _Walk:
    """A path, and the statistic that was seen."""

    problem: Problem
    anchor: Array
    direction: Array
    seen: float
    rng: np.random.Generator
    draws: int

    def table(self, place: float) -> Array:
        """Return the proper table at a place: 0 is the anchor, 1 about what was found."""
        moved = (self.anchor + place * self.direction).reshape(1, -1)
        return nearest_proper_each(moved).reshape(self.anchor.shape)

    def statistics(self, place: float) -> Array:
        """Return the statistic of replicas there; the same coins at every place."""
        coins = deepcopy(self.rng)
        drawn = self.problem.replicas.draw(self.table(place), self.draws, coins)
        return _distance(self.problem.form, drawn.reshape(-1, *self.anchor.shape), self.anchor)

    def reach(self, place: float) -> float:
        """Return how far the measure is there from what it is at the anchor."""
        form = self.problem.form
        return abs(form.truth(self.table(place)) - form.truth(self.table(0.0)))

    def below(self, place: float) -> float:
        """Return P(statistic ≤ the one seen)."""
        return float(np.mean(self.statistics(place) <= self.seen))

    def above(self, place: float) -> float:
        """Return P(statistic ≥ the one seen)."""
        return float(np.mean(self.statistics(place) >= self.seen))


def reverse(problem: Problem, *, rng: np.random.Generator, draws: int) -> Curve:
    """Return the test of every value along the path."""
    walk, usual = _walk(problem, rng.spawn(1)[0], draws)
    far = _far_end(walk)
    near = _near_end(walk, far)
    places = np.linspace(near, far, POINTS)
    if near > 0:
        places = np.concatenate([[0.0], places])
    values = np.array([problem.form.truth(walk.table(place)) for place in places])
    if problem.form.path is not None and problem.form.path.folds:
        values[0] = 0.0  # exactly, not by rounding
    last = int(np.argmax(np.abs(values - values[0]))) + 1  # where the path turns, if it does
    drawn = [walk.statistics(place) for place in places[:last]]
    balance = np.array([2 * np.mean(one > usual) - 1 for one in drawn])
    return Curve(
        values[:last],
        np.array([np.mean(one <= walk.seen) for one in drawn]),
        np.array([np.mean(one >= walk.seen) for one in drawn]),
        np.maximum.accumulate(np.clip(balance, 0, 1)),
    )


def _walk(problem: Problem, rng: np.random.Generator, draws: int) -> tuple[_Walk, float]:
    """Return the path and the usual statistic at its anchor."""
    path = problem.form.path
    if path is None:  # pragma: no cover -- only measures with a path come here
        raise AssertionError
    anchor = path.anchor(problem.table)
    seen = float(_distance(problem.form, problem.centre[None], anchor)[0])
    walk = _Walk(problem, anchor, problem.table - anchor, seen, rng, draws)
    usual = float(np.median(walk.statistics(0.0)))
    found = float(_distance(problem.form, problem.table[None], anchor)[0])
    if found >= usual:
        return walk, usual
    # The proper table is too near the anchor to say how long the path's unit is, or at it.
    direction = walk.direction
    if found <= usual * SAME:
        direction = problem.centre - path.anchor(problem.centre)
        found = float(_distance(problem.form, (anchor + direction)[None], anchor)[0])
    walk = replace(walk, direction=direction * np.sqrt(usual / max(found, 1e-300)))
    return walk, usual


def _far_end(walk: _Walk) -> float:
    """Return a place beyond which what was seen would be too rare, or where the path turns.

    Far out the path runs along the edge of what is possible, to tables of one cell at last, in
    which nothing depends on anything: there the measure falls back to where it began.
    """
    far = 1.0
    for _ in range(MOST_DOUBLINGS):
        if walk.reach(far / 2) <= walk.reach(far):
            break
        far /= 2
    for _ in range(MOST_DOUBLINGS):
        if walk.below(far) < RARE or walk.reach(2 * far) <= walk.reach(far) * (1 + SAME):
            break
        far *= 2
    return far


def _near_end(walk: _Walk, far: float) -> float:
    """Return a place before which what was seen would be too rare."""
    if walk.above(0.0) >= RARE:
        return 0.0
    near = 0.0
    beyond = far
    for _ in range(HALVINGS):
        middle = (near + beyond) / 2
        if walk.above(middle) < RARE:
            near = middle
        else:
            beyond = middle
    return near


def _distance(form: Form, tables: Array, anchor: Array) -> Array:
    if form.path is None:  # pragma: no cover -- only measures with a path come here
        raise AssertionError
    return form.path.distance(tables, anchor)
