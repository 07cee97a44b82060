"""The researcher's live view: every attribute's table with intervals, block by block.

A seed only: each attribute by itself, unbiased, pooled over blocks and views. Joint
tables, likelihood and tests are the business of ``deniable.estimation``.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels import format_epsilon, support_of, supports
from deniable.collection.service import published
from deniable.collection.tallies import plus_merged, tally_own
from deniable.errors import ChannelError
from deniable.protocol import attribute_epsilons, view_epsilons
from deniable.schema import Survey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deniable.channels import Channel, Support, Value
    from deniable.collection.service import Collection
    from deniable.protocol import Group, Stratum, Tally

    Counts = Mapping[Value, int]

NORMAL_95 = 1.959964
IMPOSSIBLE_BEYOND = 6.0
"""Standard errors outside what any population could show: by chance, once in 10⁹ cells."""

MOST_POINTS = 60


@dataclass(frozen=True, slots=True)
class Share:
    """The estimated distribution of one attribute: may leave [0, 1], as unbiased ones do."""

    estimate: np.ndarray
    variance: np.ndarray
    people: int


@dataclass(frozen=True, slots=True)
class Part:
    """What one group in one block says about an attribute, times its worth. Parts add.

    Attributes:
        worth: The inverse of the variance that the group's estimate has at the even
            distribution, which does not depend on what was seen.
        mean: The unbiased estimate, times the worth.
        variance: Its variance, times the worth squared.
    """

    worth: float
    mean: np.ndarray
    variance: np.ndarray
    people: int

    def __add__(self, other: Part) -> Part:
        """Pool both."""
        return Part(
            self.worth + other.worth,
            self.mean + other.mean,
            self.variance + other.variance,
            self.people + other.people,
        )


def results_of(collection: Collection, name: str) -> dict[str, object]:
    """Return everything that the results page shows."""
    with collection.store.reading() as reading:
        row, design = published(reading, name)
        rows = reading.blocks(row.key)
        own = tally_own(reading, row, design, rows)
        tally = plus_merged(reading, row, own)
        refusals = reading.refusals(row.key)
        issued, redeemed = reading.invitation_totals(row.key)
    survey = Survey.from_dict(json.loads(row.document))
    people = own.people_by_block()
    costs = attribute_epsilons(design, design.channels)
    attributes = []
    for place, attribute in enumerate(survey.schema.attributes):
        parts = parts_of(tally, place)
        attributes.append(
            {
                "name": attribute.name,
                "label": dict(attribute.labels),
                "cells": list(attribute.cell_names),
                "labels": [dict(category.labels) for category in attribute.categories],
                "epsilon": format_epsilon(costs[place]),
                **_shown(share_of(parts)),
                "convergence": _convergence(parts),
            }
        )
    return {
        "name": row.name,
        "title": dict(survey.title),
        "state": row.state,
        "people": tally.total,
        "sources": len(tally.sources),
        "epsilon": {
            "answer": format_epsilon(max(view_epsilons(design.channels))),
            "promised": design.epsilon,
        },
        "blocks": [
            {
                "number": one.number,
                "reports": one.count,
                "late": people.get(one.number, 0) - one.count,
                "open": one.is_open,
                "size": one.size,
            }
            for one in rows[-MOST_POINTS:]
        ],
        "attributes": attributes,
        "impossible": impossible(tally),
        "refused": refusals,
        "invitations": {"issued": issued, "redeemed": redeemed},
    }


def parts_of(tally: Tally, attribute: int) -> dict[int, Part]:
    """Return what each block says about an attribute, pooled over all groups that asked it."""
    found: dict[int, Part] = {}
    for stratum, counts in tally.counts.items():
        group = _group(tally, stratum)
        if attribute not in group.attributes:
            continue
        channel = tally.blocks[stratum.block].channels[stratum.view][stratum.groups[0]]
        try:
            weights, seen = _weights(channel, group, attribute, counts)
        except ChannelError:
            continue  # the channel has no inverse; likelihood alone knows
        number = int(seen.sum())
        if number < 2:  # noqa: PLR2004 - no variance of one
            continue
        mean = seen @ weights / number
        # Wang eq. 24: the dispersion of the inverse, its diagonal.
        spread = np.maximum((seen @ weights**2 / number - mean**2) / (number - 1), 0.0)
        worth = number / _even_variance(channel)
        part = Part(worth, worth * mean, worth**2 * spread, number)
        before = found.get(stratum.block)
        found[stratum.block] = part if before is None else before + part
    return dict(sorted(found.items()))


def share_of(parts: Mapping[int, Part]) -> Share | None:
    """Return the distribution that blocks together say, if there are any."""
    if not parts:
        return None
    whole = reduce(Part.__add__, parts.values())
    return Share(whole.mean / whole.worth, whole.variance / whole.worth**2, whole.people)


def _group(tally: Tally, stratum: Stratum) -> Group:
    return tally.design.views[stratum.view].groups[stratum.groups[0]]


def _weights(
    channel: Channel, group: Group, attribute: int, counts: Counts
) -> tuple[np.ndarray, np.ndarray]:
    """Return what each distinct report says about each category, and how often it came.

    π̂(x) is the mean over reports of ([report supports x] − offset(x)) / slope.
    """
    support = _support(channel)
    slope = float(support.slope)
    offsets = np.array([float(offset) for offset in support.offsets])
    place = group.attributes.index(attribute)
    category = np.array([group.answers(cell)[place] for cell in range(group.size)])
    marginal = np.zeros((group.size, group.sizes[place]))
    marginal[np.arange(group.size), category] = 1.0
    values = list(counts)
    hits = np.array([[supports(channel, v, x) for x in range(group.size)] for v in values], float)
    weights = (hits.reshape(len(values), group.size) - offsets) / slope @ marginal
    return weights, np.array([counts[value] for value in values], float)


def _support(channel: Channel) -> Support:
    """Return a channel's support; the blocks of a fixed design share their channels."""
    return _supports_once(channel)  # type: ignore[arg-type]  # a frozen record, so it hashes


_supports_once = lru_cache(1024)(support_of)


def _even_variance(channel: Channel) -> float:
    support = _support(channel)
    slope = float(support.slope)
    seen = [slope / channel.size + float(offset) for offset in support.offsets]
    return sum(share * (1 - share) for share in seen) / slope**2


def _shown(share: Share | None) -> dict[str, object]:
    if share is None:
        return {"people": 0, "estimate": None, "low": None, "high": None}
    half = NORMAL_95 * np.sqrt(share.variance)
    return {
        "people": share.people,
        "estimate": [round(float(one), 6) for one in share.estimate],
        "low": [round(float(one), 6) for one in share.estimate - half],
        "high": [round(float(one), 6) for one in share.estimate + half],
    }


def _convergence(parts: Mapping[int, Part]) -> list[dict[str, object]]:
    """Return the estimate after each block, at most ``MOST_POINTS`` of them."""
    sums = list(accumulate(parts.values(), Part.__add__))
    step = max(1, math.ceil(len(sums) / MOST_POINTS))
    kept = [*range(len(sums) - 1, -1, -step)][::-1]
    numbers = list(parts)
    return [{"block": numbers[at], **_shown(share_of({0: sums[at]}))} for at in kept]


def impossible(tally: Tally) -> list[dict[str, object]]:
    """Return the response frequencies that no population can show under its channel.

    P(report supports x) lies between offset(x) and offset(x) + slope, whatever is true.
    A frequency far outside means that not all reports were made by the channel.
    """
    found: list[dict[str, object]] = []
    for stratum, counts in sorted(tally.counts.items()):
        channel = tally.blocks[stratum.block].channels[stratum.view][stratum.groups[0]]
        try:
            support = support_of(channel)
        except ChannelError:
            continue
        people = sum(counts.values())
        for cell in range(channel.size):
            low = float(support.offsets[cell])
            high = low + float(support.slope)
            hits = sum(n for value, n in counts.items() if supports(channel, value, cell))
            share = hits / people
            nearest = min(max(share, low), high)
            error = math.sqrt(nearest * (1 - nearest) / people) + 1 / people
            if abs(share - nearest) > IMPOSSIBLE_BEYOND * error:
                found.append(
                    {
                        "block": stratum.block,
                        "view": stratum.view,
                        "group": stratum.groups[0],
                        "cell": cell,
                        "seen": round(share, 6),
                        "possible": [round(low, 6), round(high, 6)],
                    }
                )
    return found
