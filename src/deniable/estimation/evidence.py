"""Evidence: every report that came, by block and view, as arrays for the estimators."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.channels import Channel
    from deniable.protocol import Tally


@dataclass(frozen=True, slots=True)
class Batch:
    """Respondents who answered the same groups through the same channels: one block, one view.

    Attributes:
        groups: The attributes of each group, by position; no attribute twice.
        channels: One channel for each group, over the cells of its attributes' product.
        reports: For each group a (u, width) array, row by row the same respondents.
        counts: How many respondents sent each row.
    """

    groups: tuple[tuple[int, ...], ...]
    channels: tuple[Channel, ...]
    reports: tuple[NDArray[np.int64], ...]
    counts: NDArray[np.int64]

    @property
    def people(self) -> int:
        """Return the number of respondents."""
        return int(self.counts.sum())


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that was reported about some attributes.

    Attributes:
        names: The attributes.
        sizes: How many categories each has.
        batches: The reports.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    batches: tuple[Batch, ...]

    def __post_init__(self) -> None:
        """Refuse evidence without people, and reports that do not fit their groups."""
        if not self.people:
            problem = "there is no report to estimate from"
            raise EstimationError(problem, expected="at least one report")
        for batch in self.batches:
            asked = [attribute for group in batch.groups for attribute in group]
            if len(set(asked)) != len(asked) or not set(asked) <= set(range(len(self.sizes))):
                problem = "the groups of a batch name an attribute twice or one that is not there"
                raise EstimationError(problem, given=batch.groups)
            for group, channel in zip(batch.groups, batch.channels, strict=True):
                cells = math.prod(self.sizes[attribute] for attribute in group)
                if cells != channel.size:
                    problem = f"the channel of attributes {group} has {channel.size} cells"
                    raise EstimationError(problem, expected=f"{cells}")

    @property
    def people(self) -> int:
        """Return the number of respondents."""
        return sum(batch.people for batch in self.batches)


def evidence_from_reports(
    names: Sequence[str],
    sizes: Sequence[int],
    channels: Sequence[Channel],
    reports: Sequence[NDArray[np.int64]],
    groups: Sequence[Sequence[int]] | None = None,
) -> Evidence:
    """Return the evidence of one view that everybody answered; by default attribute by attribute.

    >>> from deniable.channels import k_ary
    >>> evidence_from_reports(["sex"], [2], [k_ary(1.0, 2)], [np.array([0, 1, 1])]).people
    3
    """
    groups = groups or [(attribute,) for attribute in range(len(sizes))]
    arrays = tuple(np.asarray(r).reshape(len(r), -1).astype(np.int64) for r in reports)
    counts = np.ones(len(arrays[0]), np.int64)
    batch = Batch(tuple(tuple(group) for group in groups), tuple(channels), arrays, counts)
    return Evidence(tuple(names), tuple(sizes), (batch,))


def evidence_from_tally(tally: Tally) -> Evidence:
    """Return a tally's reports as arrays.

    A tally of whole reports keeps the groups of a view together; one of single groups
    gives a batch for each group, as if different people had answered them.
    """
    batches = []
    for stratum, seen in sorted(tally.counts.items()):
        view = tally.design.views[stratum.view]
        channels = tally.blocks[stratum.block].channels[stratum.view]
        chosen = tuple(channels[group] for group in stratum.groups)
        groups = tuple(view.groups[group].attributes for group in stratum.groups)
        rows = np.array(list(seen), np.int64).reshape(len(seen), -1)
        ends = np.cumsum([channel.width for channel in chosen])[:-1]
        reports = tuple(np.ascontiguousarray(part) for part in np.split(rows, ends, axis=1))
        counts = np.fromiter(seen.values(), np.int64, len(seen))
        if counts.sum():
            batches.append(Batch(groups, chosen, reports, counts))
    names, sizes = zip(*tally.design.attributes, strict=True)
    return Evidence(names, sizes, tuple(batches))
