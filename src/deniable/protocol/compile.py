"""A survey's ``privacy`` table turned into a design: every protocol by name."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from deniable.channels import channel_for, two_coin
from deniable.errors import DesignError, nearest
from deniable.protocol.design import LARGEST_GROUP, Design, Group, Rule, View
from deniable.protocol.views import all_groups, round_robin, single_groups

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deniable.channels import Channel
    from deniable.schema import Survey

    Layout = list[list[tuple[int, ...]]]


def design_for(survey: Survey) -> Design:
    """Return the design that a survey's privacy table asks for."""
    privacy = survey.privacy
    if privacy.design not in LAYOUTS:
        problem = f"there is no design called {privacy.design!r}"
        raise DesignError(problem, expected=nearest(privacy.design, LAYOUTS))
    sizes = survey.schema.sizes
    names = survey.schema.names
    options = dict(privacy.options)
    layout = LAYOUTS[privacy.design](names, options)
    groups = [[Group(a, tuple(sizes[i] for i in a)) for a in view] for view in layout]
    too_large = max((group for view in groups for group in view), key=lambda group: group.size)
    if too_large.size > LARGEST_GROUP:
        asked = [names[a] for a in too_large.attributes]
        problem = f"a group of the design has too many cells: {', '.join(asked)}"
        raise DesignError(problem, given=too_large.size, expected=f"at most {LARGEST_GROUP}")
    rule = _rule(privacy.design, options)
    shares = [_share(privacy.epsilon, privacy.level, len(view)) for view in groups]
    channels = tuple(
        tuple(_channel(share, group.size, options, rule) for group in view)
        for view, share in zip(groups, shares, strict=True)
    )
    widest = max(len(view) for view in groups)
    promised = privacy.epsilon * (widest if privacy.level == "attribute" else 1)
    return Design(
        survey=survey.name,
        schema=survey.schema.digest(),
        attributes=tuple(zip(names, sizes, strict=True)),
        views=tuple(View(tuple(view)) for view in groups),
        channels=channels,
        epsilon=decimal_text(promised),
        protocol=privacy.design,
        rule=rule,
        repeats=privacy.repeats,
    )


def decimal_text(number: float) -> str:
    """Write a number as a plain decimal without exponent or trailing zeros.

    >>> decimal_text(1.50), decimal_text(4)
    ('1.5', '4')
    """
    text = f"{Decimal(repr(number)) if isinstance(number, float) else number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _share(epsilon: float, level: str, groups: int) -> float:
    """Return the level of one group: all of it per attribute, an equal share per respondent."""
    return epsilon if level == "attribute" else epsilon / groups


def _channel(epsilon: float, size: int, options: dict[str, Any], rule: Rule) -> Channel:
    name = str(options.get("channel", "two-coin" if rule.name != "fixed" else "best"))
    if name == "two-coin":
        return two_coin(epsilon, [1 / size] * size, floor=float(rule.floor))
    return channel_for(name, epsilon, size)


def _rule(design: str, options: dict[str, Any]) -> Rule:
    if design != "rrba":
        return Rule("fixed", int(options.get("block_size", 0)))
    name = str(options.get("rule", "classic-blocks"))
    floor = decimal_text(float(options.get("floor", 0.1)))
    size = 1 if name == "classic-clients" else int(options.get("block_size", 250))
    if options.get("channel", "two-coin") != "two-coin":
        problem = "the design 'rrba' updates a fake distribution, which only two coins have"
        raise DesignError(problem, given=options["channel"], expected="channel = 'two-coin'")
    return Rule(name, size, floor)


def _together(names: Sequence[str], options: dict[str, Any], default: int = 2) -> int:
    together = options.get("k", min(default, len(names)))
    if isinstance(together, bool) or not isinstance(together, int):
        problem = "k must be an integer"
        raise DesignError(problem, given=together)
    if not 1 <= together <= len(names):
        problem = "k must be at most the number of attributes"
        raise DesignError(problem, given=together, expected=f"1 to {len(names)}")
    return together


def _ask_one(names: Sequence[str], options: dict[str, Any]) -> Layout:
    if options.get("groups"):
        positions = {name: place for place, name in enumerate(names)}
        return [[_group(group, positions)] for group in options["groups"]]
    together = _together(names, options)
    if math.comb(len(names), together) > MOST_VIEWS:
        problem = f"asking one of all groups of {together} attributes needs too many views"
        given = math.comb(len(names), together)
        raise DesignError(problem, given=given, expected=f"at most {MOST_VIEWS}; a smaller k")
    return [[group] for group in all_groups(len(names), together)]


def _independent(names: Sequence[str], options: dict[str, Any]) -> Layout:
    del options
    return [single_groups(len(names))]


def _joint(names: Sequence[str], options: dict[str, Any]) -> Layout:
    del options
    return [[tuple(range(len(names)))]]


def _clusters(names: Sequence[str], options: dict[str, Any]) -> Layout:
    clusters = options.get("clusters")
    if not clusters:
        problem = "the design 'clusters' needs a list of clusters"
        raise DesignError(problem, expected='clusters = [["sex", "age"], ["income"]]')
    positions = {name: place for place, name in enumerate(names)}
    named = [name for cluster in clusters for name in cluster]
    groups = [_group(cluster, positions) for cluster in clusters]
    left = [(place,) for name, place in positions.items() if name not in named]
    return [[*groups, *left]]


def _group(group: Sequence[str], positions: dict[str, int]) -> tuple[int, ...]:
    for name in group:
        if name not in positions:
            problem = f"a group names an attribute {name!r} that the survey does not ask"
            raise DesignError(problem, expected=nearest(name, positions))
    return tuple(sorted(positions[name] for name in group))


def _views(names: Sequence[str], options: dict[str, Any]) -> Layout:
    together = _together(names, options)
    if together == 1 or len(names) == 1:
        return [single_groups(len(names))]
    if together != 2:  # noqa: PLR2004
        problem = "views of more than pairs are not offered yet"
        raise DesignError(problem, given=together, expected="k = 2, or the design 'ask-one'")
    return round_robin(len(names))


MOST_VIEWS = 20_000
"""A design with more views is too long to be published."""

LAYOUTS: dict[str, Callable[[Sequence[str], dict[str, Any]], Layout]] = {
    "ask-one": _ask_one,
    "independent": _independent,
    "joint": _joint,
    "clusters": _clusters,
    "views": _views,
    "rrba": _views,
}
"""Every design a survey file may name, and the groups of its views."""
