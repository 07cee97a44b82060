"""From the model's table towards the table's own reports, as far as held-out people agree.

An EM step from the model's table is the expectation of the people's own table if they were
drawn from the model. Few steps let the reports correct what a mixture cannot say; very many
end at the table's maximum likelihood, which is best where the reports fill the table. How
many is read off the folds, one number for all tables of as many attributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import inf, sqrt
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.climb import climb, em_step
from deniable.estimation.inquiry import covering_of, some_tables
from deniable.estimation.observation import observe
from deniable.estimation.raking import rake
from deniable.estimation.sight import merged
from deniable.estimation.stack import seen_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from deniable.estimation.climb import Seen
    from deniable.estimation.latent_class import LatentClass

    Array = NDArray[np.float64]
    Pairs = dict[tuple[int, str, str], Array]

STEPS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, inf)
"""The numbers of EM steps tried; infinity stands for maximum likelihood."""

WIDEST = 4
"""Tables of more attributes are refined like those of so many, but by one step at most."""

PAIR = 2
MOST_STEPS = 500
"""Accelerated EM steps after which maximum likelihood is taken to be reached."""

LEFT = 0.02
"""Nats that are left to gain where maximum likelihood is taken to be reached."""

CAUTION = 2.0
DOUBT = 2.2
"""Nats, ln 9, that any number of steps must gain beyond ``CAUTION`` standard errors."""

PATIENCE = 2
"""Stages in a row that serve held-out people worse before no more are tried."""

FULL = 2**8
"""Tables of more cells are never filled by reports: they get at most ``FEW`` steps."""

FEW = 16.0
SURE = 10.0
"""Standard errors of the gain from which dependence is told so well that every pair takes
``FEW`` steps: the people counted are nearer to their own reports than any held out are, and
held-out likelihood, a sum over all cells, then hardly tells one step from sixteen."""

TRIALS = 64
"""Tables times folds that are asked about each width."""

MOST_EFFORT = 2**24
"""Numbers worked out in an EM step on one table, beyond which it is left as the model has it."""

MOST_EFFORT_OF_TRIALS = 2**25
"""Numbers worked out in an EM step on all tables that the folds are asked about."""

SCATTERED = 8
"""With more batches than this, tables wider than a pair are left as the model has them."""

TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Refinement:
    """How many EM steps a table gets, by its number of attributes, from one attribute on."""

    steps: tuple[float, ...]

    def of(self, width: int) -> float:
        """Return the number of steps for a table of so many attributes."""
        if width <= len(self.steps):
            return self.steps[width - 1]
        return min(self.steps[-1], 1.0) if len(self.steps) == WIDEST else 0.0


def choose_refinement(fit: LatentClass, *, rng: np.random.Generator) -> Refinement:
    """Ask the folds how many steps serve them best.

    Where respondents were asked different things, a table of three is seen through very many
    lenses, each of few people: nothing is left there that the model has not used.
    """
    if fit.folds.number == 1:
        return Refinement(())
    scattered = len(fit.folds.evidence.batches) > SCATTERED
    widest = min(PAIR if scattered else WIDEST, len(fit.model.names))
    steps: list[float] = []
    known: Pairs = {}
    for width in range(1, widest + 1):
        best = _best_steps(fit, width, steps, known, rng)
        least = FEW if width == PAIR and fit.gain > SURE * fit.error and not scattered else 0.0
        steps.append(max(best, least))
    return Refinement(tuple(steps))


def affordable(sights: Sequence[Seen]) -> bool:
    """Tell whether an EM step on a table takes no longer than it is worth."""
    return sum(sight.effort for sight in sights) <= MOST_EFFORT


def refine(start: Array, sights: Sequence[Seen], steps: float) -> Array:
    """Return the table after so many EM steps."""
    if steps == inf:
        return climb(sights, _open(start), gap=LEFT, most_steps=MOST_STEPS).table
    for _ in range(int(steps)):
        start = em_step(sights, start)
    return start


class _Trial:
    """A table on its way from a climb's model to its own reports, judged by one fold."""

    def __init__(
        self,
        fit: LatentClass,
        names: Sequence[str],
        judge: int,
        before: Sequence[float],
        known: Pairs,
    ) -> None:
        self.judge = judge
        taught, held = fit.folds.evidence_fitted(judge), fit.folds.evidence_held(judge)
        self.table = _started(fit, names, judge, before, known)
        self.fitted = seen_in(observe(taught, names).sights)
        self.held = merged(covering_of(held, names))
        self.before = [np.log(sight.see(self.table)) for sight in self.held]

    def go(self, steps: float) -> None:
        """Take so many EM steps."""
        self.table = refine(self.table, self.fitted, steps)

    def gain(self) -> float:
        """Return how much likelier the held-out reports became, in nats."""
        total = 0.0
        for sight, before in zip(self.held, self.before, strict=True):
            change = np.log(np.maximum(sight.see(self.table), TINY)) - before
            total += float(np.sum(sight.counts * change))
        return total


def _started(
    fit: LatentClass, names: Sequence[str], judge: int, before: Sequence[float], known: Pairs
) -> Array:
    """Return a climb's table, raked to its pairs as they will be refined."""
    climb, taught = fit.climbs[judge], fit.folds.evidence_fitted(judge)
    table = climb.table(names)
    if len(names) <= PAIR or not before[PAIR - 1]:
        return table
    pairs = {}
    for one, two in combinations(range(len(names)), PAIR):
        pair = names[one], names[two]
        key = (judge, *pair)
        if key not in known:
            sights = seen_in(observe(taught, pair).sights)
            known[key] = refine(climb.table(pair), sights, before[PAIR - 1])
        pairs[one, two] = known[key]
    return rake(table, pairs)


def _best_steps(
    fit: LatentClass,
    width: int,
    before: Sequence[float],
    known: Pairs,
    rng: np.random.Generator,
) -> float:
    """Take more and more steps until the held-out people have twice been served worse."""
    tables = some_tables(fit, width, rng)
    if not tables:
        return 0.0
    crowded = len(fit.folds.evidence.batches) > SCATTERED
    each = 1 if crowded else max(1, min(fit.folds.number, TRIALS // len(tables)))
    asked = [
        (names, (place + judge) % fit.folds.number)
        for judge in range(each)
        for place, names in enumerate(tables)
    ]
    trials = _within_means(_Trial(fit, names, judge, before, known) for names, judge in asked)
    if not trials:
        return 0.0
    roomy = any(trial.table.size > FULL for trial in trials)
    best = chosen = done = 0.0
    sure, worse = DOUBT, 0
    for steps in STEPS:
        if steps > FEW and roomy:
            break
        for trial in trials:
            trial.go(steps if steps == inf else steps - done)
        done = steps
        gain, error = _verdict(trials, fit.folds.number)
        worse = 0 if gain > best else worse + 1
        best = max(best, gain)
        if gain - CAUTION * error > sure:
            sure, chosen = gain - CAUTION * error, steps
        if worse == PATIENCE:
            break
    return chosen


def _verdict(trials: Sequence[_Trial], folds: int) -> tuple[float, float]:
    """Return what was gained in all, and how sure that is, by how much the folds differ.

    Tables asked of the same people hang together, so people are compared and not tables.
    """
    gains = np.zeros(folds)
    for trial in trials:
        gains[trial.judge] += trial.gain()
    return float(gains.sum()), float(gains.std(ddof=1) * sqrt(folds))


def _within_means(trials: Iterable[_Trial]) -> list[_Trial]:
    """Return those that can be afforded, until all together cannot be any more."""
    chosen, effort = [], 0
    for trial in trials:
        if not affordable(trial.fitted):
            continue
        effort += sum(sight.effort for sight in trial.fitted)
        if effort > MOST_EFFORT_OF_TRIALS:
            break
        chosen.append(trial)
    return chosen


def _open(table: Array) -> Array:
    """Return the table without zeros: EM cannot leave one."""
    return (1 - 1e-6) * table + 1e-6 / table.size
