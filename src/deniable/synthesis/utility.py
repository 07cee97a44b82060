"""Utility: how well synthetic records keep the estimated tables of all pairs and triples.

Two questions are kept apart. *Distances* say how far the records are from the tables that they
were made of: the price of whole people. *Agreement* says whether the reports contradict the
records: how many shares lie in the intervals that each table's own reports give it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from deniable.estimation.table import Table
    from deniable.synthesis.records import Records

    Estimated = Callable[[Sequence[str]], NDArray[np.float64]]
    Told = Callable[[Sequence[str]], Table]


KINDS = ((1, "single attributes"), (2, "pairs"), (3, "triples"))


@dataclass(frozen=True, slots=True)
class Distance:
    """How far the records' table of some attributes is from the estimated one."""

    attributes: tuple[str, ...]
    total_variation: float
    largest_cell_error: float


@dataclass(frozen=True, slots=True)
class Utility:
    """The distances of all tables of up to three attributes.

    Attributes:
        distances: One for each single attribute, pair and triple, in that order.
        without: Tables that could not be compared because nothing estimates them.
    """

    distances: tuple[Distance, ...]
    without: tuple[tuple[str, ...], ...] = ()

    def of(self, ways: int) -> tuple[Distance, ...]:
        """Return the distances of the tables of ``ways`` attributes, the largest first."""
        chosen = [one for one in self.distances if len(one.attributes) == ways]
        return tuple(sorted(chosen, key=lambda one: -one.total_variation))

    def mean(self, ways: int) -> float:
        """Return the mean total variation of the tables of ``ways`` attributes; NaN for none."""
        chosen = [one.total_variation for one in self.of(ways)]
        return float(np.mean(chosen)) if chosen else float("nan")

    def rows(self) -> list[tuple[str, int, float, float, str]]:
        """Return what to print: kind, number of tables, mean and worst distance, worst table."""
        told = []
        for ways, kind in KINDS:
            chosen = self.of(ways)
            if chosen:
                worst = chosen[0]
                name = " × ".join(worst.attributes)
                told.append((kind, len(chosen), self.mean(ways), worst.total_variation, name))
        return told


def utility(records: Records, estimated: Estimated, *, most_ways: int = 3) -> Utility:
    """Return how far the records are from estimated tables.

    Args:
        records: The synthetic people.
        estimated: Returns the shares of the table of some attributes, by name; for instance
            ``lambda names: table.marginalize(names).estimate``. A table for which it raises
            ``EstimationError`` is listed as one that nothing estimates.
        most_ways: Up to how many attributes a compared table has.
    """
    distances, without = [], []
    names = [axis.name for axis in records.axes]
    for ways in range(1, min(most_ways, len(names)) + 1):
        for places in combinations(range(len(names)), ways):
            asked = tuple(names[place] for place in places)
            try:
                wanted = estimated(asked)
            except EstimationError:
                without.append(asked)
                continue
            error = np.abs(records.counts(places) / records.people - wanted)
            distances.append(Distance(asked, float(error.sum()) / 2, float(error.max())))
    return Utility(tuple(distances), tuple(without))


@dataclass(frozen=True, slots=True)
class Agreed:
    """How many cells of a table have a share within the interval that its reports give."""

    attributes: tuple[str, ...]
    cells: int
    inside: int

    @property
    def share(self) -> float:
        """Return inside / cells."""
        return self.inside / self.cells


@dataclass(frozen=True, slots=True)
class Agreement:
    """Whether the reports contradict the records, table by table.

    Attributes:
        tables: One for each single attribute, pair and triple, in that order.
        level: That of the intervals: of records without fault so many cells are within.
        without: Tables of which the reports alone tell nothing.
    """

    tables: tuple[Agreed, ...]
    level: float
    without: tuple[tuple[str, ...], ...] = ()

    def rows(self) -> list[tuple[str, int, int, str, str]]:
        """Return what to print: kind, tables, cells, share within, the worst table."""
        told = []
        for ways, kind in KINDS:
            chosen = [one for one in self.tables if len(one.attributes) == ways]
            if chosen:
                cells = sum(one.cells for one in chosen)
                inside = sum(one.inside for one in chosen) / cells
                worst = min(chosen, key=lambda one: one.share)
                name = f"{worst.share:.0%}: {' × '.join(worst.attributes)}"
                told.append((kind, len(chosen), cells, f"{inside:.1%}", name))
        return told


def agreement(
    records: Records, told: Told, *, level: float = 0.95, most_ways: int = 3
) -> Agreement:
    """Return whether the reports contradict the records.

    Args:
        records: The synthetic people.
        told: Returns the unbiased table of some attributes, by name. A table for which it
            raises ``EstimationError`` is listed as one of which the reports tell nothing.
        level: That of the intervals.
        most_ways: Up to how many attributes a table has.
    """
    found, without = [], []
    names = [axis.name for axis in records.axes]
    for ways in range(1, min(most_ways, len(names)) + 1):
        for places in combinations(range(len(names)), ways):
            asked = tuple(names[place] for place in places)
            try:
                interval = told(asked).interval(level)
            except EstimationError:
                without.append(asked)
                continue
            inside = interval.covers(records.counts(places) / records.people)
            found.append(Agreed(asked, inside.size, int(inside.sum())))
    return Agreement(tuple(found), level, tuple(without))
