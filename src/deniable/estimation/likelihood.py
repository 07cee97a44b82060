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
        held: Log-likelihood of those held out.
    """

    mass: Array
    counts: Array
    fitted: float
    held: float


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
    """A batch made ready: packs, and for each distinct respondent a row of each pack."""

    packs: tuple[Pack, ...]
    index: Places
    counts: Counts


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

    @property
    def counts(self) -> tuple[Counts, ...]:
        """Return how many respondents each reading's distinct rows stand for."""
        return tuple(reading.counts for reading in self.readings)

    @property
    def people(self) -> int:
        """Return the number of respondents."""
        return int(sum(counts.sum() for counts in self.counts))

    def expect(
        self, weight: Array, theta: Array, fitted: Sequence[Floats], held: Sequence[Floats]
    ) -> Expectation:
        """Divide the ``fitted`` respondents among the classes; score the ``held`` ones.

        Both say, for each reading, how many of each distinct respondent count. Only reports
        that the answer decided are counted: what a coin decided says nothing about θ, and
        leaving it out of the complete data makes EM climb faster.
        """
        narrow, small = weight.astype(self.precision), theta.astype(self.precision)
        mass, counts = np.zeros(len(weight)), np.zeros(theta.shape, self.precision)
        totals = [0.0, 0.0]
        for reading, fit, out in zip(self.readings, fitted, held, strict=True):
            seen = [_see(pack, small) for pack in reading.packs]
            table = np.concatenate([packed for _, packed in seen])
            belongs = np.zeros(table.shape)
            for begin in range(0, len(fit), STRETCH):
                part = slice(begin, begin + STRETCH)
                shares, masses = np.zeros_like(table), np.zeros_like(narrow)
                scores = _kernels.assign(
                    reading.index[part], table, narrow, fit[part], out[part], shares, masses
                )
                belongs += shares
                mass += masses
                totals = [total + score for total, score in zip(totals, scores, strict=True)]
            ends = np.cumsum([len(packed) for _, packed in seen])[:-1]
            for pack, (single, _), share in zip(
                reading.packs, seen, np.split(belongs, ends), strict=True
            ):
                _trace(pack, small, single, share.astype(self.precision), counts)
        return Expectation(mass, counts.astype(np.float64), *totals)


def likelihood_of(evidence: Evidence) -> Likelihood:
    """Make evidence ready: distinct reports, their spikes, packs, distinct respondents."""
    offsets = (0, *np.cumsum(evidence.sizes).tolist())
    prepared = [_distinct(batch, evidence.sizes) for batch in evidence.batches]
    widest = max(sum(spikes.contrast for spikes, _ in groups) for groups in prepared)
    precision = np.float32 if widest < NARROW else np.float64
    readings = tuple(
        _reading(groups, batch.counts, offsets, precision)
        for groups, batch in zip(prepared, evidence.batches, strict=True)
    )
    return Likelihood(evidence.sizes, offsets, readings, precision)


def _distinct(batch: Batch, sizes: Sequence[int]) -> list[tuple[Spikes, Counts]]:
    """Return each group's distinct reports as spikes, and which of them each row sent."""
    groups = []
    for group, channel, reports in zip(batch.groups, batch.channels, batch.reports, strict=True):
        found, index = np.unique(reports, axis=0, return_inverse=True)
        groups.append((spikes_of(channel, found, group, sizes), index.ravel()))
    return groups


def _reading(
    groups: list[tuple[Spikes, Counts]],
    counts: Counts,
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
    people = np.bincount(place.ravel(), counts, minlength=len(rows)).astype(np.int64)
    return Reading(tuple(packs), np.ascontiguousarray(rows.astype(np.int32)), people)


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
    pull = share / np.maximum(single, np.finfo(single.dtype).tiny)
    begin = 0
    for meeting in pack.meetings:
        end = begin + len(meeting.base)
        _kernels.trace(
            meeting.start, meeting.rows, meeting.bump, theta, pull[begin:end], counts
        )
        begin = end
