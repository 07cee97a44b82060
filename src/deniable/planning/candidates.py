"""Candidates: the designs that a survey might name, at the same promise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from deniable.protocol.layouts import MOST_VIEWS
from deniable.schema import Privacy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deniable.schema import Survey

    Candidate = tuple[str, Privacy]

MOST_COVERED = 16
"""Attributes beyond which laying out a covering of pairs takes long."""

CHANNELS = ("k-ary", "subset", "best")
TRIPLES = 3

ALWAYS = 4
"""Attributes in a group of ask-one up to which a plan always looks."""

LARGEST = 6
"""The most that a survey file may name."""

ROOM = 4.0
"""Cells of a group over e^ε up to which a larger group may still be the better one."""


def candidates(
    survey: Survey, tables: Sequence[tuple[int, ...]], *, stage: int = 0
) -> tuple[list[Candidate], list[str]]:
    """Return the survey's own design and the others, each with its label.

    Also returns a sentence for each that would take too long to lay out.

    Args:
        survey: The survey.
        tables: The tables wanted, by places.
        stage: The people of a first stage, if a design in two stages may serve; else 0.
    """
    own = survey.privacy
    found: list[Candidate] = [(label_of(own), own)]
    left_out: list[str] = []
    count = len(survey.schema.names)
    large = _large(survey.schema.sizes, own.epsilon)
    by_table = _by_table(survey, tables)
    choices = list(_choices(count, by_table, large))
    if stage and own.design != "two-stage":
        groups = {"groups": by_table} if by_table else {"k": min(2, count)}
        choices.append(("two-stage", {**groups, "block_size": stage}))
    for design, options in choices:
        kept = {k: own.options[k] for k in ("max_cells",) if k in own.options and "k" in options}
        chosen = dict(options) | kept
        if design == own.design == "rrba":
            chosen = dict(own.options) | chosen  # its rule, its blocks: the same under one label
        if design != "rrba" and own.design != "rrba" and "channel" in own.options:
            chosen["channel"] = own.options["channel"]
        privacy = Privacy(own.epsilon, design, chosen, own.repeats, own.level)  # type: ignore[arg-type]
        label = label_of(privacy)
        slow = _slow(design, options, count)
        if slow and privacy != own:
            left_out.append(f"{label}: {slow}; name it in the survey file to compare it")
        else:
            found.append((label, privacy))
    return found, left_out


def label_of(privacy: Privacy) -> str:
    """Return a design's name with the options that set it apart.

    >>> label_of(Privacy(1.0, "views", {"k": 3, "cover": "pairs"}))
    'views k=3 pairs'
    """
    words: list[str] = [privacy.design]
    if "k" in privacy.options:
        words.append(f"k={privacy.options['k']}")
    if privacy.options.get("cover") == "pairs":
        words.append("pairs")
    if "groups" in privacy.options:
        words.append("by table")
    return " ".join(words)


def with_channel(privacy: Privacy, channel: str) -> Privacy:
    """Return the same promise and design through another channel."""
    options = dict(privacy.options) | {"channel": channel}
    return Privacy(privacy.epsilon, privacy.design, options, privacy.repeats, privacy.level)


def with_epsilon(privacy: Privacy, epsilon: float) -> Privacy:
    """Return the same design at another level."""
    return Privacy(epsilon, privacy.design, privacy.options, privacy.repeats, privacy.level)


def _choices(
    count: int, by_table: tuple[tuple[str, ...], ...], large: Sequence[int]
) -> Iterator[tuple[str, dict[str, object]]]:
    if by_table:
        yield "ask-one", {"groups": by_table}
    for k in (*range(1, min(ALWAYS, count) + 1), *large):
        yield "ask-one", {"k": k}
    for k in (2, 3):
        if k < count:
            yield "views", {"k": k}
    if count > TRIPLES:
        yield "views", {"k": TRIPLES, "cover": "pairs"}
    yield "independent", {}
    yield "joint", {}
    yield "rrba", {"k": min(2, count)}


def _large(sizes: Sequence[int], epsilon: float) -> list[int]:
    """Return the larger k worth a look: a group of so many cells must be told apart at all.

    A whole group tells more than a part of it as long as its cells are not many more than e^ε.
    """
    count = len(sizes)
    typical = math.prod(sizes) ** (1 / count)
    return [
        k
        for k in range(ALWAYS + 1, min(LARGEST, count - 1) + 1)
        if k * math.log(typical) <= epsilon + math.log(ROOM) and math.comb(count, k) <= MOST_VIEWS
    ]


def _by_table(survey: Survey, tables: Sequence[tuple[int, ...]]) -> tuple[tuple[str, ...], ...]:
    """Return the tables wanted as groups, unless that is all groups of so many attributes.

    A table within another needs no group; an attribute of no table gets one, as a survey asks
    every attribute.
    """
    names = survey.schema.names
    wanted = {frozenset(table) for table in tables}
    if all(len(table) == 1 for table in wanted):
        return ()
    widest = max(map(len, wanted))
    most = math.comb(len(names), widest)
    if widest <= ALWAYS and sum(len(table) == widest for table in wanted) == most:
        return ()  # every smaller table is within one of them
    largest = [one for one in wanted if not any(one < other for other in wanted)]
    alone = [{place} for place in range(len(names)) if not any(place in one for one in largest)]
    groups = sorted(tuple(sorted(one)) for one in (*largest, *alone))
    return tuple(tuple(names[place] for place in group) for group in groups)


def _slow(design: str, options: dict[str, object], count: int) -> str:
    """Say what would take long, or nothing."""
    k = options.get("k")
    if not isinstance(k, int):
        return ""
    if options.get("cover") == "pairs" and count > MOST_COVERED:
        return f"covering the pairs of {count} attributes takes long to lay out"
    groups = math.comb(count, k)
    if design == "views" and k > 2 and count > MOST_COVERED:  # noqa: PLR2004 -- pairs are quick
        return f"{groups:,} groups of {k} attributes take long to lay into views"
    return ""
