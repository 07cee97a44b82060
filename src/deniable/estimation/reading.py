"""Readings: batches of reports made ready, so that a respondent costs few look-ups.

Each group's distinct reports are spikes over the rows of θ. Small groups are packed: their
reports are looked up together, one row for each combination of reports that came.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.estimation.distinct import distinct_rows
from deniable.estimation.spikes import Spikes, spikes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.evidence import Batch, Evidence

    Floats = NDArray[np.floating[Any]]
    Places = NDArray[np.int32]
    Counts = NDArray[np.int64]
    Narrow = NDArray[np.float32]

PACKED_ROWS = 384
"""Up to so many rows groups share a look-up table: it stays in the nearest cache."""

NARROW = 60.0
"""Up to this log-ratio of two likelihoods single precision cannot run empty."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where one group's distinct reports meet the classes: its spikes, by cell.

    ``rows`` names the rows of θ that make up each cell on which a spike stands. Thousands of
    reports may support the same few cells; a cell is then made once.
    """

    start: Places
    cell: Places
    bump: Floats
    base: Floats
    rows: Places


@dataclass(frozen=True, slots=True)
class Pack:
    """Groups whose reports are looked up together; ``members`` names a row of each."""

    meetings: tuple[Meeting, ...]
    members: Places


@dataclass(frozen=True, slots=True)
class Reading:
    """Batches made ready: packs, and for each distinct respondent a row of each pack.

    ``places`` names, for each of the batches, the distinct respondent of each of its rows.
    """

    packs: tuple[Pack, ...]
    index: Places
    batches: tuple[int, ...]
    places: tuple[Counts, ...]

    def counted(self, counts: Sequence[Counts]) -> Narrow:
        """Return how many of each distinct respondent there are, given them by batch."""
        result = np.zeros(len(self.index), np.float64)
        for batch, place in zip(self.batches, self.places, strict=True):
            result += np.bincount(place, counts[batch], minlength=len(self.index))
        return result.astype(np.float32)


def readings_of(evidence: Evidence, offsets: Sequence[int]) -> tuple[Reading, ...]:
    """Return the evidence as readings, batches alike joined; ``offsets``: rows of θ."""
    prepared = [_distinct(batch, evidence.sizes) for batch in evidence.batches]
    widest = max(sum(spikes.contrast for spikes, _ in groups) for groups in prepared)
    precision = np.float32 if widest < NARROW else np.float64
    readings = [
        _reading(number, groups, offsets, precision) for number, groups in enumerate(prepared)
    ]
    return _joined(readings)


def _distinct(batch: Batch, sizes: Sequence[int]) -> list[tuple[Spikes, Counts]]:
    """Return each group's distinct reports as spikes, and which of them each row sent."""
    groups = []
    for group, channel, reports in zip(batch.groups, batch.channels, batch.reports, strict=True):
        found, index = distinct_rows(reports)
        groups.append((spikes_of(channel, found, group, sizes), index))
    return groups


def _reading(
    batch: int,
    groups: list[tuple[Spikes, Counts]],
    offsets: Sequence[int],
    precision: type[np.floating[Any]],
) -> Reading:
    packs, columns = [], []
    first = 0
    for together in _packing([len(spikes.base) for spikes, _ in groups]):
        chosen = np.stack([groups[place][1] for place in together], axis=1)
        members, index = distinct_rows(chosen)
        spikes = [groups[place][0] for place in together]
        begins = np.cumsum([0, *(len(one.base) for one in spikes)])[:-1]
        meetings = tuple(_meeting(one, offsets, precision) for one in spikes)
        packs.append(Pack(meetings, (members + begins).astype(np.int32)))
        columns.append(index + first)
        first += len(members)
    rows, place = distinct_rows(np.stack(columns, axis=1))
    people: Places = rows.astype(np.int32)
    return Reading(tuple(packs), people, (batch,), (place,))


def _joined(readings: Sequence[Reading]) -> tuple[Reading, ...]:
    """Join the batches that asked one group of equally many attributes: one loop, not many."""
    alike: dict[int, list[Reading]] = {}
    rest = []
    for reading in readings:
        meetings = reading.packs[0].meetings
        if len(reading.packs) == len(meetings) == 1:
            alike.setdefault(meetings[0].rows.shape[1], []).append(reading)
        else:
            rest.append(reading)
    return (*rest, *(_join(same) for same in alike.values()))


def _join(readings: Sequence[Reading]) -> Reading:
    meetings = [reading.packs[0].meetings[0] for reading in readings]
    spikes = np.cumsum([0, *(len(one.bump) for one in meetings)])
    starts = [one.start[:-1] + begin for one, begin in zip(meetings, spikes, strict=False)]
    cells = np.cumsum([0, *(len(one.rows) for one in meetings)])
    meeting = Meeting(
        np.concatenate([*starts, spikes[-1:]]).astype(np.int32),
        np.concatenate(
            [one.cell + cell for one, cell in zip(meetings, cells, strict=False)]
        ).astype(np.int32),
        np.concatenate([one.bump for one in meetings]),
        np.concatenate([one.base for one in meetings]),
        np.concatenate([one.rows for one in meetings]),
    )
    begins = np.cumsum([0, *(len(one.base) for one in meetings)])
    index = [reading.index + begin for reading, begin in zip(readings, begins, strict=False)]
    members = np.arange(begins[-1], dtype=np.int32)[:, None]
    people = np.cumsum([0, *(len(reading.index) for reading in readings)])
    places = [reading.places[0] + begin for reading, begin in zip(readings, people, strict=False)]
    batches = tuple(reading.batches[0] for reading in readings)
    pack = Pack((meeting,), members)
    return Reading((pack,), np.concatenate(index).astype(np.int32), batches, tuple(places))


def _packing(rows: Sequence[int]) -> list[list[int]]:
    """Divide groups into packs whose rows multiply to at most ``PACKED_ROWS``; first fit."""
    packs: list[list[int]] = []
    for place in sorted(range(len(rows)), key=lambda one: -rows[one]):
        for pack in packs:
            if math.prod(rows[one] for one in [*pack, place]) <= PACKED_ROWS:
                pack.append(place)
                break
        else:
            packs.append([place])
    return packs


def _meeting(spikes: Spikes, offsets: Sequence[int], precision: type[np.floating[Any]]) -> Meeting:
    begins = np.array([offsets[attribute] for attribute in spikes.attributes])
    levels, cell = distinct_rows(spikes.levels)
    return Meeting(
        spikes.start.astype(np.int32),
        cell.astype(np.int32),
        spikes.bump.astype(precision),
        spikes.base.astype(precision),
        np.ascontiguousarray((levels + begins).astype(np.int32)),
    )
