"""Second moments of what a report adds to the estimate, known without seeing reports.

For every channel that treats all cells alike, E[U[Y, z]·U[Y, w] | answer x] depends only on
which of z, w and x are the same, and slices that hold equally many cells are alike too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels import support_of
from deniable.channels.coin import WORD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.channels import SubsetSelection, Unary

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Echo:
    """E[U[Y, z]·U[Y, w] | answer x].

    Attributes:
        own: Where z = w = x.
        other: Where z = w and x is another cell.
        crossed: Where z ≠ w and x is one of them.
        apart: Where z, w and x all differ.
    """

    own: float
    other: float
    crossed: float
    apart: float

    def tensor(self, cells: int) -> Array:
        """Return all of them, [x, z, w]."""
        same = np.eye(cells)
        touched = same[:, :, None] + same[:, None, :]  # 1 where x is one of z ≠ w
        crossed = self.apart + (self.crossed - self.apart) * touched
        diagonal = self.other + (self.own - self.other) * same[:, :, None]
        return np.where(same[None].astype(bool), diagonal, crossed)

    def moment(self, table: Array) -> Array:
        """Return E[U·Uᵀ] if the cells have these shares, without laying all of it out."""
        whole = table.sum()
        pairs = table[:, None] + table[None, :]
        result: Array = self.apart * whole + (self.crossed - self.apart) * pairs
        np.fill_diagonal(result, self.other * whole + (self.own - self.other) * table)
        return result


@dataclass(frozen=True, slots=True)
class Supported:
    """First and second moments of the supported cells C of slices, given the answer's slice x.

    Attributes:
        first: E[C[x]] and E[C[z]], z another slice.
        square: E[C[x]²] and E[C[z]²].
        crossed: E[C[x]·C[z]] and E[C[z]·C[w]].
    """

    first: tuple[float, float]
    square: tuple[float, float]
    crossed: tuple[float, float]

    def echo(self, shift: float, slope: float) -> Echo:
        """Return the moments of U = (C − shift) / slope."""
        own, other = (
            (square - 2 * shift * first + shift**2) / slope**2
            for first, square in zip(self.first, self.square, strict=True)
        )
        sums = (self.first[0] + self.first[1], 2 * self.first[1])
        crossed, apart = (
            (product - shift * total + shift**2) / slope**2
            for product, total in zip(self.crossed, sums, strict=True)
        )
        return Echo(own, other, crossed, apart)


def coins_echo(truth: float, cells: int) -> Echo:
    """Return the moments for two coins with an even T, for U = ([Y = x] − c) / p, c = (1 − p)/m.

    An uneven T is met by its mean over the cells, which keeps E Σ U² at even π.
    """
    lie = (1 - truth) / cells
    seen = truth + lie
    own = (seen * (1 - lie) ** 2 + (1 - seen) * lie**2) / truth**2
    other = lie * (1 - lie) / truth**2
    return Echo(own, other, -lie * seen / truth**2, -(lie**2) / truth**2)


def subset_echo(channel: SubsetSelection, cells: int) -> Echo:
    """Return the moments for reported sets, seen in equal slices.

    The rest of a set is drawn evenly from the cells that are not the answer: counts in
    slices are hypergeometric.
    """
    depth, rest = channel.size // cells, channel.size - 1
    inside = channel.head / WORD
    first, square, crossed = np.zeros(2), np.zeros(2), np.zeros(2)
    for odds, hit in ((inside, 1), (1 - inside, 0)):
        drawn = channel.chosen - hit
        one = drawn / rest
        two = one * (drawn - 1) / max(rest - 1, 1)
        mean = np.array([(depth - 1) * one, depth * one])
        power = np.array([(depth - 1) * (depth - 2), depth * (depth - 1)]) * two + mean
        product = np.array([(depth - 1) * depth, depth * depth]) * two
        first += odds * (mean + np.array([hit, 0]))
        square += odds * (power + np.array([hit * (2 * mean[0] + 1), 0]))
        crossed += odds * (product + np.array([hit * mean[1], 0]))
    return _echo(channel, depth, first, square, crossed)


def unary_echo(channel: Unary, cells: int) -> Echo:
    """Return the moments for reported bits, seen in equal slices; bits are independent."""
    depth = channel.size // cells
    keep, flip = channel.keep / WORD, channel.flip / WORD
    first = np.array([(depth - 1) * flip + keep, depth * flip])
    lies = flip * (1 - flip)
    spread = np.array([(depth - 1) * lies + keep * (1 - keep), depth * lies])
    crossed = np.array([first[0] * first[1], first[1] ** 2])
    return _echo(channel, depth, first, spread + first**2, crossed)


def _echo(
    channel: SubsetSelection | Unary, depth: int, first: Array, square: Array, crossed: Array
) -> Echo:
    support = support_of(channel)
    moments = [(float(pair[0]), float(pair[1])) for pair in (first, square, crossed)]
    return Supported(*moments).echo(depth * float(support.offsets[0]), float(support.slope))
