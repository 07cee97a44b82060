"""Recommendation: which design serves the tables wanted best, in sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.channels import format_epsilon
from deniable.errors import EstimationError
from deniable.estimation.carrying import LEAST_WORTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.planning.goal import Goal
    from deniable.planning.option import Option

ALIKE = 1.03
"""Costs that differ by less are called equal; then the smaller ε per attribute decides."""


@dataclass(frozen=True, eq=False)
class Recommendation:
    """A design, and why it.

    Attributes:
        option: The design.
        people_needed: How many people what is wanted takes with it; NaN if nothing is.
        reasons: Why, and what to know, a sentence each.
    """

    option: Option
    people_needed: float
    reasons: tuple[str, ...]


def recommend(options: Sequence[Option], goal: Goal) -> Recommendation:
    """Return the design that needs the fewest people for what is wanted.

    Where neither a width nor a power is wanted: whose tables are worth most plain answers, on
    average (``Option.worth``). A classic design is never recommended: at equal ε it only loses.

    Raises:
        EstimationError: No design tells anything about every table.
    """
    able = [option for option in options if not option.blind and not option.is_classic]
    if not able:
        blind = options[0].blind[0] if options[0].blind else options[0].tables[0]
        problem = f"no design that can be had tells anything about {', '.join(blind.names)}"
        raise EstimationError(problem, expected="a larger k, or fewer attributes in a table")
    costs = {id(option): cost_of(option, goal) for option in able}
    least = min(costs.values())
    near = [option for option in able if costs[id(option)] <= ALIKE * least]
    # Two stages are worth their trouble only where one would need more people.
    near = [option for option in near if not option.in_stages] or near
    best = min(near, key=lambda o: (round(o.attribute, 6), costs[id(o)], len(o.design.views)))
    needed = people_needed(best, goal)
    others = [option for option in able if option is not best]
    reasons = [_first(best, others, costs, goal), _privacy(best, others, costs)]
    if best.in_stages:
        reasons.append(
            f"The first {best.design.rule.block_size:,} people tell the margins; then everybody "
            "is asked through the channel that tells most about dependence. It is chosen for "
            "its tests: tables of the same people are less sure than in one stage."
        )
    reasons.append(_sharper(best, able, goal))
    reasons += _warnings(best, options, goal)
    return Recommendation(best, needed, tuple(filter(None, reasons)))


def people_needed(option: Option, goal: Goal) -> float:
    """Return how many people what is wanted takes; NaN if neither a width nor a power is."""
    needs = []
    if goal.width is not None:
        needs.append(
            option.people_for_width(goal.width, goal.level, simultaneous=goal.simultaneous)
        )
    if goal.power is not None:
        needs.append(option.people_for_power(goal.power, goal.association, goal.significance))
    return (
        math.ceil(max(needs))
        if needs and math.isfinite(max(needs))
        else (math.inf if needs else math.nan)
    )


def cost_of(option: Option, goal: Goal) -> float:
    """Return what a design is judged by: people needed, or 1 / worth."""
    needed = people_needed(option, goal)
    return needed if not math.isnan(needed) else 1 / option.worth(1.0)


def _first(best: Option, others: Sequence[Option], costs: dict[int, float], goal: Goal) -> str:
    told = f"With {best.label} {goal.people:,.0f} people make "
    count = len(best.tables)
    what = "the table" if count == 1 else f"each of the {count} tables, on average,"
    told += f"{what} worth {_number(best.worth(goal.people))} plain answers"
    rivals = [option for option in others if option.label != best.label]
    if not rivals:
        return told + "."
    second = min(rivals, key=lambda option: costs[id(option)])
    ratio = costs[id(second)] / costs[id(best)]
    if not math.isfinite(ratio):
        return f"{told}; no other design tells anything about all of them."
    if ratio < ALIKE:
        return f"{told}; {second.label} does as well, at no smaller ε per attribute."
    return f"{told}; {second.label}, the next best, needs {ratio:.2g} times as many people."


def _privacy(best: Option, others: Sequence[Option], costs: dict[int, float]) -> str:
    own = best.attribute
    told = (
        f"It costs a respondent ε = {format_epsilon(best.answer)} in all, and a change of one "
        f"answer alone shows by up to ε = {format_epsilon(own)}"
    )
    gentler = [option for option in others if option.attribute < own / ALIKE]
    if not gentler:
        return told + ", the least of all compared."
    other = min(gentler, key=lambda option: costs[id(option)])
    ratio = math.sqrt(best.worth(1.0) / other.worth(1.0))
    return (
        f"{told}; {other.label} would keep that within {format_epsilon(other.attribute)}, "
        f"with errors {_number(ratio)} times as large."
    )


def _sharper(best: Option, able: Sequence[Option], goal: Goal) -> str:
    """Say if two stages would notice more, where no power is wanted that would decide."""
    staged = [option for option in able if option.in_stages and option is not best]
    if not staged or goal.association is None or goal.power is not None:
        return ""
    own, other = (
        option.least_power(goal.people, goal.association, goal.significance)
        for option in (best, staged[0])
    )
    if other < ALIKE * own:
        return ""
    return (
        f"If tests are all that counts, {staged[0].label} notices V = {goal.association:g} with "
        f"power {other:.2f} instead of {own:.2f}."
    )


def _warnings(best: Option, options: Sequence[Option], goal: Goal) -> list[str]:
    found = []
    poor = [table for table in best.tables if table.worth(goal.people) < LEAST_WORTH]
    if poor:
        people = goal.people * LEAST_WORTH / best.least_worth(goal.people)
        which = (
            "The table" if len(best.tables) == 1 else f"{len(poor)} of {len(best.tables)} tables"
        )
        verb = "is" if len(poor) == 1 else "are"
        found.append(
            f"{which} {verb} worth fewer than {LEAST_WORTH:g} plain answers and will not be "
            f"shown; {people:,.0f} people would do."
        )
    if best.label.endswith("by table"):
        wanted = {name for table in best.tables for name in table.names}
        left = [name for name in best.design.names if name not in wanted]
        if left:
            found.append(
                f"{', '.join(left)}: in no table wanted, yet asked; leave out of the survey "
                "what is not needed, and the others gain respondents."
            )
    own = options[0]
    if own.is_classic:
        found.append(
            "The survey's own design changes its channels by a classic rule; at equal ε that "
            "only loses."
        )
    return found


def _number(value: float) -> str:
    """Write a number with two or three digits that count."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"  # noqa: PLR2004
