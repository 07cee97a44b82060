"""A plan checked by simulation: what the formulas foresee beside what comes out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.bulk.keystream import unsafe_seeded
from deniable.estimation.method import tabulate
from deniable.estimation.observation import observe, require_together
from deniable.estimation.unbiased import pooled
from deniable.inference.independence import mutual
from deniable.inference.score import score_test
from deniable.planning.power import PAIR, contingency
from deniable.planning.rehearsal import rehearse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from deniable.estimation.outlook import Outlook
    from deniable.planning.compare import Plan
    from deniable.planning.option import Option
    from deniable.planning.prior import Prior
    from deniable.protocol import Tally

    Array = NDArray[np.float64]

MOST_TABLES = 8
"""Tables looked at: from the one worth least to the one worth most."""


@dataclass(frozen=True, slots=True)
class CheckedTable:
    """One table of a plan, as simulated.

    Attributes:
        names: Its attributes.
        predicted: The root mean squared error of a cell by formula.
        simulated: The same in the simulation.
        uncertainty: The standard error of their ratio.
        reported: The root mean squared standard error that was printed with the tables.
        coverage: The share of cells' intervals that held the truth.
        simultaneous: The share of tables all of whose simultaneous intervals did.
    """

    names: tuple[str, ...]
    predicted: float
    simulated: float
    uncertainty: float
    reported: float
    coverage: float
    simultaneous: float


@dataclass(frozen=True, slots=True)
class Check:
    """A plan, as simulated.

    Attributes:
        label: The design.
        people: How many answered.
        rounds: How often the survey was made.
        tables: Some tables.
        power: The least power foreseen, and the share of tests that noticed; None without one.
        remarks: What to know, a sentence each.
        rounds_off: For each round the squared errors over those foreseen, mean over the tables.
    """

    label: str
    people: int
    rounds: int
    tables: tuple[CheckedTable, ...]
    power: tuple[float, float] | None
    remarks: tuple[str, ...]
    rounds_off: tuple[float, ...] = ()

    @property
    def ratio(self) -> tuple[float, float]:
        """Return the error simulated over the one foreseen, all tables as one, and its error."""
        mean = float(np.mean(self.rounds_off))
        loose = float(np.std(self.rounds_off)) / math.sqrt(self.rounds)
        return math.sqrt(mean), loose / 2 / math.sqrt(mean)


def check(
    plan: Plan,
    *,
    rng: np.random.Generator,
    rounds: int = 200,
    progress: Callable[[int], None] | None = None,
) -> Check:
    """Make the survey many times over among people whose answers are known.

    Args:
        plan: The plan; its chosen design is simulated.
        rng: Draws the people and seeds their devices.
        rounds: How often.
        progress: Told how many more rounds are done.
    """
    option, people = plan.chosen, math.ceil(plan.goal.people)
    chosen = some_of(option.tables)
    records = [_Record(table, _truth(table)) for table in chosen]
    rival = _rival(plan, option)
    noticed = short = 0
    for _ in range(rounds):
        answers = drawn(plan.prior, option, people, rng)
        tally = _collected(option, answers, rng)
        for record in records:
            record.add(tally, plan.goal.level)
        if rival is not None:
            seen, few = _noticed(rival, option, people, plan.goal.significance, rng)
            noticed, short = noticed + seen, short + few
        if progress is not None:
            progress(1)
    power = None
    remarks: list[str] = []
    if rival is not None:
        told = option.power(rival.table, people, plan.goal.association, plan.goal.significance)
        power = (told, noticed / rounds)
        error = math.sqrt(max(told * (1 - told), 0.0025) / rounds)
        remarks.append(
            f"power for {','.join(rival.table.names)}: foreseen {told:.3f}, "
            f"simulated {noticed / rounds:.3f} ± {error:.3f}"
        )
        if short:
            remarks.append(f"{short:,} of {rounds:,} tests had too little data to say anything")
    found = tuple(record.told(people) for record in records)
    off = np.mean([np.array(r.squares) / r.table.error(people) ** 2 for r in records], axis=0)
    return Check(option.label, people, rounds, found, power, tuple(remarks), tuple(off.tolist()))


def some_of(tables: Sequence[Outlook]) -> list[Outlook]:
    """Return a few tables that can be estimated, from the one worth least to the one worth most."""
    able = sorted((t for t in tables if t.glimpses), key=lambda table: table.worth(1.0))
    if len(able) <= MOST_TABLES:
        return able
    steps = np.linspace(0, len(able) - 1, MOST_TABLES).round().astype(int)
    return [able[step] for step in steps]


def drawn(
    prior: Prior | None, option: Option, people: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the answers of so many people, a row each."""
    sizes, names = option.design.sizes, option.design.names
    answers = rng.integers(0, sizes, (people, len(sizes)))
    for known, table in () if prior is None else prior.tables:
        cells = rng.choice(table.size, people, p=table.reshape(-1))
        for name, column in zip(known, np.unravel_index(cells, table.shape), strict=True):
            answers[:, names.index(name)] = column
    return answers


def _truth(table: Outlook) -> Array:
    return np.full(table.shape, 1 / table.cells) if table.truth is None else table.truth


def _collected(option: Option, answers: NDArray[np.int64], rng: np.random.Generator) -> Tally:
    stream = unsafe_seeded(*rng.integers(0, 2**31, 2).tolist())
    return rehearse(option.design, answers, stream=stream, joint=True)


class _Record:
    """What came out for one table, round after round."""

    def __init__(self, table: Outlook, truth: Array) -> None:
        self.table = table
        self.truth = truth
        self.squares: list[float] = []
        self.reported: list[float] = []
        self.covered: list[float] = []
        self.at_once: list[bool] = []

    def add(self, tally: Tally, level: float) -> None:
        observation = observe(tally, self.table.names)
        dispersion = pooled(require_together(observation))
        found = tabulate(observation, dispersion.centre, dispersion)
        self.squares.append(float(np.mean((dispersion.centre - self.truth) ** 2)))
        self.reported.append(float(np.mean(found.variance)))
        self.covered.append(float(found.interval(level).covers(self.truth).mean()))
        every = found.interval(level, simultaneous=True).covers(self.truth)
        self.at_once.append(bool(every.all()))

    def told(self, people: int) -> CheckedTable:
        predicted = self.table.error(people)
        mean = float(np.mean(self.squares))
        simulated = math.sqrt(mean)
        loose = float(np.std(self.squares)) / mean / 2 / math.sqrt(len(self.squares))
        return CheckedTable(
            self.table.names,
            predicted,
            simulated,
            loose * simulated / predicted,
            math.sqrt(float(np.mean(self.reported))),
            float(np.mean(self.covered)),
            float(np.mean(self.at_once)),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Rival:
    """A pair of attributes that hang together as strongly as a plan asks about."""

    table: Outlook
    places: tuple[int, ...]
    truth: Array


def _rival(plan: Plan, option: Option) -> _Rival | None:
    """Return the pair whose test is weakest, with an association of the size asked about."""
    association = plan.goal.association
    pairs = [table for table in option.pairs if table.glimpses]
    if association is None or not pairs:
        return None
    table = min(pairs, key=lambda t: option.power(t, 1e4, association, plan.goal.significance))
    places = tuple(option.design.names.index(name) for name in table.names)
    null = mutual(table.shape).nearest(_truth(table))
    return _Rival(table, places, associated(null, association))


def associated(null: Array, association: float) -> Array:
    """Return a pair with the margins of an independent table and a Cramér's V.

    The departure is that of the correlation of the categories' ranks, as far as no share
    falls below zero; what is missing is not there, so V is then smaller.

    >>> table = associated(np.full((2, 2), 0.25), 0.5)
    >>> table.round(3).tolist()
    [[0.375, 0.125], [0.125, 0.375]]
    """
    if null.ndim != PAIR:
        raise AssertionError("an association is that of a pair")
    rows, columns = null.sum(axis=1), null.sum(axis=0)
    scores = []
    for margin in (rows, columns):
        ranks = np.arange(margin.size) - np.arange(margin.size) @ margin
        scores.append(ranks / math.sqrt(ranks**2 @ margin))
    departure = null * np.multiply.outer(*scores)
    scale = math.sqrt(contingency(association, null.shape))
    down = departure < 0
    room = float(np.min(null[down] / -departure[down])) if down.any() else math.inf
    result: Array = null + min(scale, room) * departure
    return result


def _noticed(
    rival: _Rival, option: Option, people: int, significance: float, rng: np.random.Generator
) -> tuple[int, int]:
    """Return whether a test noticed the association, and whether it had too little data."""
    answers = drawn(option.prior, option, people, rng)
    cells = rng.choice(rival.truth.size, people, p=rival.truth.reshape(-1))
    for place, column in zip(rival.places, np.unravel_index(cells, rival.truth.shape), strict=True):
        answers[:, place] = column
    observation = observe(_collected(option, answers, rng), rival.table.names)
    result = score_test(observation, mutual(rival.table.shape), "independent")
    return int(not result.shortage and result.rejects(significance)), int(bool(result.shortage))
