"""Option: one design that a survey could name, and what it would cost and tell."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from statistics import geometric_mean
from typing import TYPE_CHECKING

from deniable.estimation.interval import comparisons_of, quantile
from deniable.estimation.stages import Stages
from deniable.inference.score import LEAST_WORTH
from deniable.planning.extremes import largest_of
from deniable.planning.power import (
    PAIR,
    freedom_of,
    mean_power,
    people_for_power,
    unit_noncentrality,
)
from deniable.protocol import (
    attribute_epsilons,
    coverage_of,
    people_per_view,
    view_epsilons,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    import numpy as np
    from numpy.typing import NDArray

    from deniable.estimation.outlook import Outlook
    from deniable.estimation.sightings import Sightings
    from deniable.planning.prior import Prior
    from deniable.protocol import Coverage, Design
    from deniable.schema import Survey

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Option:
    """A design for a survey, with what it will tell about the tables wanted.

    Attributes:
        label: The design and the options that set it apart.
        survey: The survey that names it.
        design: The design.
        tables: What it will tell about each table wanted.
        sightings: Who is asked what together.
        prior: The shares expected; even ones if None.
        units: Noncentralities that were worked out already.
    """

    label: str
    survey: Survey
    design: Design
    tables: tuple[Outlook, ...]
    sightings: Sightings | Stages
    prior: Prior | None = None
    units: dict[tuple[object, ...], float] = field(default_factory=dict)

    @cached_property
    def coverage(self) -> Coverage:
        """Return what the views cover."""
        return coverage_of(self.design)

    @cached_property
    def answer(self) -> float:
        """Return ε of one answer: the costliest view, all its groups together."""
        return max(view_epsilons(self.design.channels))

    @property
    def respondent(self) -> float:
        """Return ε of all answers that one respondent may give."""
        return self.answer * self.design.repeats

    @cached_property
    def attribute(self) -> float:
        """Return ε of the costliest attribute: what a change in one answer alone could show."""
        return max(attribute_epsilons(self.design, self.design.channels))

    @property
    def is_classic(self) -> bool:
        """Tell whether channels change by a classic rule."""
        return self.design.rule.name.startswith("classic")

    @property
    def in_stages(self) -> bool:
        """Tell whether the margins are learned first, and then what depends."""
        return self.design.rule.name == "two-stage"

    @property
    def blind(self) -> tuple[Outlook, ...]:
        """Return the tables about which it tells nothing."""
        return tuple(table for table in self.tables if not table.glimpses)

    @cached_property
    def kinds(self) -> tuple[tuple[Outlook, int], ...]:
        """Return a table of each kind, and how many tables it stands for."""
        return tuple((alike[0], len(alike)) for alike in _by_kind(self.tables))

    def people_per_view(self, people: float) -> float:
        """Return how many are expected to draw the least asked view."""
        return min(people_per_view(self.design, 1)) * people

    def error(self, people: float) -> float:
        """Return the mean over the tables of the root mean squared error of a cell."""
        return sum(n * table.error(people) for table, n in self.kinds) / len(self.tables)

    def worst_error(self, people: float) -> float:
        """Return the largest of these errors."""
        return max(table.error(people) for table, _ in self.kinds)

    def largest_error(self, table: Outlook, people: float) -> float:
        """Return the expected error of whichever cell is furthest off."""
        return largest_of(table.standard_errors(people).reshape(-1))

    def worth(self, people: float) -> float:
        """Return how many plain answers a table is worth.

        It is the harmonic mean over the tables of as many attributes; the widths count alike,
        in the geometric mean. A triple is always worth far less than a pair, and one mean over
        all of them would be that of the triples.
        """
        if self.blind:
            return 0.0
        lost: defaultdict[int, float] = defaultdict(float)
        for table, number in self.kinds:
            lost[len(table.names)] += number / table.worth(people)
        count = Counter(len(table.names) for table in self.tables)
        return geometric_mean([count[width] / lost[width] for width in count])

    def least_worth(self, people: float) -> float:
        """Return the worth of the table of which least will be known."""
        return min(table.worth(people) for table, _ in self.kinds)

    def width(self, people: float, level: float, *, simultaneous: bool = False) -> float:
        """Return the width of the widest interval of any cell of any table."""
        return max(width_of(t, people, level, simultaneous=simultaneous) for t, _ in self.kinds)

    def people_for_width(self, width: float, level: float, *, simultaneous: bool = False) -> float:
        """Return how many must answer for intervals all as narrow as wanted."""
        return self.width(1.0, level, simultaneous=simultaneous) ** 2 / width**2

    @cached_property
    def pairs(self) -> tuple[Outlook, ...]:
        """Return the tables of which the power is told: pairs, those within larger tables too.

        With a prior that says what more than two attributes do together, larger tables too.
        """
        places = {name: place for place, name in enumerate(self.design.names)}
        found: dict[tuple[str, ...], Outlook] = {}
        for table in self.tables:
            if len(table.names) == PAIR:
                found.setdefault(table.names, table)
                continue
            for pair in combinations(table.names, PAIR):
                if pair not in found and pair[::-1] not in found:
                    chosen = tuple(places[name] for name in pair)
                    found[pair] = self._outlook(chosen)
        return tuple(found.values())

    @cached_property
    def tested(self) -> tuple[Outlook, ...]:
        """Return those of the pairs whose power may differ.

        At even shares it is that of every pair of its kind; else it also hangs on who was
        asked one of the two alone.
        """
        seen = self.sightings
        if self.prior is not None or (isinstance(seen, Stages) and seen.luck):
            return self.pairs
        return tuple(alike[0] for alike in _by_kind(self.pairs))

    def _outlook(self, table: tuple[int, ...]) -> Outlook:
        return outlook_of(self.sightings, table, self.prior)

    def unit(self, table: Outlook, association: float | None) -> float:
        """Return the noncentrality of one respondent for the test of a table."""
        told = self.units_of(table, association)
        return sum(told) / len(told)

    def units_of(self, table: Outlook, association: float | None) -> list[float]:
        """Return the same for each course that the survey may take."""
        truth = table.truth
        if truth is None:
            return [unit_noncentrality(table, association)]
        places = tuple(self.design.names.index(name) for name in table.names)
        return [self._unit(one, places, truth, association) for one in self._courses]

    @property
    def _courses(self) -> tuple[Sightings, ...]:
        seen = self.sightings
        return seen.courses if isinstance(seen, Stages) else (seen,)

    def _unit(
        self, seen: Sightings, places: tuple[int, ...], truth: Array, association: float | None
    ) -> float:
        """Return the noncentrality in one course; pairs that are asked alike share it."""
        outlook, parts = seen.outlook(places, truth), seen.parts_of(places)
        asked = [glimpse.kind for glimpse in (*outlook.glimpses, *parts)]
        key = (id(seen), *sorted(asked), truth.shape, truth.tobytes(), association)
        if key not in self.units:
            self.units[key] = unit_noncentrality(outlook, association, parts)
        return self.units[key]

    def power(
        self, table: Outlook, people: float, association: float | None, level: float
    ) -> float:
        """Return the power of the default test of a table; 0 where it says “too little data”."""
        if table.worth(people) < LEAST_WORTH:
            return 0.0
        units = self.units_of(table, association)
        return mean_power(units, people, freedom_of(table.shape), level)

    def least_power(self, people: float, association: float | None, level: float) -> float:
        """Return the power of the test that is least likely to notice the association."""
        return min(self.power(t, people, association, level) for t in self.tested)

    def people_for_power(self, power: float, association: float | None, level: float) -> float:
        """Return how many must answer for every pair's test to have a power."""
        return max(
            max(
                people_for_power(self.units_of(t, association), freedom_of(t.shape), power, level),
                LEAST_WORTH / t.worth(1.0) if t.glimpses else math.inf,
            )
            for t in self.tested
        )


def _by_kind(tables: Iterable[Outlook]) -> Iterable[list[Outlook]]:
    """Return the tables, those that are foreseen alike together."""
    found: defaultdict[Hashable, list[Outlook]] = defaultdict(list)
    for table in tables:
        found[table.kind].append(table)
    return found.values()


def width_of(table: Outlook, people: float, level: float, *, simultaneous: bool = False) -> float:
    """Return the width of the interval of a table's least known cell, 2·z·se.

    Intervals end at 0 and 1, so that where they are as wide as that they are narrower.
    """
    comparisons = comparisons_of(table.cells) if simultaneous else 1
    z = quantile(level, comparisons=comparisons)
    return 2 * z * math.sqrt(table.largest_variance / people)


def outlook_of(
    sightings: Sightings | Stages, table: tuple[int, ...], prior: Prior | None
) -> Outlook:
    """Return what a design will tell about a table, the truth being as expected."""
    if prior is None:
        return sightings.outlook(table)
    names, sizes = sightings.design.names, sightings.design.sizes
    wanted = [names[place] for place in table]
    return sightings.outlook(table, prior.truth(wanted, [sizes[place] for place in table]))
