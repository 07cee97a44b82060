"""What a survey file would cost and show, before anyone is asked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from deniable.channels import format_epsilon, variances
from deniable.collection.rules import update_for
from deniable.errors import ChannelError
from deniable.protocol import attribute_epsilons, design_for, view_epsilons

if TYPE_CHECKING:
    from deniable.protocol import Design
    from deniable.schema import Survey

NORMAL_95 = 1.959964
MOST_CELLS = 4_096


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


def _tables(design: Design, people: int) -> list[dict[str, object]]:
    """Return for each group the 95 % half-width of a cell, averaged, at the even distribution."""
    found: list[dict[str, object]] = []
    for view, channels in zip(design.views, design.channels, strict=True):
        asked = people * view.weight / design.total_weight
        for group, channel in zip(view.groups, channels, strict=True):
            half_width: float | None = None
            if channel.size <= MOST_CELLS:
                try:
                    each = variances(channel, [1 / channel.size] * channel.size)
                    mean = sum(map(float, each)) / channel.size
                    half_width = round(NORMAL_95 * math.sqrt(mean / asked), 5)
                except ChannelError:
                    half_width = None  # the channel has no inverse; likelihood alone knows
            names = [design.names[attribute] for attribute in group.attributes]
            found.append({"attributes": names, "people": asked, "half_width": half_width})
    return found
