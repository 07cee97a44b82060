"""The other way round: which ε a number of people needs for what is wanted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from deniable.channels.exact import LARGEST_EPSILON
from deniable.errors import DeniableError, EstimationError
from deniable.planning.candidates import with_epsilon
from deniable.planning.making import option_for
from deniable.planning.recommendation import people_needed
from deniable.schema.canonical import spell_number

if TYPE_CHECKING:
    from deniable.planning.goal import Goal
    from deniable.planning.option import Option

LEAST = 1e-3
STEPS = 1000
"""ε is found to a thousandth."""


def epsilon_for(option: Option, goal: Goal) -> float:
    """Return the least ε, to a thousandth, at which the people of a goal suffice for it.

    Every ε tried is that of the exact channels, so what is found can be promised.

    Raises:
        EstimationError: What is wanted takes more people at any ε, or nothing is wanted.
    """
    if goal.width is None and goal.power is None:
        problem = "an ε is looked for that serves nothing"
        raise EstimationError(problem, expected="a width, or an association and a power")
    high = int(LARGEST_EPSILON * STEPS)
    if not _suffices(option, goal, high):
        at_most = _people(option, goal, high)
        largest = f"even at ε = {spell_number(LARGEST_EPSILON)}"
        told = "at any ε" if math.isinf(at_most) else largest
        problem = f"what is wanted is not reached by {goal.people:,.0f} people {told}"
        expected = "more people" if math.isinf(at_most) else f"at least {at_most:,.0f} people"
        raise EstimationError(problem, expected=expected + ", or a design that asks more together")
    low = 0
    while high - low > 1:  # by ratios, as a small ε is as likely as a large one
        middle = min(max(int(math.sqrt(max(low, 1) * high)), low + 1), high - 1)
        low, high = (low, middle) if _suffices(option, goal, middle) else (middle, high)
    return high / STEPS


def _suffices(option: Option, goal: Goal, thousandths: int) -> bool:
    return _people(option, goal, thousandths) <= goal.people


def _people(option: Option, goal: Goal, thousandths: int) -> float:
    """Return how many what is wanted takes at an ε; infinite if there is no such channel."""
    privacy = with_epsilon(option.survey.privacy, thousandths / STEPS)
    places = {name: place for place, name in enumerate(option.design.names)}
    tables = [tuple(places[name] for name in table.names) for table in option.tables]
    try:
        tried = option_for(option.survey, privacy, option.label, tables, option.prior)
    except DeniableError:
        return math.inf
    return people_needed(tried, goal)
