"""A plan: every design compared by closed formulas at the same promise, and one recommended."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations
from typing import TYPE_CHECKING

from deniable.errors import ChannelError, DesignError, EstimationError, nearest
from deniable.estimation.two_stage import FIRST
from deniable.planning.candidates import CHANNELS, candidates, with_channel
from deniable.planning.goal import Goal
from deniable.planning.making import Drawing, option_for, option_of
from deniable.planning.recommendation import Recommendation, recommend
from deniable.protocol import design_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from deniable.planning.option import Option
    from deniable.planning.prior import Prior
    from deniable.schema import Survey


USUAL = 10_000
"""People for whom a design whose channels change is foreseen at first, where their number is
what is looked for."""

NEAR = 0.1
"""What their number may be off for which the stages of a design are foreseen."""

MOST_ROUNDS = 4
PAIR, TRIPLE = 2, 3


@dataclass(frozen=True, eq=False)
class Plan:
    """What each design would tell and cost.

    Attributes:
        survey: The survey as it was given, at the level planned for.
        goal: What the answers shall be good for.
        tables: The tables wanted, by their attributes' places.
        options: The designs that can be had, the survey's own first.
        refused: A sentence for each that cannot be had, or is not compared.
        prior: The shares expected; even ones if None.
        people_given: Whether the number of people was given, or follows from what is wanted.
        label: The option looked at; the one recommended if empty.
    """

    survey: Survey
    goal: Goal
    tables: tuple[tuple[int, ...], ...]
    options: tuple[Option, ...]
    refused: tuple[str, ...]
    prior: Prior | None = None
    people_given: bool = True
    label: str = ""

    @cached_property
    def recommendation(self) -> Recommendation:
        """Return the design recommended, and why."""
        return recommend(self.options, self.goal)

    @property
    def recommended(self) -> Option:
        """Return the design recommended.

        Raises:
            EstimationError: No design tells anything about every table wanted.
        """
        return self.recommendation.option

    @property
    def chosen(self) -> Option:
        """Return the option looked at."""
        return self.option(self.label) if self.label else self.recommended

    def looking_at(self, label: str) -> Plan:
        """Return the same plan, looking at another design than the one recommended."""
        self.option(label)
        return replace(self, label=label)

    def option(self, label: str) -> Option:
        """Return the option of a label."""
        found = {option.label: option for option in self.options}
        if label not in found:
            problem = f"the plan has no option {label!r}"
            raise EstimationError(problem, expected=nearest(label, found))
        return found[label]

    def by_channel(self, option: Option) -> dict[str, Option]:
        """Return an option through k-ary channels, through subsets, and the best for each group."""
        if option.is_classic:
            return {"two-coin": option}
        if option.in_stages:
            return {"staircase": option}
        found = {}
        for channel in CHANNELS:
            privacy = with_channel(option.survey.privacy, channel)
            found[channel] = option_for(
                option.survey, privacy, option.label, self.tables, self.prior
            )
        return found


def plan(  # noqa: PLR0913 -- one parameter for each word of the command
    survey: Survey,
    people: float | None = None,
    *,
    epsilon: float | None = None,
    tables: Sequence[Sequence[str]] = (),
    whole_joint: bool = False,
    width: float | None = None,
    level: float = 0.95,
    simultaneous: bool = False,
    association: float | None = None,
    power: float | None = None,
    prior: Prior | None = None,
    rng: np.random.Generator | None = None,
) -> Plan:
    """Compare the designs that a survey might name, by closed formulas.

    Args:
        survey: What is asked, and the survey's own design.
        people: How many will answer; if not given, as many as ``width`` or ``power`` takes.
        epsilon: The level promised; the survey's own if not given.
        tables: The tables wanted; all pairs if not given.
        whole_joint: Want every table, out of one model of the whole joint. Such a model is made
            of what pairs and triples tell, so the design is judged by all of these alike.
        width: The width wanted of every cell's interval.
        level: The level of the intervals.
        simultaneous: Whether all intervals of a table shall hold at once.
        association: Cramér's V that the tests of pairs shall notice.
        power: The power wanted for it.
        prior: The shares expected; even ones if not given.
        rng: Draws how the channels of a classic design change; without it the formulas for
            one are those of its first block.

    Raises:
        DeniableError: Something asked for does not make sense, or no design can be had.
    """
    if epsilon is not None:
        survey = replace(survey, privacy=replace(survey.privacy, epsilon=epsilon))
    if power is not None and association is None and prior is None:
        problem = "a power is that of noticing some association"
        raise EstimationError(problem, expected="an association too, such as 0.1, or a prior")
    if people is None and width is None and power is None:
        problem = "a plan needs to know how many will answer, or what is wanted"
        raise EstimationError(problem, expected="people, or a width, or an association and a power")
    goal = Goal(
        1 if people is None else people,
        level=level,
        width=width,
        simultaneous=simultaneous,
        association=association,
        power=power,
    )
    if whole_joint and tables:
        problem = "a plan is for every table, or for some"
        raise EstimationError(problem, given=tables, expected="one of the two")
    wanted = _of_whole_joint(survey) if whole_joint else places_of_tables(survey, tables)
    options, refused = _options(survey, wanted, goal, prior, people or USUAL, rng)
    if not options:
        raise DesignError("no design can be had: " + "; ".join(refused))
    if people is None:
        needed, believed = recommend(options, goal).people_needed, float(USUAL)
        for _ in range(MOST_ROUNDS):
            # How large a first stage is, and what follows it, hangs on their number.
            staged = any(option.in_stages for option in options)
            if not staged or not math.isfinite(needed) or abs(needed / believed - 1) < NEAR:
                break
            options, refused = _options(survey, wanted, goal, prior, needed, rng)
            needed, believed = recommend(options, goal).people_needed, needed
        goal = replace(goal, people=needed)
    return Plan(survey, goal, wanted, tuple(options), tuple(refused), prior, people is not None)


def places_of_tables(
    survey: Survey, tables: Sequence[Sequence[str]]
) -> tuple[tuple[int, ...], ...]:
    """Return the places of the attributes of each table wanted; all pairs if none is.

    Raises:
        DeniableError: A table is empty, names an attribute twice or one that is not asked.
    """
    schema = survey.schema
    if not tables:
        count = len(schema.names)
        return tuple(combinations(range(count), min(2, count)))
    found = []
    for table in tables:
        places = tuple(schema.position(name) for name in table)
        if not places or len(set(places)) < len(places):
            problem = "a table names at least one attribute, and none twice"
            raise EstimationError(problem, given=list(table), expected="such as age,sex")
        found.append(places)
    return tuple(dict.fromkeys(found))


def _of_whole_joint(survey: Survey) -> tuple[tuple[int, ...], ...]:
    """Return all pairs and triples; with fewer attributes, what there is."""
    count = len(survey.schema.names)
    widths = [width for width in (PAIR, TRIPLE) if width <= count] or [count]
    return tuple(chain.from_iterable(combinations(range(count), width) for width in widths))


def _options(
    survey: Survey,
    tables: Sequence[tuple[int, ...]],
    goal: Goal,
    prior: Prior | None,
    people: float,
    rng: np.random.Generator | None,
) -> tuple[list[Option], list[str]]:
    drawing = None if rng is None else Drawing(people, rng)
    tested = goal.association is not None or goal.power is not None
    stage = max(1, round(FIRST * people)) if tested else 0
    named, refused = candidates(survey, tables, stage=stage)
    found: list[Option] = []
    seen: set[object] = set()
    for label, privacy in named:
        asked = replace(survey, privacy=privacy)
        try:
            design = design_for(asked)
            alike = (design.views, design.channels, design.rule)
            if alike not in seen:
                found.append(option_of(asked, design, label, tables, prior, drawing))
                seen.add(alike)
        except (DesignError, ChannelError, EstimationError) as error:
            refused.append(f"{label}: {error}")
    return found, refused
