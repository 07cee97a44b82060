"""From a channel and the reports that came to a lens and their places behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels import (
    KAry,
    LocalHash,
    Matrix,
    SubsetSelection,
    TwoCoin,
    Unary,
    support_of,
)
from deniable.channels.coin import WORD
from deniable.errors import EstimationError
from deniable.estimation.distinct import distinct_rows
from deniable.estimation.echo import subset_echo, unary_echo
from deniable.estimation.lens import Lens, PointLens, RowLens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.channels import Channel
    from deniable.estimation.echo import Echo

    Array = NDArray[np.float64]
    Places = NDArray[np.int64]

MOST_NUMBERS = 2**27
"""Largest matrix of report values × cells that is laid out: 1 GiB."""


@dataclass(frozen=True, slots=True)
class Slices:
    """How the cells of a group fall into the cells of some of its attributes.

    Attributes:
        sizes: The group's attributes' numbers of cells; the last attribute runs fastest.
        kept: Which of them the table has, by place, ascending.
    """

    sizes: tuple[int, ...]
    kept: tuple[int, ...]

    @property
    def cells(self) -> int:
        """Return the number of slices."""
        return math.prod(self.sizes[place] for place in self.kept)

    @property
    def depth(self) -> int:
        """Return the number of the group's cells in each slice."""
        return math.prod(self.sizes) // self.cells

    @property
    def whole(self) -> bool:
        """Tell whether every attribute is kept: each slice is one cell."""
        return len(self.kept) == len(self.sizes)

    def of(self, cells: Places) -> Places:
        """Return the slice of each of the group's cells."""
        every = math.prod(self.sizes)
        if every < cells.size:  # each cell is worked out once
            return self._of(np.arange(every))[cells]
        return self._of(cells)

    def _of(self, cells: Places) -> Places:
        result = np.zeros_like(cells)
        unit = math.prod(self.sizes)
        for place, size in enumerate(self.sizes):
            unit //= size
            if place in self.kept:
                result = result * size + cells // unit % size
        return result

    def below(self, limit: int) -> Places:
        """Return how many of the group's first ``limit`` cells fall into each slice.

        The limit is below the number of cells.

        Counted digit by digit, so that a group of billions of cells is never laid out.

        >>> Slices((2, 3), (1,)).below(4).tolist()
        [2, 1, 1]
        """
        free = np.zeros(1, dtype=np.int64)  # cells that are below whatever digits follow
        edge, unit = 0, math.prod(self.sizes)  # the one slice still on the limit's own digits
        for place, size in enumerate(self.sizes):
            unit //= size
            digit, limit = divmod(limit, unit)
            if place in self.kept:
                free = np.repeat(free, size)
                edge *= size
                free[edge : edge + digit] += 1
                edge += digit
            else:
                free *= size
                free[edge] += digit
        return free


def lens_of(channel: Channel, slices: Slices, reports: Places) -> tuple[Lens, Places]:
    """Return the lens of a channel, and for each report the value behind the lens.

    Args:
        channel: The group's channel.
        slices: Which of the group's attributes the table has.
        reports: One row for each report, ``channel.width`` integers each.
    """
    match channel:
        case TwoCoin() | KAry():
            return _points(channel, slices, reports)
        case Matrix():
            return _matrix(channel, slices), reports[:, 0]
    distinct, places = distinct_rows(reports)
    _check_room(len(distinct), slices.cells)
    match channel:
        case SubsetSelection():
            lens = _subset(channel, slices, distinct)
        case Unary():
            lens = _unary(channel, slices, distinct)
        case LocalHash():
            lens = _hashed(channel, slices, distinct)
        case _:
            problem = "reports of this channel cannot be estimated from yet"
            raise EstimationError(problem, given=channel.kind)
    return lens, places


def is_exact(channel: Channel, slices: Slices) -> bool:
    """Tell whether the reduced lens has the exact likelihood of the slices.

    A bare matrix and a hash may treat the cells of a slice differently.
    """
    return slices.whole or not isinstance(channel, Matrix | LocalHash)


def _points(channel: TwoCoin | KAry, slices: Slices, reports: Places) -> tuple[Lens, Places]:
    size = channel.size
    if isinstance(channel, TwoCoin):
        weights = np.array(channel.fake, dtype=np.float64)
        places = slices.of(np.arange(size))
        fake = np.bincount(places, weights, minlength=slices.cells).astype(np.float64)
    else:
        weight, longer = divmod(WORD, size)
        fake = slices.below(longer).astype(np.float64) + weight * slices.depth
    return PointLens(channel.head / WORD, fake / WORD), slices.of(reports[:, 0])


def _matrix(channel: Matrix, slices: Slices) -> RowLens:
    rows = np.array(channel.rows, dtype=np.float64) / WORD
    if np.linalg.matrix_rank(rows) < channel.size:
        problem = "the channel has no inverse: different answers give the same reports"
        raise EstimationError(problem, expected="a channel with epsilon above 0")
    inverse = np.linalg.pinv(rows)  # for a square matrix, the inverse
    member = np.zeros((channel.size, slices.cells))
    member[np.arange(channel.size), slices.of(np.arange(channel.size))] = 1
    inside = np.einsum("xy,yx->x", rows, inverse**2) if slices.whole else None
    noise = float(rows.mean(axis=0) @ np.sum((inverse @ member) ** 2, axis=1))
    return RowLens(rows.T @ member / slices.depth, inverse @ member, noise, inside, complete=True)


def _subset(channel: SubsetSelection, slices: Slices, reports: Places) -> RowLens:
    begins = np.arange(len(reports))[:, None] * slices.cells
    found = np.bincount((begins + slices.of(reports)).ravel(), minlength=begins.size * slices.cells)
    counts = found.reshape(len(reports), slices.cells).astype(np.float64)
    inside, outside = channel.head / WORD, 1 - channel.head / WORD
    odds = inside * (channel.size - channel.chosen) / (outside * channel.chosen)
    share = 1 / slices.cells  # at even π every set is as likely: hypergeometric counts
    spared = (channel.size - channel.chosen) / (channel.size - 1)
    noise = channel.chosen * share * (1 - share) * spared
    lens = _supported(channel, slices, counts, (odds, 1.0), noise)
    return _echoing(lens, subset_echo(channel, slices.cells))


def _unary(channel: Unary, slices: Slices, reports: Places) -> RowLens:
    cells = np.arange(channel.size)
    counts = np.zeros((len(reports), slices.cells))
    for cell, slice_ in zip(cells, slices.of(cells), strict=True):
        counts[:, slice_] += reports[:, cell // 32] >> (cell % 32) & 1
    one = channel.keep / channel.flip
    zero = (WORD - channel.keep) / (WORD - channel.flip)
    noise = _bits_noise(slices, channel.keep / WORD, channel.flip / WORD)
    lens = _supported(channel, slices, counts, (one, zero), noise)
    return _echoing(lens, unary_echo(channel, slices.cells))


def _echoing(lens: RowLens, echo: Echo) -> RowLens:
    """Return the lens with the second moments that hold whatever reports came."""
    return replace(lens, echo=echo, inside=np.full(lens.cells, echo.own))


def _hashed(channel: LocalHash, slices: Slices, reports: Places) -> RowLens:
    cells = np.arange(channel.size)
    factor, shift, bucket = reports[:, 0:1], reports[:, 1:2], reports[:, 2:3]
    hit = (factor * cells + shift) % channel.prime % channel.buckets == bucket
    member = np.zeros((channel.size, slices.cells))
    member[cells, slices.of(cells)] = 1
    truth = channel.head / WORD
    shares = np.array([channel.inner.fake_weight(b) for b in range(channel.buckets)]) / WORD
    lie = (1 - truth) * shares[bucket]
    counts = hit.astype(np.float64) @ member
    likelihood = (truth * counts + lie * slices.depth) / slices.depth
    support = support_of(channel)
    other = float(support.offsets[0])
    noise = _bits_noise(slices, other + float(support.slope), other)  # pairwise independent
    return RowLens(likelihood, _unbiased(channel, slices, counts), _scaled(channel, slices, noise))


def _supported(
    channel: Channel, slices: Slices, counts: Array, odds: tuple[float, float], noise: float
) -> RowLens:
    """Return the lens of reports that support ``counts`` cells of each slice.

    Averaged over a slice the likelihood is odds₁ for its supported share, odds₀ for the rest;
    ``noise`` is the variance of a slice's count at even π.
    """
    high, low = odds
    likelihood = low + (high - low) * counts / slices.depth
    return RowLens(likelihood, _unbiased(channel, slices, counts), _scaled(channel, slices, noise))


def _bits_noise(slices: Slices, keep: float, flip: float) -> float:
    """Return the variance of a slice's count of ones at even π, for independent bits."""
    share = 1 / slices.cells
    lies = (slices.depth - share) * flip * (1 - flip)
    return lies + share * keep * (1 - keep) + share * (1 - share) * (keep - flip) ** 2


def _scaled(channel: Channel, slices: Slices, noise: float) -> float:
    """Turn the variance of a count into E Σ_x U[Y, x]²."""
    return slices.cells * noise / float(support_of(channel).slope) ** 2 + 1 / slices.cells


def _unbiased(channel: Channel, slices: Slices, counts: Array) -> Array:
    """Return (supported − depth·offset) / slope, which estimates a slice without bias."""
    support = support_of(channel)
    offset, slope = float(support.offsets[0]), float(support.slope)
    result: Array = (counts - slices.depth * offset) / slope
    return result


def _check_room(values: int, cells: int) -> None:
    if values * cells > MOST_NUMBERS:
        problem = "so many different reports over so many cells need too much memory"
        given = f"{values} reports, {cells} cells"
        expected = "a table of fewer attributes, or a model of the whole joint"
        raise EstimationError(problem, given=given, expected=expected)


def places_of(attributes: Sequence[int], wanted: Sequence[int]) -> tuple[int, ...]:
    """Return the places of a group's attributes that a table has, ascending.

    >>> places_of((4, 1, 7), (7, 4))
    (0, 2)
    """
    return tuple(place for place, name in enumerate(attributes) if name in set(wanted))
