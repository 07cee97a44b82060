"""P(report | answer) of every channel in one form: a level, and spikes above it.

For the distinct reports y of a group, P(y|x) is proportional to
base[y] + Σ_e bump[e]·[x = cell e], e running over the spikes of y. Two coins have one spike,
a subset s, a hash about m / buckets; a matrix has one for every cell. Under a mixture of
products a report then costs as many operations as it has spikes, whatever m is. Each row is
scaled to an average of 1 over the cells, so that log-likelihoods are relative to people
who answer evenly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels import KAry, LocalHash, Matrix, SubsetSelection, TwoCoin, Unary
from deniable.channels.coin import WORD
from deniable.errors import EstimationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.channels import Channel

    Array = NDArray[np.float64]
    Cells = NDArray[np.int64]

BITS = 32
MOST_SPIKES = 2**27


@dataclass(frozen=True, slots=True)
class Spikes:
    """The likelihood of one group's distinct reports.

    Attributes:
        attributes: The group's attributes.
        start: Report u has the spikes start[u] to start[u + 1].
        levels: For each spike the category of each attribute.
        bump: How far each spike stands above the level.
        base: The level of each report.
    """

    attributes: tuple[int, ...]
    start: NDArray[np.int64]
    levels: NDArray[np.int64]
    bump: Array
    base: Array

    @property
    def contrast(self) -> float:
        """Return the largest log-ratio between the likelihoods of two answers."""
        high = self.base.copy()
        np.maximum.at(high, np.repeat(np.arange(len(self.base)), np.diff(self.start)), self.highest)
        return float(np.log(high / np.maximum(self.base, 1e-300)).max(initial=0.0))

    @property
    def highest(self) -> Array:
        """Return the likelihood on top of each spike."""
        return self.bump + np.repeat(self.base, np.diff(self.start))


def spikes_of(
    channel: Channel, reports: Cells, attributes: Sequence[int], sizes: Sequence[int]
) -> Spikes:
    """Return the likelihood of distinct reports, one in each row."""
    base, who, cells, bump = _spikes(channel, reports)
    if len(cells) > MOST_SPIKES:
        problem = f"the reports of attributes {tuple(attributes)} support {len(cells)} cells"
        raise EstimationError(problem, expected=f"at most {MOST_SPIKES}; use a subset channel")
    count = np.bincount(who, minlength=len(reports))
    mean = base + np.bincount(who, bump, minlength=len(reports)) / channel.size
    shape = [sizes[attribute] for attribute in attributes]
    return Spikes(
        tuple(attributes),
        np.concatenate([[0], np.cumsum(count)]),
        np.stack(np.unravel_index(cells, shape), axis=1),
        bump / mean[who],
        base / mean,
    )


def _spikes(channel: Channel, reports: Cells) -> tuple[Array, Cells, Cells, Array]:
    """Return the level of each report; and the report, cell and bump of each spike."""
    rows = np.arange(len(reports))
    match channel:
        case KAry() | TwoCoin():
            truth = channel.head / WORD
            cells = reports[:, 0]
            return (1 - truth) * _fakes(channel, cells), rows, cells, np.full(len(rows), truth)
        case SubsetSelection(size=size, chosen=chosen):
            inside = channel.head * (size - chosen) / ((WORD - channel.head) * chosen)
            who = np.repeat(rows, chosen)
            return np.ones(len(rows)), who, reports.ravel(), np.full(who.shape, inside - 1)
        case Unary():
            keep, flip = channel.keep / WORD, channel.flip / WORD
            bits = reports[:, :, None] >> np.arange(BITS) & 1
            who, cells = np.nonzero(bits.reshape(len(rows), -1))
            off = (1 - keep) / (1 - flip)
            return np.full(len(rows), off), who, cells, np.full(who.shape, keep / flip - off)
        case LocalHash():
            truth = channel.head / WORD
            factor, shift, bucket = reports.T
            answers = np.arange(channel.size)
            hashed = (factor[:, None] * answers + shift[:, None]) % channel.prime
            who, cells = np.nonzero(hashed % channel.buckets == bucket[:, None])
            level = (1 - truth) * _fakes(channel.inner, bucket)
            return level, who, cells, np.full(who.shape, truth)
        case Matrix():
            likely = np.array(channel.rows, np.float64).T[reports[:, 0]] / WORD
            base = likely.min(axis=1)
            above = likely - base[:, None]
            who, cells = np.nonzero(above)
            return base, who, cells, above[who, cells]
    problem = "no likelihood is known for this channel"
    raise EstimationError(problem, given=channel.kind)


def _fakes(channel: KAry | TwoCoin, cells: Cells) -> Array:
    """Return T at each cell."""
    if isinstance(channel, TwoCoin):
        return np.array(channel.fake, np.float64)[cells] / WORD
    weight, longer = divmod(WORD, channel.size)
    return (weight + (cells < longer)) / WORD
