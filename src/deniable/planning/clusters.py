"""Clusters of dependent attributes, to be randomized together (Domingo algorithm 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from deniable.errors import DesignError
from deniable.planning.learning import times
from deniable.protocol import design_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.schema import Survey

KEPT: Final = ("channel", "block_size")
"""Options of the first stage that the second takes over; the others say what is grouped."""

LONGEST_NAME: Final = 62
"""A survey's name has at most 64 letters, and the second stage's has two more."""


@dataclass(frozen=True, slots=True)
class Merge:
    """Two clusters that became one.

    Attributes:
        dependence: The greatest dependence between an attribute of one and one of the other.
        first: The attributes of one.
        second: The attributes of the other.
    """

    dependence: float
    first: tuple[int, ...]
    second: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Clusters:
    """A partition of the attributes.

    Attributes:
        groups: The clusters, each in order, the one with the first attribute first.
        merges: How they came to be, in order.
    """

    groups: tuple[tuple[int, ...], ...]
    merges: tuple[Merge, ...]


def cluster(
    dependence: NDArray[np.float64],
    sizes: Sequence[int],
    *,
    most_cells: int,
    least_dependence: float,
) -> Clusters:
    """Merge the most dependent clusters first, while they fit and are dependent enough.

    Args:
        dependence: The matrix of the attributes' dependences, from 0 to 1.
        sizes: Their numbers of cells.
        most_cells: T_v, the most cells a cluster may have.
        least_dependence: T_d, below which clusters are not merged.

    >>> cluster(np.array([[1, 0.6], [0.6, 1]]), (2, 3), most_cells=6, least_dependence=0.1).groups
    ((0, 1),)
    """
    count = len(sizes)
    if dependence.shape != (count, count):
        problem = "the dependences do not fit the attributes"
        raise DesignError(problem, given=dependence.shape, expected=f"{count} rows and columns")
    if not 0 <= least_dependence <= 1:  # nan too, which would merge everything
        problem = "the least dependence is no share"
        raise DesignError(problem, given=least_dependence, expected="a number from 0 to 1")
    groups: list[tuple[int, ...]] = [(attribute,) for attribute in range(count)]
    merges: list[Merge] = []
    while True:
        merge = _next(groups, dependence, sizes, most_cells, least_dependence)
        if merge is None:
            return Clusters(tuple(sorted(groups)), tuple(merges))
        merges.append(merge)
        groups = [group for group in groups if group not in {merge.first, merge.second}]
        groups.append(tuple(sorted(merge.first + merge.second)))


def _next(
    groups: Sequence[tuple[int, ...]],
    dependence: NDArray[np.float64],
    sizes: Sequence[int],
    most_cells: int,
    least_dependence: float,
) -> Merge | None:
    """Return the most dependent pair of clusters that fits together; ties by position."""
    ordered = sorted(groups)
    pairs = [
        Merge(float(dependence[np.ix_(one, two)].max()), one, two)
        for place, one in enumerate(ordered)
        for two in ordered[place + 1 :]
    ]
    for merge in sorted(pairs, key=lambda merge: -merge.dependence):
        if merge.dependence < least_dependence:
            return None
        if math.prod(sizes[attribute] for attribute in merge.first + merge.second) <= most_cells:
            return merge
    return None


def second_stage(survey: Survey, groups: Sequence[tuple[int, ...]], epsilon: float) -> Survey:
    """Return the survey of the second stage: the same questions, in clusters, under a new name.

    Args:
        survey: The first stage's. How ε is meant, how often one may answer and the channel stay.
        groups: The clusters; attributes in none or alone stand alone.
        epsilon: The level of the second stage, as its file puts it.
    """
    names = survey.schema.names
    clusters = [[names[a] for a in group] for group in groups if len(group) > 1]
    first = survey.privacy
    options = {key: first.options[key] for key in KEPT if key in first.options}
    if clusters:
        privacy = replace(
            first, epsilon=epsilon, design="clusters", options={**options, "clusters": clusters}
        )
    else:
        privacy = replace(first, epsilon=epsilon, design="independent", options=options)
    return replace(survey, name=f"{survey.name[:LONGEST_NAME]}-2", privacy=privacy)


def spent_on(survey: Survey) -> float:
    """Return what one respondent spends on a survey who answers as often as it allows."""
    design = design_for(survey)
    return times(max(design.view_costs), design.repeats)
