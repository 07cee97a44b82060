"""Rehearsal: a design carried out on people whose answers are known, block by block."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from deniable.bulk.keystream import Keystream
from deniable.bulk.respondents import draw_views
from deniable.bulk.sampler import dtype_for, sampler_of
from deniable.errors import AnswerError, DesignError
from deniable.estimation.two_stage import update_by_stages
from deniable.protocol import (
    Stratum,
    Tally,
    first_block,
    next_block,
    update_by_blocks,
    update_by_clients,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from deniable.channels import Channel, Value
    from deniable.protocol import Block, Design, Group
    from deniable.protocol.design import Channels

    Answers: TypeAlias = NDArray[np.integer]
    Update: TypeAlias = Callable[[Design, Block, Tally], Channels]
    Counts: TypeAlias = dict[Stratum, Counter[Value]]

UPDATES: Mapping[str, Update] = {
    "classic-blocks": update_by_blocks,
    "classic-clients": update_by_clients,
    "two-stage": update_by_stages,
}
"""The rules that change channels, as a server follows them."""


def rehearse(
    design: Design,
    answers: Answers,
    *,
    stream: Keystream | None = None,
    update: Update | None = None,
    joint: bool = False,
) -> Tally:
    """Return the tally of everybody's reports, as if each had had a device.

    Args:
        design: What they are asked.
        answers: One row a respondent, one column an attribute, each a cell. Respondents come
            in the order of the rows, so shuffle them if their order tells anything.
        stream: Where the coins come from; a secure keystream of its own if not given.
        update: How channels change between blocks; the design's own rule if not given.
        joint: Whether the groups of a view are counted together.
    """
    _check(design, answers)
    stream = Keystream() if stream is None else stream
    changes = design.rule.name != "fixed" or update is not None
    if update is None:
        update = UPDATES.get(design.rule.name)
    if changes and update is None:
        problem = "this rule between blocks cannot be rehearsed"
        raise DesignError(problem, given=design.rule.name, expected=" or ".join(UPDATES))
    views = draw_views(design, len(answers), stream)
    size = design.rule.block_size or max(len(answers), 1)
    block = first_block(design)
    counts: Counts = {}
    blocks = {}
    closed: Counts = {}
    for start in range(0, len(answers), size):
        if start:
            block = _following(design, block, closed, update)
        blocks[block.number] = block
        part = slice(start, start + size)
        closed = _reports(design, block, answers[part], views[part], stream, joint=joint)
        counts |= closed
    return Tally(design, blocks, counts, frozenset({"rehearsal"}))


def _following(design: Design, block: Block, closed: Counts, update: Update | None) -> Block:
    """Return the next block, from the reports of the one that has just closed."""
    if update is None:
        return next_block(design, block)
    tally = Tally(design, {block.number: block}, closed, frozenset({"block"}))
    return next_block(design, block, update(design, block, tally))


def _reports(
    design: Design,
    block: Block,
    answers: Answers,
    views: NDArray[np.unsignedinteger],
    stream: Keystream,
    *,
    joint: bool,
) -> Counts:
    found: Counts = {}
    for view in np.unique(views).tolist():
        people = answers[views == view]
        reports = [
            randomized(group, channel, people, stream)
            for group, channel in zip(design.views[view].groups, block.channels[view], strict=True)
        ]
        if joint:
            together = tuple(range(len(reports)))
            found[Stratum(block.number, view, together)] = _counted(np.hstack(reports))
            continue
        for place, values in enumerate(reports):
            found[Stratum(block.number, view, (place,))] = _counted(values)
    return found


def randomized(
    group: Group, channel: Channel, answers: Answers, stream: Keystream
) -> NDArray[np.int64]:
    """Return everybody's report on a group: a row for each, ``channel.width`` integers long."""
    columns = [answers[:, attribute] for attribute in group.attributes]
    cells = np.ravel_multi_index(tuple(columns), group.sizes).astype(dtype_for(group.size))
    reports = sampler_of(channel).randomize(cells, stream)
    return reports.reshape(len(answers), channel.width).astype(np.int64)


def _counted(reports: NDArray[np.int64]) -> Counter[Value]:
    if reports.shape[1] == 1:
        seen = np.bincount(reports[:, 0])
        return Counter({(cell,): int(seen[cell]) for cell in np.flatnonzero(seen).tolist()})
    values, numbers = np.unique(reports, axis=0, return_counts=True)
    return Counter(dict(zip(map(tuple, values.tolist()), numbers.tolist(), strict=True)))


def _check(design: Design, answers: Answers) -> None:
    wanted = (len(answers), len(design.sizes))
    if answers.shape != wanted or not np.issubdtype(answers.dtype, np.integer):
        problem = "answers must be whole numbers, a row for each respondent"
        raise AnswerError(problem, given=answers.shape, expected=f"{wanted}")
    if answers.size and (answers.min() < 0 or np.any(answers.max(axis=0) >= design.sizes)):
        problem = "some answers lie outside their domain"
        raise AnswerError(problem, expected="cells from 0 to an attribute's size, less one")
