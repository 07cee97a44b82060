"""What reports will tell about a table, by closed formulas, before anybody is asked.

The estimate foreseen is the one whose interval is printed: the unbiased inverse of every
view that asks the whole table, each view weighing n / noise. Every channel of a survey file
treats all cells of a group alike, so the second moment of what a report adds to a cell is

    E[U[Y, x]² | answer z] = own if z = x, else other,

(a staircase channel does not; its moments are summed over all its reports), and over
several groups the product of theirs. Summed over the cells it does not depend on the
answer: E Σ_x U² = Π (own + (m − 1)·other), so a root mean squared error hangs on the truth
through Σπ² only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from deniable.channels import KAry, SubsetSelection, TwoCoin, Unary, support_of
from deniable.channels.coin import WORD
from deniable.errors import EstimationError
from deniable.estimation.echo import Echo, coins_echo, subset_echo, unary_echo

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from deniable.channels import Channel
    from deniable.estimation.listed import Listed

    Array = NDArray[np.float64]

Axes: TypeAlias = tuple[int, ...]

MOST_PER_CELL = 2**22
"""Cells of a table whose errors are worked out one by one."""


@dataclass(frozen=True, slots=True)
class Part:
    """One group's share in a glimpse.

    Attributes:
        axes: The table's axes that the group asks.
        cells: Their cells together.
        echo: The moments of what its reports add to them.
        reach: How far one report can move the estimate of one of these cells.
        least: What a report adds to one of these cells at the least.
    """

    axes: Axes
    cells: int
    echo: Echo
    reach: float
    least: float

    @property
    def noise(self) -> float:
        """Return E Σ_x U[Y, x]², whatever the truth."""
        return self.echo.own + (self.cells - 1) * self.echo.other

    def moment(self, table: Array) -> Array:
        """Return E U[Y, x]² for each cell, this group's moments in the place of its shares."""
        whole = table.sum(axis=self.axes, keepdims=True)
        return np.asarray(self.echo.other * whole + (self.echo.own - self.echo.other) * table)

    @property
    def clarity(self) -> float:
        """Return the information on differences of cells at even shares; 1 for a plain answer."""
        echo = self.echo
        spread = (echo.own - echo.other - 2 * (echo.crossed - echo.apart)) / self.cells
        return 1 / self.cells / (echo.other - echo.apart + spread)


@dataclass(frozen=True, slots=True)
class Glimpse:
    """One way in which some respondents are asked a whole table.

    Attributes:
        share: The share of respondents who are asked it this way.
        parts: The groups that ask it.
    """

    share: float
    parts: tuple[Part | Listed, ...]

    @property
    def kind(self) -> tuple[float, ...]:
        """Return what sets it apart: those of the same share, asked the same way, are alike."""
        return self.share, *map(id, self.parts)

    @property
    def noise(self) -> float:
        """Return E Σ_x U[Y, x]² over the table's cells, at even shares."""
        return math.prod(part.noise for part in self.parts)

    @property
    def clarity(self) -> float:
        """Return the information on what several attributes do together at even shares."""
        return math.prod(part.clarity for part in self.parts)

    @property
    def reach(self) -> float:
        """Return how far one report can move the estimate of a cell, if it were the only one."""
        low, high = 1.0, 1.0
        for part in self.parts:
            ends = [a * b for a in (low, high) for b in (part.least, part.least + part.reach)]
            low, high = min(ends), max(ends)
        return high - low

    def moment(self, table: Array) -> Array:
        """Return E U[Y, x]² for each cell, if this is the truth."""
        for part in self.parts:
            table = part.moment(table)
        return table

    def spread(self, truth: Array | None) -> float:
        """Return E Σ_x U[Y, x]² at the truth: of most channels the same at each."""
        if truth is None or all(isinstance(part, Part) for part in self.parts):
            return self.noise
        return float(self.moment(truth).sum())


@dataclass(frozen=True, eq=False)
class Outlook:
    """What a design will tell about one table.

    Attributes:
        names: The table's attributes.
        shape: Their numbers of cells.
        glimpses: The ways in which the whole table is asked of one person.
        truth: The shares that are expected; even if None.
    """

    names: tuple[str, ...]
    shape: tuple[int, ...]
    glimpses: tuple[Glimpse, ...]
    truth: Array | None = None

    @property
    def cells(self) -> int:
        """Return the number of cells."""
        return math.prod(self.shape)

    @property
    def share(self) -> float:
        """Return the share of respondents who are asked the whole table."""
        return sum(glimpse.share for glimpse in self.glimpses)

    @property
    def kind(self) -> Hashable:
        """Return what sets it apart: tables of one kind are foreseen alike."""
        truth = None if self.truth is None else self.truth.tobytes()
        return self.shape, truth, *[seen.kind for seen in self.glimpses]

    @cached_property
    def same(self) -> float:
        """Return Σπ²: how likely two people are of one cell."""
        return 1 / self.cells if self.truth is None else float(np.sum(self.truth**2))

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """Return each glimpse's weight over its share of people, summed: w/s, Σ w = 1."""
        total = sum(glimpse.share / glimpse.noise for glimpse in self.glimpses)
        return tuple(1 / glimpse.noise / total for glimpse in self.glimpses)

    @cached_property
    def variance(self) -> float:
        """Return the mean variance of a cell, times the number of people; infinite if unseen."""
        told = zip(self.weights, self.glimpses, strict=True)
        total = sum(w**2 * seen.share * (seen.spread(self.truth) - self.same) for w, seen in told)
        return total / self.cells if self.glimpses else math.inf

    @cached_property
    def variances(self) -> Array:
        """Return the variance of each cell, times the number of people."""
        if self.cells > MOST_PER_CELL:
            problem = "the errors of so many cells are not worked out one by one"
            raise EstimationError(problem, given=self.cells, expected=f"at most {MOST_PER_CELL}")
        if not self.glimpses or self.truth is None:
            return np.full(self.shape, self.variance)
        result = np.zeros(self.shape)
        for weight, seen in zip(self.weights, self.glimpses, strict=True):
            result += weight**2 * seen.share * (seen.moment(self.truth) - self.truth**2)
        return result

    @cached_property
    def largest_variance(self) -> float:
        """Return the variance of the least known cell, times the number of people."""
        return self.variance if self.truth is None else float(self.variances.max())

    def error(self, people: float) -> float:
        """Return the root mean squared error of a cell."""
        return math.sqrt(self.variance / people)

    def standard_errors(self, people: float) -> Array:
        """Return the standard error of each cell."""
        return np.asarray(np.sqrt(self.variances / people))

    def worth(self, people: float) -> float:
        """Return how many plain answers would tell the table as well."""
        return people * (1 - self.same) / (self.cells * self.variance)

    @property
    def clarity(self) -> float:
        """Return Σ share · information on what the attributes do together, at even shares."""
        return sum(seen.share * seen.clarity for seen in self.glimpses)

    @property
    def reach(self) -> float:
        """Return by how much one report moves a cell at most, times the number of people.

        Whoever lies may also choose the view in which a lie weighs most.
        """
        told = zip(self.weights, self.glimpses, strict=True)
        return max((w * seen.reach for w, seen in told), default=math.nan)

    @property
    def drift(self) -> float:
        """Return by how much a cell moves at most for each share of liars who keep their view."""
        told = zip(self.weights, self.glimpses, strict=True)
        return sum(w * seen.share * seen.reach for w, seen in told)


@dataclass(frozen=True, eq=False)
class Courses(Outlook):
    """What a design will tell whose later channels hang on reports: the mean of some courses.

    Attributes:
        courses: What each of them tells.
        shift: What the mean of their variances leaves out of a cell's.
    """

    courses: tuple[Outlook, ...] = ()
    shift: float = 0.0

    @property
    def kind(self) -> Hashable:
        """Return what sets it apart."""
        return self.shift, *[course.kind for course in self.courses]

    @cached_property
    def variance(self) -> float:
        """Return the mean variance of a cell, times the number of people; infinite if unseen."""
        return self.shift + float(np.mean([course.variance for course in self.courses]))

    @cached_property
    def variances(self) -> Array:
        """Return the variance of each cell, times the number of people."""
        return np.asarray(self.shift + np.mean([one.variances for one in self.courses], axis=0))

    @property
    def clarity(self) -> float:
        """Return the mean of their clarities."""
        return float(np.mean([course.clarity for course in self.courses]))

    @property
    def reach(self) -> float:
        """Return by how much one report moves a cell at most, in any of them."""
        return max(course.reach for course in self.courses)

    @property
    def drift(self) -> float:
        """Return by how much a cell moves at most for each share of liars, in any of them."""
        return max(course.drift for course in self.courses)


def part_of(channel: Channel, axes: Axes, cells: int) -> Part:
    """Return what a group's channel tells of equal slices of its cells, so many of them.

    Raises:
        EstimationError: Nothing is known about the channel by formula.
    """
    depth = channel.size // cells
    match channel:
        case KAry(head=head) | TwoCoin(head=head):
            truth = head / WORD
            return Part(
                axes, cells, coins_echo(truth, cells), 1 / truth, -(1 - truth) / truth / cells
            )
        case SubsetSelection(chosen=chosen, size=size):
            fewest, most = max(0, chosen - (size - depth)), min(chosen, depth)
            echo = subset_echo(channel, cells)
        case Unary():
            fewest, most = 0, depth
            echo = unary_echo(channel, cells)
        case _:
            problem = "what this channel will tell is not known by formula"
            expected = "a k-ary, two-coin, subset or unary channel"
            raise EstimationError(problem, given=channel.kind, expected=expected)
    support = support_of(channel)
    slope, offset = float(support.slope), float(support.offsets[0])
    return Part(axes, cells, echo, (most - fewest) / slope, (fewest - depth * offset) / slope)
