"""The researcher's live view: every attribute's table with intervals, block by block.

Each attribute by itself, unbiased, pooled over blocks and views: what ``deniable estimate
--method unbiased`` prints. Joint tables, models and tests are made from the tally.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from deniable.channels import format_epsilon
from deniable.collection.impossible import impossible
from deniable.collection.service import published
from deniable.collection.tallies import merged_tallies, plus_merged, tally_own
from deniable.errors import EstimationError
from deniable.estimation.interval import quantile, score_bounds
from deniable.estimation.observation import observe
from deniable.estimation.unbiased import pooled
from deniable.protocol import attribute_epsilons, view_epsilons
from deniable.schema import Survey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deniable.channels import Channel, Value
    from deniable.collection.service import Collection
    from deniable.protocol import Block, Stratum, Tally

LEVEL = 0.95
FEWEST = 30
"""People below whom nothing is shown of an attribute: no interval would keep its level."""

MOST_BLOCKS = 60
MOST_POINTS = 20
FEWEST_POINTS = 4
MOST_WORK = 1_000
"""Points × different channels: where every block has its own, fewer points are shown."""


def results_of(collection: Collection, name: str) -> dict[str, object]:
    """Return everything that the results page shows."""
    with collection.store.reading() as reading:
        row, design = published(reading, name)
        rows = reading.blocks(row.key)
        own = tally_own(reading, row, design, rows)
        sent = merged_tallies(reading, row)
        refusals = reading.refusals(row.key)
        issued, redeemed = reading.invitation_totals(row.key)
    survey = Survey.from_dict(json.loads(row.document))
    tally = plus_merged(own, sent)
    people = own.people_by_block()
    costs = attribute_epsilons(design, design.channels)
    shown = learned(tally)
    attributes = []
    for place, attribute in enumerate(survey.schema.attributes):
        attributes.append(
            {
                "name": attribute.name,
                "label": dict(attribute.labels),
                "cells": list(attribute.cell_names),
                "labels": [dict(category.labels) for category in attribute.categories],
                "epsilon": format_epsilon(costs[place]),
                **shown[place],
            }
        )
    return {
        "name": row.name,
        "title": dict(survey.title),
        "state": row.state,
        "people": tally.total,
        "merged": len(sent),
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
            for one in rows[-MOST_BLOCKS:]
        ],
        "attributes": attributes,
        "impossible": impossible(tally),
        "refused": refusals,
        "invitations": {"issued": issued, "redeemed": redeemed},
    }


def learned(tally: Tally) -> list[dict[str, Any]]:
    """Return each attribute's shares now, and what they were after some of the blocks."""
    names = tally.design.names
    points: list[list[dict[str, object]]] = [[] for _ in names]
    for block, so_far in _after_blocks(tally):
        for name, seen in zip(names, points, strict=True):
            seen.append({"block": block, **_shares(so_far, name)})
    found: list[dict[str, Any]] = []
    for seen in points:
        now = {key: seen[-1][key] for key in NOTHING} if seen else NOTHING
        found.append({**now, "convergence": [one for one in seen if one["estimate"] is not None]})
    return found


NOTHING: dict[str, object] = {"people": 0, "estimate": None, "low": None, "high": None}


def _after_blocks(tally: Tally) -> Iterator[tuple[int, Tally]]:
    """Yield what was counted up to a block, for some blocks and the last.

    Blocks of the same channels are counted as one: the reports say the same of the truth.
    """
    strata = [list(found) for _, found in groupby(sorted(tally.counts), lambda one: one.block)]
    different = len({tally.blocks[found[0].block].channels for found in strata})
    points = min(MOST_POINTS, max(FEWEST_POINTS, MOST_WORK // max(1, different)))
    step = max(1, math.ceil(len(strata) / points))
    first: dict[tuple[tuple[Channel, ...], ...], Block] = {}
    counts: dict[Stratum, Counter[Value]] = {}
    for left, found in zip(range(len(strata) - 1, -1, -1), strata, strict=True):
        block = tally.blocks[found[0].block]
        number = first.setdefault(block.channels, block).number
        for stratum in found:
            together = counts.setdefault(stratum._replace(block=number), Counter())
            together.update(tally.counts[stratum])
        if left % step == 0:
            blocks = {one.number: one for one in first.values()}
            yield block.number, replace(tally, blocks=blocks, counts=counts)


def _shares(tally: Tally, attribute: str) -> dict[str, object]:
    try:
        observation = observe(tally, [attribute])
        if observation.people < FEWEST:
            return {**NOTHING, "people": observation.people}
        found = pooled(observation.sights)
    except EstimationError:  # nobody was asked it, or its channel has no inverse
        return NOTHING
    low, high = score_bounds(found.centre, found.curve(), quantile(LEVEL))
    shown = {"estimate": found.centre, "low": low, "high": high}
    rounded = {key: [round(float(one), 6) for one in row] for key, row in shown.items()}
    return {"people": observation.people, **rounded}
