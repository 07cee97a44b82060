"""Folds: the people divided at random, so that a fit is judged by those it has not seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.estimation.evidence import Evidence

    Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Folds:
    """Every respondent in one of R folds.

    Attributes:
        evidence: All the reports.
        counts: For each batch a (u, R) array: how many of the senders of a row are in a fold.
    """

    evidence: Evidence
    counts: tuple[Counts, ...]

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
        return _chosen(self.evidence, self.held(fold))

    def evidence_fitted(self, fold: int) -> Evidence:
        """Return the reports of all other people."""
        return _chosen(self.evidence, self.fitted(fold))


def divide(evidence: Evidence, number: int, *, rng: np.random.Generator) -> Folds:
    """Put every respondent into one of ``number`` folds, evenly at random."""
    even = np.full(number, 1 / number)
    counts = tuple(rng.multinomial(batch.counts, even) for batch in evidence.batches)
    return Folds(evidence, counts)


def _chosen(evidence: Evidence, counts: tuple[Counts, ...]) -> Evidence:
    batches = []
    for batch, number in zip(evidence.batches, counts, strict=True):
        kept = number > 0
        if kept.any():
            reports = tuple(rows[kept] for rows in batch.reports)
            batches.append(replace(batch, reports=reports, counts=number[kept]))
    return replace(evidence, batches=tuple(batches))
