"""A design: who is asked what through which channels. Frozen, canonical, hashed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from deniable.channels import channel_to_dict, epsilon_of, epsilon_of_all
from deniable.errors import DesignError
from deniable.protocol.canonical import LARGEST_INTEGER, canonical, digest, is_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deniable.channels import Channel, Coin

VERSION = 1
"""The version of the wire form; it changes when its meaning does."""

LARGEST_GROUP = 2**31
"""More cells than any channel of ours is sampled over."""

Channels: TypeAlias = "tuple[tuple[Channel, ...], ...]"
"""One channel for each group of each view."""


@dataclass(frozen=True, slots=True)
class Group:
    """Attributes (by position) answered together as one cell of their product.

    The last attribute runs fastest.
    """

    attributes: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def size(self) -> int:
        """Return the number of cells."""
        return math.prod(self.sizes)

    def cell(self, answers: Sequence[int]) -> int:
        """Return the group's cell for a respondent's answers to all attributes."""
        result = 0
        for attribute, size in zip(self.attributes, self.sizes, strict=True):
            result = result * size + answers[attribute]
        return result

    def answers(self, cell: int) -> tuple[int, ...]:
        """Return the answers, in the group's order, that a cell stands for."""
        found = []
        for size in reversed(self.sizes):
            cell, answer = divmod(cell, size)
            found.append(answer)
        return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class View:
    """Disjoint groups answered by one respondent; drawn with odds ``weight``."""

    groups: tuple[Group, ...]
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Rule:
    """How channels change between blocks. ``fixed`` never does.

    ``block_size`` is the number of reports after which a block closes; 0 for never.
    """

    name: str = "fixed"
    block_size: int = 0
    floor: str = "0"
    """The share g of the even distribution that every fake distribution keeps (a decimal)."""


RULES = ("fixed", "classic-blocks", "classic-clients", "two-stage")
"""The rules a design may name."""


@dataclass(frozen=True)
class Design:
    """Everything a respondent's device must know before it agrees to answer.

    Attributes:
        survey: The survey's name; a device remembers its reports under it.
        schema: The digest of the schema, so that cells keep their meaning.
        attributes: Name and number of cells of each attribute.
        views: What one respondent may be asked.
        channels: The channels of the first block.
        protocol: The design's name in the glossary, for people.
        rule: How channels change between blocks.
        epsilon: The most that one answered view may cost, in any block (a decimal).
        repeats: How many fresh answers one respondent may give.
    """

    survey: str
    schema: str
    attributes: tuple[tuple[str, int], ...]
    views: tuple[View, ...]
    channels: Channels
    epsilon: str
    protocol: str = "custom"
    rule: Rule = field(default_factory=Rule)
    repeats: int = 1

    def __post_init__(self) -> None:
        """Refuse a design that cannot be asked, or that nobody could read once it is written."""
        _check_facts(self)
        _check_views(self)
        if self.total_weight > LARGEST_INTEGER:
            problem = "the weights of the views are too large to be drawn by every client"
            given, expected = self.total_weight, f"{LARGEST_INTEGER} in all"
            raise DesignError(problem, given=given, expected=expected)
        check_channels(self.channels, self)
        if self.rule.name not in RULES:
            problem = "unknown rule between blocks"
            raise DesignError(problem, given=self.rule.name, expected=" or ".join(RULES))
        if not _is_decimal(self.epsilon) or not 0 < float(self.epsilon) < math.inf:
            problem = "a design's epsilon must be a finite and positive decimal"
            raise DesignError(problem, given=self.epsilon, expected="text such as '1.5'")
        if not _is_decimal(self.rule.floor) or not 0 <= float(self.rule.floor) <= 1:
            problem = "a rule's floor must be a decimal from 0 to 1"
            raise DesignError(problem, given=self.rule.floor, expected="text such as '0.1'")
        spent = max(self.view_costs)
        if spent > float(self.epsilon):
            problem = "the channels of a design cost more than it promises"
            raise DesignError(problem, given=spent, expected=f"at most {self.epsilon}")

    def to_dict(self) -> dict[str, object]:
        """Return the wire form (``spec/design.schema.json``)."""
        return {
            "deniable": VERSION,
            "survey": self.survey,
            "schema": self.schema,
            "protocol": self.protocol,
            "attributes": [[name, size] for name, size in self.attributes],
            "views": [
                {"weight": view.weight, "groups": [list(g.attributes) for g in view.groups]}
                for view in self.views
            ],
            "channels": channels_to_list(self.channels),
            "rule": {
                "name": self.rule.name,
                "block_size": self.rule.block_size,
                "floor": self.rule.floor,
            },
            "epsilon": self.epsilon,
            "repeats": self.repeats,
        }

    def to_bytes(self) -> bytes:
        """Return the canonical bytes that are published and hashed."""
        return canonical(self.to_dict())

    @cached_property
    def digest(self) -> str:
        """Return the digest that every report of this design carries."""
        return digest(self.to_bytes())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the attributes' names."""
        return tuple(name for name, _ in self.attributes)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Return the attributes' numbers of cells."""
        return tuple(size for _, size in self.attributes)

    @cached_property
    def total_weight(self) -> int:
        """Return the sum of the views' weights."""
        return sum(view.weight for view in self.views)

    @cached_property
    def view_costs(self) -> tuple[float, ...]:
        """Return the ε of each view, through the channels of the first block."""
        return tuple(view_epsilons(self.channels))

    @cached_property
    def attribute_costs(self) -> tuple[float, ...]:
        """Return the ε of each attribute, through the channels of the first block."""
        return attribute_epsilons(self, self.channels)

    def draw_view(self, coin: Coin) -> int:
        """Draw a view without looking at any answer."""
        if len(self.views) == 1:
            return 0
        ticket = coin.below(self.total_weight)
        for number, view in enumerate(self.views):
            ticket -= view.weight
            if ticket < 0:
                return number
        raise AssertionError  # the ticket is below the sum of the weights

    def views_with(self, attributes: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield (view, group) wherever all the attributes were asked together."""
        wanted = set(attributes)
        for number, view in enumerate(self.views):
            for place, group in enumerate(view.groups):
                if wanted <= set(group.attributes):
                    yield number, place


def view_epsilons(channels: Channels) -> list[float]:
    """Return the ε of each view: the sum over its groups (record-level)."""
    return [epsilon_of_all(view) for view in channels]


def attribute_epsilons(design: Design, channels: Channels) -> tuple[float, ...]:
    """Return for each attribute the ε of the costliest group that holds it.

    That is the attribute-level guarantee: neighbours differ in one answer only.
    """
    worst = [0.0] * len(design.attributes)
    for view, row in zip(design.views, channels, strict=True):
        for group, channel in zip(view.groups, row, strict=True):
            spent = epsilon_of(channel)
            for attribute in group.attributes:
                worst[attribute] = max(worst[attribute], spent)
    return tuple(worst)


def channels_to_list(channels: Channels) -> list[object]:
    """Return the wire form of one channel for each group of each view."""
    return [[channel_to_dict(channel) for channel in view] for view in channels]


def check_channels(channels: Channels, design: Design) -> None:
    """Refuse channels that do not fit the design's groups."""
    shape = [len(view) for view in channels]
    wanted = [len(view.groups) for view in design.views]
    if shape != wanted:
        problem = "the channels do not fit the views"
        raise DesignError(problem, expected="one channel for each group of each view")
    for number, (view, row) in enumerate(zip(design.views, channels, strict=True)):
        for group, channel in zip(view.groups, row, strict=True):
            if group.size != channel.size:
                problem = f"a channel of view {number} does not fit its group"
                given = f"{channel.size} cells"
                raise DesignError(problem, given=given, expected=f"{group.size} cells")


def _check_facts(design: Design) -> None:
    if not isinstance(design.survey, str) or not design.survey:
        problem = "the survey of a design must be named"
        raise DesignError(problem, given=design.survey, expected="a text that is not empty")
    if not is_count(design.repeats) or design.repeats < 1:
        problem = "repeats must be an integer of at least 1"
        raise DesignError(problem, given=design.repeats, expected="1 for a single answer")


def _check_views(design: Design) -> None:
    names, known = design.names, design.sizes
    if not names or len(set(names)) != len(names):
        problem = "a design needs attributes with different names"
        raise DesignError(problem, given=names)
    if not design.views:
        problem = "a design needs at least one view"
        raise DesignError(problem, expected="views that hold every attribute at least once")
    for number, view in enumerate(design.views):
        asked = [attribute for group in view.groups for attribute in group.attributes]
        if not asked or not all(group.attributes for group in view.groups):
            problem = f"view {number} asks nothing, or holds an empty group"
            raise DesignError(problem, expected="groups of at least one attribute")
        if not all(0 <= attribute < len(names) for attribute in asked):
            problem = f"view {number} names an attribute that does not exist"
            raise DesignError(problem, given=asked, expected=f"0 to {len(names) - 1}")
        if len(set(asked)) != len(asked):
            problem = f"the groups of view {number} overlap"
            given = sorted({names[a] for a in asked if asked.count(a) > 1})
            raise DesignError(problem, given=given, expected="every attribute at most once a view")
        if isinstance(view.weight, bool) or not isinstance(view.weight, int) or view.weight < 1:
            problem = f"the weight of view {number} must be an integer of at least 1"
            raise DesignError(problem, given=view.weight)
        for group in view.groups:
            sizes = tuple(known[attribute] for attribute in group.attributes)
            if group.sizes != sizes or group.size > LARGEST_GROUP:
                problem = f"a group of view {number} does not fit its attributes"
                raise DesignError(problem, given=group.sizes, expected=f"{sizes}")


def _is_decimal(text: object) -> bool:
    return (
        isinstance(text, str)
        and text.isascii()
        and text.replace(".", "", 1).isdigit()
        and text[0] != "."
        and text[-1] != "."
    )
