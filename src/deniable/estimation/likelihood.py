"""The likelihood of mixtures of products, given the evidence; its expectation step.

Class k has weight w_k and, for attribute j, the distribution θ_jk. A respondent who sent
y_1 … y_f has the likelihood Σ_k w_k Π_g L_g(y_g; θ_k). Each group's distinct reports are met
with every class once; small groups are packed, so that a respondent costs few look-ups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deniable.estimation import _kernels
from deniable.estimation.reading import readings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.evidence import Evidence
    from deniable.estimation.reading import Meeting, Pack, Reading

    Array = NDArray[np.float64]
    Floats = NDArray[np.floating[Any]]
    Counts = NDArray[np.int64]
    Narrow = NDArray[np.float32]

STRETCH = 65_536
"""Respondents whose shares are added in single precision before they go to double."""


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


class Seen(NamedTuple):
    """What the classes make of one pack: of each group's cells, its reports, and packed rows."""

    cells: list[Floats]
    single: Floats
    packed: Floats


@dataclass(frozen=True, slots=True)
class Likelihood:
    """The evidence made ready for E-steps.

    Attributes:
        sizes: Categories of each attribute.
        offsets: Where the rows of each attribute begin, and where they end.
        readings: Those of all batches.
    """

    sizes: tuple[int, ...]
    offsets: tuple[int, ...]
    readings: tuple[Reading, ...]

    @property
    def precision(self) -> np.dtype[np.floating[Any]]:
        """Return the number type of the hot loops."""
        return self.readings[0].packs[0].meetings[0].bump.dtype

    def counted(self, counts: Sequence[Counts]) -> tuple[Narrow, ...]:
        """Return, for each reading, how many of each distinct respondent there are."""
        return tuple(reading.counted(counts) for reading in self.readings)

    def levels(self, weight: Array, theta: Array) -> tuple[Narrow, ...]:
        """Return, for each reading, the log-likelihood of each distinct respondent."""
        narrow, small = weight.astype(self.precision), theta.astype(self.precision)
        result = []
        for reading in self.readings:
            seen = [_see(pack, small).packed for pack in reading.packs]
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
            packed = [one.packed for one in seen]
            table = np.concatenate(packed) if len(packed) > 1 else packed[0]
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
            for pack, one in zip(reading.packs, seen, strict=True):
                end = begin + len(one.packed)
                _trace(pack, one, belongs[begin:end], counts)
                begin = end
        return Expectation(mass, counts.astype(np.float64), *totals)


def likelihood_of(evidence: Evidence) -> Likelihood:
    """Make evidence ready: distinct reports, their spikes, packs, distinct respondents."""
    offsets = (0, *np.cumsum(evidence.sizes).tolist())
    return Likelihood(evidence.sizes, offsets, readings_of(evidence, offsets))


def _see(pack: Pack, theta: Floats) -> Seen:
    """Return the likelihood of every group's report in every class, and of every packed row."""
    rows = sum(len(meeting.base) for meeting in pack.meetings)
    single = np.empty((rows, theta.shape[1]), theta.dtype)
    cells = []
    begin = 0
    for meeting in pack.meetings:
        end = begin + len(meeting.base)
        cells.append(_cells(meeting, theta))
        _kernels.see(
            meeting.start, meeting.cell, meeting.bump, meeting.base, cells[-1], single[begin:end]
        )
        begin = end
    if len(pack.meetings) == 1:
        return Seen(cells, single, single)
    packed = np.empty((len(pack.members), theta.shape[1]), theta.dtype)
    _kernels.compose(pack.members, single, packed)
    return Seen(cells, single, packed)


def _cells(meeting: Meeting, theta: Floats) -> Floats:
    """Return the probability of every cell that stands out of a report: Π_j θ_jk."""
    if meeting.rows.shape[1] == 1:
        return theta[meeting.rows[:, 0]]
    cells = np.empty((len(meeting.rows), theta.shape[1]), theta.dtype)
    _kernels.compose(meeting.rows, theta, cells)
    return cells


def _trace(pack: Pack, seen: Seen, share: Floats, counts: Floats) -> None:
    """Add to ``counts`` the answers that the shares of each packed row stand for."""
    single = seen.single
    if len(pack.meetings) > 1:
        packed, share = share, np.zeros_like(single)
        _kernels.spread(pack.members, packed, share)
    pull = np.divide(share, np.maximum(single, np.finfo(single.dtype).tiny, out=single), out=single)
    begin = 0
    for meeting, cells in zip(pack.meetings, seen.cells, strict=True):
        end = begin + len(meeting.base)
        belongs = np.zeros_like(cells)
        _kernels.trace(meeting.start, meeting.cell, meeting.bump, pull[begin:end], belongs)
        _kernels.spread(meeting.rows, np.multiply(belongs, cells, out=belongs), counts)
        begin = end
