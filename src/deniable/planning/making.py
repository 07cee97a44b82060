"""Options made: a survey's privacy table turned into what its design will tell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.sightings import sightings_of
from deniable.estimation.stages import people_meant, stages_of
from deniable.planning.classic import settled
from deniable.planning.option import Option, outlook_of
from deniable.protocol import design_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.sightings import Sightings
    from deniable.estimation.stages import Stages
    from deniable.planning.prior import Prior
    from deniable.protocol import Design
    from deniable.schema import Privacy, Survey

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Drawing:
    """What it takes to foresee a design whose channels change: how many answer, and chance."""

    people: float
    rng: np.random.Generator


def option_for(
    survey: Survey,
    privacy: Privacy,
    label: str,
    tables: Sequence[tuple[int, ...]],
    prior: Prior | None = None,
    drawing: Drawing | None = None,
) -> Option:
    """Return a survey's option of asking by another privacy table.

    Args:
        survey: The survey.
        privacy: The design and the promise.
        label: What to call it.
        tables: The tables wanted, by places.
        prior: The shares expected; even ones if None.
        drawing: How to foresee channels that change; without it, those of the first block.

    Raises:
        DeniableError: There is no such design, or it is not foreseen by formula.
    """
    asked = replace(survey, privacy=privacy)
    return option_of(asked, design_for(asked), label, tables, prior, drawing)


def option_of(
    survey: Survey,
    design: Design,
    label: str,
    tables: Sequence[tuple[int, ...]],
    prior: Prior | None = None,
    drawing: Drawing | None = None,
) -> Option:
    """Return the option of asking a survey as its design has it; see ``option_for``."""
    sightings = _sightings(design, prior, drawing)
    outlooks = tuple(outlook_of(sightings, table, prior) for table in tables)
    return Option(label, survey, design, outlooks, sightings, prior)


def _sightings(design: Design, prior: Prior | None, drawing: Drawing | None) -> Sightings | Stages:
    """Return who will be asked what together, and through which channels."""
    if design.rule.name == "two-stage":
        names, sizes = design.names, design.sizes

        def margin(attribute: int) -> Array:
            if prior is None:
                return np.full(sizes[attribute], 1 / sizes[attribute])
            return prior.truth([names[attribute]], [sizes[attribute]])

        people = people_meant(design) if drawing is None else drawing.people
        return stages_of(design, people, margin, rng=None if drawing is None else drawing.rng)
    if drawing is not None and design.rule.name == "classic-blocks":
        return sightings_of(settled(design, drawing.people, prior, drawing.rng))
    return sightings_of(design)
