"""Estimate what there is to count in a graph from reports of its edges.

With keep = P(report is true), â = (mean report − (1 − keep))/(2·keep − 1) is unbiased for every
pair. Errors of different pairs are independent, so that sums and products over different pairs
are unbiased too: d_i = Σ_j a_ij, m = ½ Σ d_i, t_i = ½ Σ_jk a_ij·a_ik·a_jk and T = ⅓ Σ t_i.
Where their variances hold something of the truth, an unbiased estimate of it stands there
that is no less than 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError
from deniable.graphs import variance
from deniable.graphs.roster import FEWEST
from deniable.graphs.sequence import Sequence
from deniable.inference.confidence import Normal
from deniable.inference.estimate import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from deniable.graphs.reports import GraphReports

    Array = NDArray[np.float64]

ROWS = 512
"""Rows of the matrix that are multiplied at once."""

CITATION = "Wang 6.4, without bias"


@dataclass(frozen=True, slots=True, eq=False)
class Triangles:
    """How many triangles there are.

    Attributes:
        total: In the whole graph.
        of_each: That each person is part of.
    """

    total: Estimate
    of_each: Sequence


def estimate_degrees(reports: GraphReports) -> Sequence:
    """Return how many of those who answered each of them is joined with."""
    seen = _Seen(reports)
    count = len(seen.people)
    errors = np.full(count, math.sqrt(variance.of_degree(count, seen.variance)))
    return Sequence("degree", seen.people, seen.degrees, errors, count - 1)


def estimate_edges(reports: GraphReports) -> Estimate:
    """Return how many edges there are among those who answered."""
    seen = _Seen(reports)
    count = len(seen.people)
    error = math.sqrt(variance.of_edges(count, seen.variance))
    return _estimate("edges", seen, float(seen.degrees.sum()) / 2, error, math.comb(count, 2))


def estimate_triangles(
    reports: GraphReports, *, progress: Callable[[int], None] | None = None
) -> Triangles:
    """Return how many triangles there are among those who answered, in all and of each.

    Args:
        reports: What was reported.
        progress: Told how many more people are done.
    """
    seen = _Seen(reports)
    count, v = len(seen.people), seen.variance
    degrees, edges = seen.degrees, float(seen.degrees.sum()) / 2
    found, squares = np.zeros(count), np.zeros(count)
    for start in range(0, count, ROWS):
        rows = slice(start, start + ROWS)
        common = seen.common(rows)
        found[rows] = np.sum(common * seen.pairs(rows), axis=1) / 2
        squares[rows] = np.sum(common**2, axis=1)
        if progress is not None:
            progress(len(common))
    # E ĉ_ij² = c_ij² + v·(d_i + d_j − 2a_ij) + v²·(n − 2), summed over j.
    squares -= v * ((count - 4) * degrees + 2 * edges) + v**2 * (count - 1) * (count - 2)
    wedges = (degrees**2 - (count - 1) * v - degrees) / 2
    possible, some = np.clip(degrees, 0, None), max(edges, 0.0)
    variances = variance.of_triangles(
        np.clip(squares, 0, None), np.clip(wedges, 0, None), possible, some, count, v
    )
    whole = variance.of_all_triangles(max(float(squares.sum()) / 2, 0.0), some, count, v)
    total = _estimate(
        "triangles", seen, float(found.sum()) / 3, math.sqrt(whole), math.comb(count, 3)
    )
    most = math.comb(count - 1, 2)
    return Triangles(total, Sequence("triangles", seen.people, found, np.sqrt(variances), most))


class _Seen:
    """The reports as a symmetric matrix of those who answered."""

    def __init__(self, reports: GraphReports) -> None:
        roster = reports.roster
        there = np.flatnonzero(reports.answered)
        if there.size < FEWEST:
            problem = "too few people have answered"
            raise EstimationError(problem, given=int(there.size), expected=f"at least {FEWEST}")
        whole = np.zeros((len(roster), len(roster)), np.uint8)
        asked = roster.whom >= 0
        owners = np.broadcast_to(np.arange(len(roster))[:, None], asked.shape)[asked]
        whole[owners, roster.whom[asked]] = reports.bits[asked]
        kept = whole[np.ix_(there, there)]
        self.people = tuple(roster.names[place] for place in there)
        self.missing = len(roster) - there.size
        self.sums = (kept + kept.T).astype(np.float32)  # of both ends, if both report
        keep = float(reports.channel.probability((1,), 1))
        self._slope = (2 * keep - 1) * roster.ends
        self._offset = (1 - keep) * roster.ends
        self.variance = variance.of_pair(reports.channel, roster.ends)
        self._totals = self.sums.sum(axis=1, dtype=np.float64)
        others = there.size - 1
        self.degrees: Array = (self._totals - others * self._offset) / self._slope

    def pairs(self, rows: slice) -> Array:
        """Return â_ij of some rows, 0 on the diagonal."""
        found = (self.sums[rows].astype(np.float64) - self._offset) / self._slope
        return _cleared(found, rows)

    def common(self, rows: slice) -> Array:
        """Return ĉ_ij = Σ_k â_ik·â_jk of some rows, 0 on the diagonal.

        Products of small integers are exact in single precision, and twice as fast.
        """
        part = self.sums[rows]
        found = (part @ self.sums).astype(np.float64)
        others = self._totals[rows, None] + self._totals[None, :] - 2 * part
        found += self._offset * (self._offset * (len(self.people) - 2) - others)
        return _cleared(found / self._slope**2, rows)


def _cleared(matrix: Array, rows: slice) -> Array:
    count = len(matrix)
    matrix[np.arange(count), rows.start + np.arange(count)] = 0
    return matrix


def _estimate(name: str, seen: _Seen, value: float, error: float, most: int) -> Estimate:
    notes = []
    if seen.missing:
        notes.append(f"{seen.missing:,} did not answer, and the graph is that of the others")
    return Estimate(
        name=name,
        of=(),
        value=value,
        standard_error=error,
        confidence=Normal(value, error, "plain", 0.0, float(most)),
        how="formula",
        error_how="formula",
        people=len(seen.people),
        citation=CITATION,
        notes=tuple(notes),
    )
