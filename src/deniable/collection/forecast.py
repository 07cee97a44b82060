"""What a survey file would cost and show, before anyone is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.channels import format_epsilon
from deniable.collection.rules import update_for
from deniable.estimation.interval import quantile
from deniable.estimation.sightings import sightings_of
from deniable.estimation.stages import stages_of
from deniable.protocol import attribute_epsilons, design_for, view_epsilons

if TYPE_CHECKING:
    from deniable.estimation.sightings import Sightings
    from deniable.estimation.stages import Stages
    from deniable.protocol import Design
    from deniable.schema import Survey

LEVEL = 0.95


def forecast(survey: Survey, *, people: int) -> dict[str, object]:
    """Return the ε of one answer and the interval widths that ``people`` answers would give."""
    design = design_for(survey)
    update_for(design)
    attributes = attribute_epsilons(design, design.channels)
    return {
        "name": survey.name,
        "design": design.digest,
        "people": people,
        "epsilon": {
            "answer": format_epsilon(max(view_epsilons(design.channels))),
            "attributes": {
                name: format_epsilon(spent)
                for name, spent in zip(design.names, attributes, strict=True)
            },
            "survey": format_epsilon(max(view_epsilons(design.channels)) * design.repeats),
        },
        "tables": _tables(design, people),
        "untranslated": list(survey.untranslated()),
    }


def _sightings(design: Design, people: int) -> Sightings | Stages:
    """Return who is asked what through which channels; a first stage finds even margins."""
    if design.rule.name != "two-stage":
        return sightings_of(design)
    sizes = design.sizes
    return stages_of(design, people, lambda a: np.full(sizes[a], 1 / sizes[a]), rng=None)


def _tables(design: Design, people: int) -> list[dict[str, object]]:
    """Return for each group asked the 95 % half-width of a cell, averaged, at even shares.

    The formulas are those of ``deniable plan``; every view that asks all of a group's
    attributes counts, in whichever groups.
    """
    sightings = _sightings(design, people)
    groups = dict.fromkeys(group.attributes for view in design.views for group in view.groups)
    found: list[dict[str, object]] = []
    for attributes in groups:
        outlook = sightings.outlook(attributes)
        half_width = quantile(LEVEL) * outlook.error(people)
        found.append(
            {
                "attributes": list(outlook.names),
                "people": people * outlook.share,
                "half_width": round(half_width, 5),
            }
        )
    return found
