"""A survey's ``privacy`` table turned into a design: every protocol by name."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from deniable.channels import channel_for, two_coin
from deniable.errors import DesignError
from deniable.protocol.design import LARGEST_GROUP, Design, Group, Rule, View
from deniable.protocol.layouts import layout_for

if TYPE_CHECKING:
    from deniable.channels import Channel
    from deniable.schema import Survey


SHOWN = 6
"""Names of attributes in a sentence; more are cut short."""


def design_for(survey: Survey) -> Design:
    """Return the design that a survey's privacy table asks for."""
    privacy = survey.privacy
    sizes = survey.schema.sizes
    names = survey.schema.names
    options = dict(privacy.options)
    layout = layout_for(privacy.design, names, sizes, options)
    groups = [[Group(a, tuple(sizes[i] for i in a)) for a in view] for view in layout]
    too_large = max((group for view in groups for group in view), key=lambda group: group.size)
    if too_large.size > LARGEST_GROUP:
        asked = [names[a] for a in too_large.attributes]
        if len(asked) > SHOWN:
            asked[SHOWN - 1 :] = [f"… ({len(asked)} attributes)"]
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
    name = str(options.get("channel", "two-coin" if rule.name.startswith("classic") else "best"))
    return _named(name, epsilon, size, float(rule.floor))


@lru_cache(maxsize=4096)
def _named(name: str, epsilon: float, size: int, floor: float) -> Channel:
    """Return a channel; groups of equally many cells share one, which is frozen."""
    if name == "two-coin":
        return two_coin(epsilon, [1 / size] * size, floor=floor)
    return channel_for(name, epsilon, size)


def _rule(design: str, options: dict[str, Any]) -> Rule:
    if design == "two-stage":
        return Rule("two-stage", int(options["block_size"]))
    if design != "rrba":
        return Rule("fixed", int(options.get("block_size", 0)))
    name = str(options.get("rule", "classic-blocks"))
    floor = decimal_text(float(options.get("floor", 0.1)))
    size = 1 if name == "classic-clients" else int(options.get("block_size", 250))
    if options.get("channel", "two-coin") != "two-coin":
        problem = "the design 'rrba' updates a fake distribution, which only two coins have"
        raise DesignError(problem, given=options["channel"], expected="channel = 'two-coin'")
    return Rule(name, size, floor)
