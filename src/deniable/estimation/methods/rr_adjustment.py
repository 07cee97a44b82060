"""RR-Adjustment: weigh the randomized records until their margins are the estimated ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError
from deniable.estimation.evidence import Batch, Evidence
from deniable.estimation.method import Method, tabulate
from deniable.estimation.methods import clipped
from deniable.estimation.observation import evidence_of, observe
from deniable.estimation.unbiased import pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.observation import Source
    from deniable.estimation.table import Table

    Array = NDArray[np.float64]
    Places = NDArray[np.int64]

MOST_ROUNDS = 1000
SETTLED = 1e-9
"""Largest change of a weight's factor, beyond 1, at which the weights count as stable."""


def estimate(source: Source, attributes: Sequence[str], *, rng: np.random.Generator) -> Table:
    """Return the weighted table of the randomized records (Domingo algorithm 2).

    All groups of the view are adjusted, also those that the table does not have.
    """
    observation = observe(source, attributes)
    evidence = evidence_of(source)
    wanted = [evidence.names.index(name) for name in attributes]
    batch = _records(evidence, wanted)
    codes = [reports[:, 0] for reports in batch.reports]
    targets = [
        clipped.estimate(
            Evidence(evidence.names, evidence.sizes, (batch,)),
            [evidence.names[attribute] for attribute in group],
            rng=rng,
        ).estimate.reshape(-1)
        for group in batch.groups
    ]
    weights, settled = adjusted(codes, targets, batch.counts / batch.people)
    answers = _answers(batch, codes, evidence.sizes)
    cells = np.ravel_multi_index(tuple(answers[a] for a in wanted), observation.shape)
    table = np.bincount(cells, weights, minlength=observation.cells).reshape(observation.shape)
    covering = observation.covering
    notes = () if settled else ("the weights had not settled after 1000 rounds",)
    dispersion = pooled(covering) if covering else None
    return tabulate(observation, table / table.sum(), dispersion, notes=notes)


def adjusted(codes: Sequence[Places], targets: Sequence[Array], start: Array) -> tuple[Array, bool]:
    """Return weights whose table by each group is its target, and whether they settled.

    A category that was never reported cannot be given weight.
    """
    weights = start.copy()
    for _ in range(MOST_ROUNDS):
        largest = 0.0
        for code, target in zip(codes, targets, strict=True):
            held = np.bincount(code, weights, minlength=target.size)
            factor = np.divide(target, held, out=np.ones_like(target), where=held > 0)
            weights *= factor[code]
            moved = np.abs(factor - 1)[(held > 0) & (target > 0)]
            largest = max(largest, float(moved.max(initial=0)))
        if largest < SETTLED:
            return weights, True
    return weights, False


def _records(evidence: Evidence, wanted: Sequence[int]) -> Batch:
    """Return the records of the views that hold the attributes, all made by one plan."""
    whole = [
        batch
        for batch in evidence.batches
        if set(wanted) <= {attribute for group in batch.groups for attribute in group}
        and all(reports.shape[1] == 1 for reports in batch.reports)
    ]
    alike = [b for b in whole if (b.groups, b.channels) == (whole[0].groups, whole[0].channels)]
    if not alike or any(c.kind not in {"k-ary", "two-coin"} for c in alike[0].channels):
        problem = "adjusting needs whole records whose reports are answers themselves"
        expected = "k-ary or two-coin channels, and a tally that keeps a view's groups together"
        raise EstimationError(problem, expected=expected)
    reports = tuple(
        np.concatenate(parts) for parts in zip(*(b.reports for b in alike), strict=True)
    )
    counts = np.concatenate([b.counts for b in alike])
    return Batch(alike[0].groups, alike[0].channels, reports, counts)


def _answers(batch: Batch, codes: Sequence[Places], sizes: Sequence[int]) -> dict[int, Places]:
    """Return the reported category of each attribute of each record."""
    found: dict[int, Places] = {}
    for group, code in zip(batch.groups, codes, strict=True):
        shape = tuple(sizes[attribute] for attribute in group)
        found.update(zip(group, np.unravel_index(code, shape), strict=True))
    return found


METHOD = Method(
    "rr-adjustment",
    "Domingo section 5, algorithm 2",
    "the randomized records, weighted until their margins are the estimated ones",
    estimate,
    loses=("associations stay as weak as randomization made them",),
)
