"""A voice: what respondents who shared their channels say for and against a table.

Two kinds with the same answer, a score and its information along directions of π. Where
every possible report is listed, reports are counts: the score is Lᵀ(c/λ), the information
n·Lᵀ diag(1/λ) L. For reported sets, bits and hashes far more different reports are
possible than came, and an information counted on those that came makes a test too eager;
there the quasi-score of the unbiased estimate serves (``quasi``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from deniable.estimation.lens import RowLens
from deniable.inference.quasi import Glance, glance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.sight import Sight

    Array = NDArray[np.float64]

RAREST = 1e-12
"""A share of reports is not taken to be smaller: a table on its way may be improper."""


class Voice(Protocol):
    """What some respondents say of a table."""

    @property
    def sight(self) -> Sight:
        """Return the sight it comes from."""

    @property
    def people(self) -> float:
        """Return the number of respondents."""

    @property
    def estimate(self) -> Array:
        """Return what they say of the axes they were asked, by themselves, without bias."""

    @property
    def axes(self) -> tuple[int, ...]:
        """Return the table's axes that they were asked, ascending."""

    def moments(self, table: Array, directions: Array) -> tuple[Array, Array]:
        """Return the score and its information along directions, one flat row each."""


@dataclass(frozen=True, slots=True, eq=False)
class Count:
    """Counts of all possible reports.

    Attributes:
        sight: Where they stand.
    """

    sight: Sight

    @property
    def people(self) -> float:
        """Return the number of respondents."""
        return self.sight.people

    @property
    def axes(self) -> tuple[int, ...]:
        """Return the table's axes that were asked, ascending."""
        return tuple(sorted(self.sight.order))

    @property
    def estimate(self) -> Array:
        """Return π̂ over those axes."""
        return self.sight.invert(self.sight.counts / self.people)

    def moments(self, table: Array, directions: Array) -> tuple[Array, Array]:
        """Return D·Lᵀ(c/λ) and n·D·Lᵀ diag(1/λ) L·Dᵀ."""
        seen = np.maximum(self.sight.see(table), RAREST).reshape(-1)
        slopes = seen_along(self.sight, directions, table.shape)
        score = slopes @ (self.sight.counts.reshape(-1) / seen)
        return score, (slopes * (self.people / seen)) @ slopes.T


def voices_of(sights: Sequence[Sight]) -> list[Voice]:
    """Return what each sight says: counts where all reports are listed, else a glance."""
    return [Count(s) if all(lens.complete for lens in s.lenses) else glance(s) for s in sights]


def moments_of(voices: Sequence[Voice], table: Array, directions: Array) -> tuple[Array, Array]:
    """Return the score and the information of all voices together."""
    rank = len(directions)
    score, information = np.zeros(rank), np.zeros((rank, rank))
    for voice in voices:
        part, certainty = voice.moments(table, directions)
        score += part
        information += certainty
    return score, information


def seen_along(sight: Sight, directions: Array, shape: tuple[int, ...]) -> Array:
    """Return L·direction for each direction, one row each."""
    (lens, *others) = sight.lenses
    if not others and isinstance(lens, RowLens) and sight.order == tuple(range(len(shape))):
        result: Array = directions @ lens.likelihood.T
        return result
    wide = directions.reshape(-1, *shape)
    return np.stack([sight.see(direction).reshape(-1) for direction in wide])


__all__ = ["Count", "Glance", "Voice", "moments_of", "seen_along", "voices_of"]
