"""Folds: the people divided at random, so that a fit is judged by those it has not seen."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.estimation.evidence import Evidence

    Counts = NDArray[np.int64]


MOST_DEALT = 2**24
"""More people are not dealt one by one; their folds are then only nearly equal."""


@dataclass(frozen=True, slots=True, eq=False)
class Folds:
    """Every respondent in one of R folds.

    Attributes:
        evidence: All the reports.
        counts: For each batch a (u, R) array: how many of the senders of a row are in a fold.
    """

    evidence: Evidence
    counts: tuple[Counts, ...]
    _known: dict[tuple[int, str], Evidence] = field(default_factory=dict, init=False, repr=False)
    """What was asked for before: with thousands of batches it takes long to put together."""

    @property
    def number(self) -> int:
        """Return R."""
        return int(self.counts[0].shape[1])

    def held(self, fold: int) -> tuple[Counts, ...]:
        """Return for each batch how many of each row are in the fold."""
        return tuple(counts[:, fold] for counts in self.counts)

    def fitted(self, fold: int) -> tuple[Counts, ...]:
        """Return for each batch how many of each row are in the other folds."""
        return tuple(counts.sum(axis=1) - counts[:, fold] for counts in self.counts)

    def evidence_held(self, fold: int) -> Evidence:
        """Return the reports of the fold's people."""
        key = fold, "held"
        if key not in self._known:
            self._known[key] = _chosen(self.evidence, self.held(fold))
        return self._known[key]

    def evidence_fitted(self, fold: int) -> Evidence:
        """Return the reports of all other people."""
        key = fold, "fitted"
        if key not in self._known:
            self._known[key] = _chosen(self.evidence, self.fitted(fold))
        return self._known[key]


def divide(evidence: Evidence, number: int, *, rng: np.random.Generator) -> Folds:
    """Put every respondent into one of ``number`` folds at random, as many into each.

    A batch of fewer people than folds is dealt by itself: such batches may come in an order
    that would send all reports on one group into the same folds.
    """
    counts, begun = [], 0
    for batch in evidence.batches:
        counts.append(_dealt(batch.counts, number, begun, rng))
        begun += batch.people
    return Folds(evidence, tuple(counts))


def _dealt(counts: Counts, number: int, begun: int, rng: np.random.Generator) -> Counts:
    """Return how many of the senders of each row fall into each fold."""
    people = int(counts.sum())
    if people > MOST_DEALT:
        crowd: Counts = rng.multinomial(counts, np.full(number, 1 / number))
        return crowd
    rows = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    if people < number:
        folds = rng.permutation(number)[:people]
    else:
        folds = (begun + np.arange(people)) % number
    dealt: Counts = np.bincount(rows * number + folds, minlength=len(counts) * number)
    return dealt.reshape(len(counts), number)


def _chosen(evidence: Evidence, counts: tuple[Counts, ...]) -> Evidence:
    """Return the evidence with other counts; rows that nobody sent stay, so nothing is copied."""
    batches = tuple(
        replace(batch, counts=number)
        for batch, number in zip(evidence.batches, counts, strict=True)
        if number.any()
    )
    return replace(evidence, batches=batches)
