"""The likelihood of mixtures of products, given the evidence; its expectation step.

Class k has weight w_k and, for attribute j, the distribution θ_jk. A respondent who sent
y_1 … y_f has the likelihood Σ_k w_k Π_g L_g(y_g; θ_k). Each group's distinct reports are met
with every class once; small groups are packed, so that a respondent costs few look-ups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.estimation import _kernels
from deniable.estimation.spikes import Spikes, spikes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.evidence import Batch, Evidence

    Array = NDArray[np.float64]
    Floats = NDArray[np.floating[Any]]
    Places = NDArray[np.int32]
    Counts = NDArray[np.int64]
    Narrow = NDArray[np.float32]

PACKED_ROWS = 384
"""Up to so many rows groups share a look-up table: it stays in the nearest cache."""

STRETCH = 65_536
"""Respondents whose shares are added in single precision before they go to double."""

NARROW = 60.0
"""Up to this log-ratio of two likelihoods single precision cannot run empty."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What an E-step returns.

    Attributes:
        mass: Expected respondents in each class.
        counts: Expected truthful answers: rows are categories, columns classes.
        fitted: Log-likelihood of the respondents fitted, relative to even answers.
        held: How far the log-likelihood of those held out is above the usual.
        square: The sum of the squares of what each of them adds to ``held``.
    """

    mass: Array
    counts: Array
    fitted: float
    held: float
    square: float


@dataclass(frozen=True, slots=True)
class People:
    """Who is fitted and who is held out: for each reading, how many of each distinct one.

    ``usual`` is the log-likelihood that a held-out respondent's is compared with.
    """

    fitted: tuple[Narrow, ...]
    held: tuple[Narrow, ...]
    usual: tuple[Narrow, ...]


@dataclass(frozen=True, slots=True)
class Meeting:
    """Where one group's distinct reports meet the classes: its spikes, by row of θ."""

    start: Places
    rows: Places
    bump: Floats
    base: Floats


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


@dataclass(frozen=True, slots=True)
class Likelihood:
    """The evidence made ready for E-steps.

    Attributes:
        sizes: Categories of each attribute.
        offsets: Where the rows of each attribute begin, and where they end.
        readings: One for each batch.
        precision: The number type of the hot loops.
    """

    sizes: tuple[int, ...]
    offsets: tuple[int, ...]
    readings: tuple[Reading, ...]
    precision: type[np.floating[Any]]

    def counted(self, counts: Sequence[Counts]) -> tuple[Narrow, ...]:
        """Return, for each reading, how many of each distinct respondent there are."""
        return tuple(reading.counted(counts) for reading in self.readings)

    def levels(self, weight: Array, theta: Array) -> tuple[Narrow, ...]:
        """Return, for each reading, the log-likelihood of each distinct respondent."""
        narrow, small = weight.astype(self.precision), theta.astype(self.precision)
        result = []
        for reading in self.readings:
            seen = [packed for _, packed in (_see(pack, small) for pack in reading.packs)]
            levels = np.empty(len(reading.index), np.float32)
            _kernels.level(reading.index, np.concatenate(seen), narrow, levels)
            result.append(levels)
        return tuple(result)

    def expect(self, weight: Array, theta: Array, people: People) -> Expectation:
        """Divide the fitted people among the classes; score the held-out ones.

        Only reports
        that the answer decided are counted: what a coin decided says nothing about θ, and
        leaving it out of the complete data makes EM climb faster.
        """
        narrow, small = weight.astype(self.precision), theta.astype(self.precision)
        mass, counts = np.zeros(len(weight)), np.zeros(theta.shape, self.precision)
        totals = [0.0, 0.0, 0.0]
        for reading, fit, out, usual in zip(
            self.readings, people.fitted, people.held, people.usual, strict=True
        ):
            seen = [_see(pack, small) for pack in reading.packs]
            table = np.concatenate([packed for _, packed in seen]) if len(seen) > 1 else seen[0][1]
            belongs = np.zeros_like(table)
            for begin in range(0, len(fit), STRETCH):
                part = slice(begin, begin + STRETCH)
                masses = np.zeros_like(narrow)
                scores = _kernels.assign(
                    reading.index[part],
                    table,
                    narrow,
                    fit[part],
                    out[part],
                    usual[part],
                    belongs,
                    masses,
                )
                mass += masses
                totals = [total + score for total, score in zip(totals, scores, strict=True)]
            begin = 0
            for pack, (single, packed) in zip(reading.packs, seen, strict=True):
                share = belongs[begin : begin + len(packed)]
                _trace(pack, small, single, share, counts)
                begin += len(packed)
        return Expectation(mass, counts.astype(np.float64), *totals)


def likelihood_of(evidence: Evidence) -> Likelihood:
    """Make evidence ready: distinct reports, their spikes, packs, distinct respondents."""
    offsets = (0, *np.cumsum(evidence.sizes).tolist())
    prepared = [_distinct(batch, evidence.sizes) for batch in evidence.batches]
    widest = max(sum(spikes.contrast for spikes, _ in groups) for groups in prepared)
    precision = np.float32 if widest < NARROW else np.float64
    readings = [
        _reading(number, groups, offsets, precision) for number, groups in enumerate(prepared)
    ]
    return Likelihood(evidence.sizes, offsets, _joined(readings), precision)


def _distinct(batch: Batch, sizes: Sequence[int]) -> list[tuple[Spikes, Counts]]:
    """Return each group's distinct reports as spikes, and which of them each row sent."""
    groups = []
    for group, channel, reports in zip(batch.groups, batch.channels, batch.reports, strict=True):
        found, index = np.unique(reports, axis=0, return_inverse=True)
        groups.append((spikes_of(channel, found, group, sizes), index.ravel()))
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
        members, index = np.unique(chosen, axis=0, return_inverse=True)
        spikes = [groups[place][0] for place in together]
        begins = np.cumsum([0, *(len(one.base) for one in spikes)])[:-1]
        meetings = tuple(_meeting(one, offsets, precision) for one in spikes)
        packs.append(Pack(meetings, (members + begins).astype(np.int32)))
        columns.append(index.ravel() + first)
        first += len(members)
    index = np.stack(columns, axis=1)
    rows, place = np.unique(index, axis=0, return_inverse=True)
    index = np.ascontiguousarray(rows.astype(np.int32))
    return Reading(tuple(packs), index, (batch,), (place.ravel(),))


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
    meeting = Meeting(
        np.concatenate([*starts, spikes[-1:]]).astype(np.int32),
        np.concatenate([one.rows for one in meetings]),
        np.concatenate([one.bump for one in meetings]),
        np.concatenate([one.base for one in meetings]),
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
    rows = np.ascontiguousarray((spikes.levels + begins).astype(np.int32))
    start = spikes.start.astype(np.int32)
    return Meeting(start, rows, spikes.bump.astype(precision), spikes.base.astype(precision))


def _see(pack: Pack, theta: Floats) -> tuple[Floats, Floats]:
    """Return the likelihood of every group's report in every class, and of every packed row."""
    rows = sum(len(meeting.base) for meeting in pack.meetings)
    single = np.empty((rows, theta.shape[1]), theta.dtype)
    begin = 0
    for meeting in pack.meetings:
        end = begin + len(meeting.base)
        _kernels.see(
            meeting.start, meeting.rows, meeting.bump, meeting.base, theta, single[begin:end]
        )
        begin = end
    if len(pack.meetings) == 1:
        return single, single
    packed = np.empty((len(pack.members), theta.shape[1]), theta.dtype)
    _kernels.compose(pack.members, single, packed)
    return single, packed


def _trace(pack: Pack, theta: Floats, single: Floats, share: Floats, counts: Floats) -> None:
    """Add to ``counts`` the answers that the shares of each packed row stand for."""
    if len(pack.meetings) > 1:
        packed, share = share, np.zeros_like(single)
        _kernels.spread(pack.members, packed, share)
    pull = np.divide(share, np.maximum(single, np.finfo(single.dtype).tiny, out=single), out=single)
    begin = 0
    for meeting in pack.meetings:
        end = begin + len(meeting.base)
        _kernels.trace(meeting.start, meeting.rows, meeting.bump, theta, pull[begin:end], counts)
        begin = end
