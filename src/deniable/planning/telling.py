"""A plan told: as rows for a table or a file, and as plain data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deniable.channels import format_epsilon
from deniable.errors import EstimationError
from deniable.planning.inverse import epsilon_for
from deniable.planning.option import width_of
from deniable.planning.published import published_bounds
from deniable.planning.recommendation import people_needed

if TYPE_CHECKING:
    from deniable.estimation.outlook import Outlook
    from deniable.planning.compare import Plan
    from deniable.planning.option import Option
    from deniable.planning.published import Published

LIARS = 0.01
"""The share of liars that a plan speaks of."""


@dataclass(frozen=True, slots=True)
class Lies:
    """What liars could do to a cell of the table most open to them.

    Attributes:
        one: By how much one liar moves it at most.
        chosen: By how much a hundredth of the people, all choosing the view that matters most.
        drawn: The same if each keeps to the view that was drawn.
    """

    one: float
    chosen: float
    drawn: float


def lies_of(option: Option, people: float) -> Lies:
    """Return what liars could do under a design: under two coins, 1/(n·p) each."""
    one = max(table.reach for table in option.tables) / people
    drawn = max(table.drift for table in option.tables) * LIARS
    return Lies(one, one * people * LIARS, drawn)


def summary_of(plan: Plan, option: Option) -> dict[str, Any]:
    """Return what a design costs and tells, in numbers."""
    goal = plan.goal
    people = goal.people
    found: dict[str, Any] = {
        "label": option.label,
        "design": option.survey.privacy.design,
        "options": {k: _plain(v) for k, v in option.survey.privacy.options.items()},
        "recommended": option is plan.recommended,
        "own": option.survey.privacy == plan.survey.privacy,
        "classic": option.is_classic,
        "views": len(option.design.views),
        "people_per_view": option.people_per_view(people),
        "epsilon": {
            "answer": format_epsilon(option.answer),
            "respondent": format_epsilon(option.respondent),
            "attribute": format_epsilon(option.attribute),
        },
        "blind": [list(table.names) for table in option.blind],
        "error": option.error(people),
        "worst_error": option.worst_error(people),
        "worth": option.worth(people),
        "width": option.width(people, goal.level, simultaneous=goal.simultaneous),
        "people_needed": people_needed(option, goal),
    }
    if goal.association is not None:
        found["power"] = option.least_power(people, goal.association, goal.significance)
    return finite(found)


def table_of(plan: Plan, option: Option, table: Outlook) -> dict[str, Any]:
    """Return what a design tells of one table, in numbers."""
    goal, people = plan.goal, plan.goal.people
    found: dict[str, Any] = {
        "attributes": list(table.names),
        "cells": table.cells,
        "people": people * table.share,
        "error": table.error(people),
        "largest_error": option.largest_error(table, people),
        "worth": table.worth(people),
        "width": width_of(table, people, goal.level),
        "simultaneous_width": width_of(table, people, goal.level, simultaneous=True),
        "one_liar": table.reach / people,
    }
    if len(table.shape) == 2 and goal.association is not None:  # noqa: PLR2004 -- a pair
        found["power"] = option.power(table, people, goal.association, goal.significance)
    if len(table.shape) > 1 and option.prior is not None:
        found["power_of_prior"] = option.power(table, people, None, goal.significance)
    return finite(found)


def needed_epsilon(plan: Plan) -> tuple[float | None, str]:
    """Return the least ε that serves what is wanted with the people given, or why there is none."""
    if plan.goal.width is None and plan.goal.power is None:
        return None, ""
    try:
        return epsilon_for(plan.chosen, plan.goal), ""
    except EstimationError as error:
        return None, str(error)


def bounds_of(plan: Plan, table: Outlook) -> list[Published]:
    """Return the sources' bounds for a table under the design looked at."""
    apart = next((option for option in plan.options if option.label == "independent"), None)
    seen = None
    spent = 0.0
    if apart is not None:
        place = [t.names for t in apart.tables].index(table.names)
        seen = apart.tables[place]
        spent = apart.attribute * len(table.shape)
    return published_bounds(seen, table, spent, plan.goal.people, plan.goal.level)


def told(plan: Plan) -> dict[str, Any]:
    """Return a whole plan as plain data."""
    goal, best = plan.goal, plan.chosen
    epsilon, trouble = needed_epsilon(plan)
    lies = lies_of(best, goal.people)
    return finite(
        {
            "survey": plan.survey.name,
            "people": goal.people,
            "epsilon": plan.survey.privacy.epsilon,
            "level": plan.survey.privacy.level,
            "goal": {
                "interval_level": goal.level,
                "width": goal.width,
                "simultaneous": goal.simultaneous,
                "association": goal.association,
                "power": goal.power,
                "significance": goal.significance,
            },
            "recommended": plan.recommended.label,
            "chosen": best.label,
            "reasons": list(plan.recommendation.reasons),
            "people_needed": people_needed(best, goal),
            "epsilon_needed": epsilon,
            "epsilon_trouble": trouble,
            "lies": {"one": lies.one, "hundredth": lies.chosen, "hundredth_drawn": lies.drawn},
            "options": [summary_of(plan, option) for option in plan.options],
            "channels": {
                name: summary_of(plan, option) for name, option in plan.by_channel(best).items()
            },
            "tables": [table_of(plan, best, table) for table in best.tables],
            "refused": list(plan.refused),
        }
    )


def finite(values: dict[str, Any]) -> dict[str, Any]:
    """Say null where a number is unknown or infinite; JSON knows neither."""
    return {key: _finite(value) for key, value in values.items()}


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return finite(value)
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _plain(value: object) -> object:
    return [_plain(one) for one in value] if isinstance(value, tuple) else value
