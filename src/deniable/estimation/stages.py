"""A two-stage design foreseen: its second channels hang on a first stage that is still to come.

What the first stage will say of the margins is drawn, each attribute's estimate around the
shares expected with the error that the formulas give it; from there the second channels
follow by the rule itself, and what both stages tell together by formula. What is foreseen
is the mean over the courses drawn. The margins found decide which share of the second stage
goes on to learn about them, and with it the error of a cell, so that the channel at the
shares expected would not do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels import Matrix
from deniable.estimation.best_sets import GAP
from deniable.estimation.listed import Listed
from deniable.estimation.outlook import Courses
from deniable.estimation.sightings import sightings_of
from deniable.estimation.two_stage import FIRST, believed, second_channel
from deniable.protocol import Group

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from deniable.channels import Channel
    from deniable.estimation.outlook import Axes, Outlook
    from deniable.estimation.sightings import Sightings
    from deniable.protocol import Design

    Array = NDArray[np.float64]
    Margin = Callable[[int], Array]
    Order = tuple[int, ...]

COURSES = 128
"""Courses drawn where all groups have few cells: a channel for them takes milliseconds."""

FEW_COURSES = 6
"""Courses drawn where some group has more cells, whose channel takes up to a second."""

FEW_CELLS = 9
FEW_VIEWS = 40

MOST_CHANNELS = 40
"""Up to so many different groups, and ``FEW_VIEWS``, courses are drawn; of more, one at the
shares expected."""

ROUGH = 0.05
"""How near the best those channels are: a test foreseen needs a few respondents more for it."""


@dataclass(frozen=True, eq=False)
class Stages:
    """What each course of a two-stage design would tell.

    Attributes:
        design: The design; its channels are those of the first stage.
        courses: Who is asked what through which channel, in each course.
        first: The share of respondents in the first stage.
        luck: By how much Σ (π̂ − π)² of an attribute in the first stage exceeds what is
            expected, times the number of people, in each course; none where nothing is drawn.
    """

    design: Design
    courses: tuple[Sightings, ...]
    first: float = 1.0
    luck: tuple[dict[int, float], ...] = ()

    def outlook(self, table: Axes, truth: Array | None = None) -> Outlook:
        """Return what the design will tell about a table, on average over the courses."""
        sizes = tuple([self.design.sizes[attribute] for attribute in table])
        # Cells differ at even shares too, and what a test sees has no closed form.
        shares = np.full(sizes, 1 / math.prod(sizes)) if truth is None else truth
        told = tuple([course.outlook(table, shares) for course in self.courses])
        return Courses(
            told[0].names, sizes, told[0].glimpses, shares, told, self._shift(table, told)
        )

    def _shift(self, table: Axes, told: tuple[Outlook, ...]) -> float:
        """Return what a cell's variance gains as the first stage's luck moves its own weight.

        Where the margins come out far off, the second channel asks more about them, and the
        first stage counts for less: Σ (π̂ − π)² of a table is made of Σ δ² / others for each
        margin off by δ, and of what hangs on no margin.
        """
        if not self.luck:
            return 0.0
        sizes = [self.design.sizes[attribute] for attribute in table]
        cells = math.prod(sizes)
        beyond = np.array(
            [
                sum(luck[a] * size / cells for a, size in zip(table, sizes, strict=True))
                for luck in self.luck
            ]
        )
        squared = np.array([_first_weight(one, self.first) ** 2 for one in told])
        return float(np.mean((beyond - beyond.mean()) * squared)) / cells


def stages_of(
    design: Design, people: float, margin: Margin, *, rng: np.random.Generator | None
) -> Stages:
    """Foresee a two-stage design.

    Args:
        design: The design.
        people: How many will answer; the first stage asks those of the first block.
        margin: The shares expected of an attribute.
        rng: Draws what the first stage finds; without it the margins are found as expected.
    """
    first = design.rule.block_size
    later = math.ceil(people) - first
    if later < 1:
        return Stages(design, (sightings_of(design),))
    groups = [group for view in design.views for group in view.groups]
    kinds = {_kind(_in_order(group, _order(group, margin)), margin) for group in groups}
    quick = max(math.prod(sizes) for sizes, _ in kinds) <= FEW_CELLS
    many = COURSES if quick else FEW_COURSES
    drawn = rng if len(kinds) <= MOST_CHANNELS and len(design.views) <= FEW_VIEWS else None
    if drawn is None:
        return Stages(design, (_course(design, (first, later), margin, None)[0],))
    found = [_course(design, (first, later), margin, drawn) for _ in range(many)]
    courses, luck = zip(*found, strict=True)
    return Stages(design, courses, first / (first + later), luck)


def people_meant(design: Design) -> float:
    """Return how many respondents a two-stage design is for, its first stage the usual share."""
    return design.rule.block_size / FIRST


def _course(
    design: Design,
    people: tuple[int, int],
    margin: Margin,
    rng: np.random.Generator | None,
) -> tuple[Sightings, dict[int, float]]:
    """Return both stages as one design, its second stage as a first one makes it, and its luck."""
    first, later = people
    gap = ROUGH if rng is None else GAP
    told = sightings_of(design)
    found: dict[tuple[object, ...], Channel] = {}
    turned: dict[tuple[tuple[object, ...], Order], Channel] = {}
    estimates: dict[int, Array] = {}
    luck: dict[int, float] = {}

    def learned(attribute: int) -> Array:
        shares = margin(attribute)
        if rng is None:
            return believed(shares, 0.0)
        if attribute not in estimates:
            error = told.outlook((attribute,), shares).standard_errors(first)
            moved = _moved(shares, error, rng)
            beyond = float(np.sum((moved - shares) ** 2) - np.sum(error**2))
            luck[attribute] = (first + later) * beyond
            estimates[attribute] = believed(moved, float(np.sum(error**2)))
        return estimates[attribute]

    if rng is not None:
        for attribute in range(len(design.sizes)):
            learned(attribute)
    rows = []
    for view, row in zip(design.views, design.channels, strict=True):
        asked = first * view.weight / design.total_weight
        chosen = []
        for group, channel in zip(view.groups, row, strict=True):
            order = _order(group, margin)
            alike = _in_order(group, order)
            key = (*_kind(alike, margin), id(channel), view.weight)
            if key not in found:
                found[key] = second_channel(channel, alike, learned, asked, gap=gap)
            if (key, order) not in turned:
                turned[key, order] = _turned(found[key], alike, order)
            chosen.append(turned[key, order])
        rows.append(tuple(chosen))
    views = [replace(view, weight=view.weight * first) for view in design.views]
    views += [replace(view, weight=view.weight * later) for view in design.views]
    both = replace(design, views=tuple(views), channels=(*design.channels, *rows))
    return sightings_of(both), luck


def _first_weight(outlook: Outlook, share: float) -> float:
    """Return the weight that the first stage, so large a share, has in a table's estimate."""
    listed = [any(isinstance(part, Listed) for part in seen.parts) for seen in outlook.glimpses]
    if not any(listed):  # both stages go through one channel
        return share
    told = zip(outlook.weights, outlook.glimpses, listed, strict=True)
    return sum(weight * seen.share for weight, seen, later in told if not later)


def _kind(group: Group, margin: Margin) -> tuple[tuple[int, ...], bytes]:
    """Return what sets groups apart: those alike are taken to learn alike."""
    shares = [margin(attribute).tobytes() for attribute in group.attributes]
    return group.sizes, b"".join(shares)


def _order(group: Group, margin: Margin) -> Order:
    """Return a group's places such that groups of the same attributes in any order are alike."""
    return tuple(
        sorted(
            range(len(group.sizes)),
            key=lambda place: (group.sizes[place], margin(group.attributes[place]).tobytes()),
        )
    )


def _in_order(group: Group, order: Order) -> Group:
    return Group(
        *(tuple([every[place] for place in order]) for every in (group.attributes, group.sizes))
    )


def _turned(channel: Channel, group: Group, order: Order) -> Channel:
    """Return the channel of a group whose attributes were put into an order, as it had them."""
    if not isinstance(channel, Matrix) or order == tuple(range(len(order))):
        return channel
    cells = np.arange(group.size).reshape(group.sizes).transpose(np.argsort(order)).reshape(-1)
    return Matrix(tuple([channel.rows[cell] for cell in cells.tolist()]))


def _moved(shares: Array, error: Array, rng: np.random.Generator) -> Array:
    """Return an estimate of shares with these errors, its sum 1."""
    noise = error * rng.standard_normal(len(shares))
    cells = len(shares)
    spread = math.sqrt(cells / (cells - 1)) if cells > 1 else 0.0
    result: Array = shares + spread * (noise - noise.mean())
    return result
