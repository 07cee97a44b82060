"""From the model's table towards the table's own reports, as far as held-out people agree.

An EM step from the model's table is the expectation of the people's own table if they were
drawn from the model. Few steps let the reports correct what a mixture cannot say; very many
end at the table's maximum likelihood, which is best where the reports fill the table. How
many is read off the folds, one number for all tables of as many attributes. Pairs are
settled in another way.
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
    from deniable.estimation.settling import Settlement

    Array = NDArray[np.float64]

STEPS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, inf)
"""The numbers of EM steps tried; infinity stands for maximum likelihood."""

NARROWEST, WIDEST = 3, 4
"""Tables of more attributes are refined like the widest of these, but by one step at most."""

MOST_STEPS = 500
"""Accelerated EM steps after which maximum likelihood is taken to be reached."""

LEFT = 0.02
"""Nats that are left to gain where maximum likelihood is taken to be reached."""

CAUTION = 3.0
DOUBT = 6.9
"""Nats, a thousand to one, that any number of steps must gain beyond ``CAUTION`` standard
errors, which are estimated from a few folds."""

TRUSTS = (3.0, 10.0, 30.0, 100.0, 300.0)
"""People whom a model's share of a cell may be worth: it is off by a half, a third, a fifth, …"""

MOST_ASKED = 6
"""Attributes of the widest tables of which the folds say how far the model is to be trusted;
what is wrong with it adds up, so that wider ones are trusted less."""

PATIENCE = 2
"""Stages in a row that serve held-out people worse before no more are tried."""

FULL = 2**8
"""Tables of more cells are never filled by reports: they get at most ``FEW`` steps."""

FEW = 16.0

TRIALS = 64
"""Tables times folds that are asked about each width."""

MOST_EFFORT = 2**24
"""Numbers worked out in an EM step on one table, beyond which it is left as the model has it."""

MOST_EFFORT_OF_TRIALS = 2**25
"""Numbers worked out in an EM step on all tables that the folds are asked about."""

SCATTERED = 8
"""With more batches than this tables are left as the model has them."""

TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Refinement:
    """How far tables follow their own reports.

    Attributes:
        steps: EM steps that a table gets, by its number of attributes, from ``NARROWEST`` on.
        trusted: People whom the model's share of a cell is worth, in the same way; see
            ``people_of``.
    """

    steps: tuple[float, ...]
    trusted: tuple[float, ...] = ()

    def of(self, width: int) -> float:
        """Return the number of steps for a table of so many attributes."""
        if not self.steps or width < NARROWEST:
            return 0.0
        if width < NARROWEST + len(self.steps):
            return self.steps[width - NARROWEST]
        return min(self.steps[-1], 1.0)

    def trust_of(self, width: int) -> float:
        """Return the trust in the model's table of so many attributes."""
        if not self.trusted:
            return inf
        return self.trusted[min(max(width - NARROWEST, 0), len(self.trusted) - 1)]


def choose_refinement(settlement: Settlement, *, rng: np.random.Generator) -> Refinement:
    """Ask the folds how many steps serve them best, and how far the model is to be trusted.

    Where respondents were asked different things, a table of three is seen through very many
    lenses, each of few people: nothing is left there that the model has not used.
    """
    fit = settlement.fit
    if fit.folds.number == 1 or len(fit.folds.evidence.batches) > SCATTERED:
        return Refinement(())
    widths = range(NARROWEST, min(WIDEST, len(fit.model.names)) + 1)
    steps = tuple([_best_steps(settlement, width, rng) for width in widths])
    trusted: list[float] = []
    for width in range(NARROWEST, min(MOST_ASKED, len(fit.model.names)) + 1):
        found = _best_trust(settlement, width, rng)
        if found is None:  # all such tables are too large to ask about
            break
        trusted.append(found)
    return Refinement(steps, tuple(trusted))


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


def people_of(table: Array, sights: Sequence[Seen], trusted: float) -> Array:
    """Return what is expected of the people themselves, given what each of them reported.

    That is an EM step from what people are like in general. A model says that too: of a cell
    in which hardly anybody is expected better than its reports could, but where many are its
    reports find it out. So the step is taken from a table between the model and what an EM
    step makes of it (``loosened``).
    """
    if trusted < inf:
        people = sum(sight.people for sight in sights)
        table = loosened(table, em_step(sights, table), trusted / people)
    return em_step(sights, table)


def loosened(table: Array, found: Array, trusted: float) -> Array:
    """Return a model's table moved towards what an EM step found.

    Each cell as if so large a share of all people as ``trusted`` had been seen in it before, as
    many as the model expects there: the mode of a share whose prior is a gamma distribution.
    """
    moved = found + trusted
    moved *= table
    moved /= table + trusted
    moved /= moved.sum()
    return moved


class _Trial:
    """A table on its way from a climb's model to its own reports, judged by one fold."""

    def __init__(self, settlement: Settlement, names: Sequence[str], judge: int) -> None:
        folds = settlement.fit.folds
        taught, held = folds.evidence_fitted(judge), folds.evidence_held(judge)
        self.judge = judge
        self.table = _started(settlement, names, judge)
        self.fitted = seen_in(observe(taught, names).sights)
        self.held = merged(covering_of(held, names))
        self.before = [np.log(sight.see(self.table)) for sight in self.held]

    def go(self, steps: float) -> None:
        """Take so many EM steps."""
        self.table = refine(self.table, self.fitted, steps)

    def trusting(self, trusts: Sequence[float]) -> list[float]:
        """Return how much likelier held-out reports would be if the model was loosened."""
        people = sum(sight.people for sight in self.fitted)
        found = em_step(self.fitted, self.table)
        return [self.gain(loosened(self.table, found, trusted / people)) for trusted in trusts]

    def gain(self, table: Array | None = None) -> float:
        """Return how much likelier the held-out reports became, or are by a table, in nats."""
        total = 0.0
        here = self.table if table is None else table
        for sight, before in zip(self.held, self.before, strict=True):
            change = np.log(np.maximum(sight.see(here), TINY)) - before
            total += float(np.sum(sight.counts * change))
        return total


def _started(settlement: Settlement, names: Sequence[str], judge: int) -> Array:
    """Return a climb's table, raked to its pairs as they are settled without its judge."""
    places = combinations(range(len(names)), 2)
    pairs = {key: settlement.without(judge, tuple(names[place] for place in key)) for key in places}
    known = {key: table for key, table in pairs.items() if table is not None}
    return rake(settlement.fit.climbs[judge].table(names), known)


def _best_steps(settlement: Settlement, width: int, rng: np.random.Generator) -> float:
    """Take more and more steps until the held-out people have twice been served worse."""
    folds = settlement.fit.folds.number
    trials = _trials(settlement, width, rng)
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
        gain, error = _verdict(trials, folds)
        worse = 0 if gain > best else worse + 1
        best = max(best, gain)
        if gain - CAUTION * error > sure:
            sure, chosen = gain - CAUTION * error, steps
        if worse == PATIENCE:
            break
    return chosen


def _best_trust(settlement: Settlement, width: int, rng: np.random.Generator) -> float | None:
    """Return the trust in the model that serves held-out people best, if it is not full."""
    folds = settlement.fit.folds.number
    gains = np.zeros((len(TRUSTS), folds))
    trials = _trials(settlement, width, rng)
    for trial in trials:
        gains[:, trial.judge] += trial.trusting(TRUSTS)
    gain, error = gains.sum(axis=1), gains.std(axis=1, ddof=1) * sqrt(folds)
    if np.any(gain > CAUTION * error):
        return TRUSTS[int(np.argmax(gain))]
    return inf if trials else None


def _trials(settlement: Settlement, width: int, rng: np.random.Generator) -> list[_Trial]:
    """Return tables of a width, each with some of the folds that judge it."""
    folds = settlement.fit.folds.number
    tables = some_tables(settlement.fit, width, rng)
    each = max(1, min(folds, TRIALS // max(1, len(tables))))
    asked = [
        (names, (place + judge) % folds)
        for judge in range(each)
        for place, names in enumerate(tables)
    ]
    return _within_means(_Trial(settlement, names, judge) for names, judge in asked)


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
