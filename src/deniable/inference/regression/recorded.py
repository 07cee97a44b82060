"""Reports one by one as a testimony: each with its likelihood over (outcome, predictors)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError
from deniable.estimation.evidence import Evidence
from deniable.estimation.observation import batch_of, slices_of
from deniable.estimation.reduce import is_exact, lens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.counting import Recorded
    from deniable.estimation.evidence import Batch

    Array = NDArray[np.float64]
    Places = NDArray[np.int64]

INEXACT = "these reports tell the cells of their whole group apart"


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Respondents one by one.

    Attributes:
        likelihoods: One row for each different report, one column for each cell.
        report: Which of them each respondent sent.
        rows: The row of each respondent in the frame of covariates.
    """

    likelihoods: Array
    report: Places
    rows: Places

    def among(self, kept: NDArray[np.bool_]) -> Sheet:
        """Return some of the respondents."""
        return Sheet(self.likelihoods, self.report[kept], self.rows[kept])


def names_and_sizes(source: Recorded | Evidence) -> dict[str, int]:
    """Return the attributes and their numbers of categories."""
    if isinstance(source, Evidence):
        return dict(zip(source.names, source.sizes, strict=True))
    design = source.provenance.design
    return dict(zip(design.names, design.sizes, strict=True))


def evidence_of_records(source: Recorded) -> Evidence:
    """Return records as evidence, which forgets their rows."""
    sizes = names_and_sizes(source)
    batches = tuple(batch for batch, _ in _batches(source))
    return Evidence(tuple(sizes), tuple(sizes.values()), batches)


def sheet_of(source: Recorded | Evidence, wanted: Sequence[str]) -> Sheet:
    """Return what each respondent's report says about the cells of some attributes.

    Those who were asked none of them are left out.
    """
    sizes = names_and_sizes(source)
    places = [list(sizes).index(name) for name in wanted]
    parts: list[tuple[Array, Places, Places]] = []
    for batch, rows in _batches(source):
        found = _likelihoods(batch, list(sizes.values()), places)
        if found is not None:
            parts.append((*found, rows))
    if not parts:
        problem = "no report tells anything about " + " or ".join(map(repr, wanted))
        raise EstimationError(problem, expected="a view that asks it")
    first = np.cumsum([0, *(len(likelihoods) for likelihoods, _, _ in parts)])
    return Sheet(
        np.concatenate([likelihoods for likelihoods, _, _ in parts]),
        np.concatenate([report + f for (_, report, _), f in zip(parts, first, strict=False)]),
        np.concatenate([rows for _, _, rows in parts]),
    )


def _batches(source: Recorded | Evidence) -> list[tuple[Batch, Places]]:
    if isinstance(source, Evidence):
        if len(source.batches) != 1 or np.any(source.batches[0].counts != 1):
            problem = "these reports were counted, and nobody knows any more whose they are"
            raise EstimationError(problem, expected="records(…), or evidence_from_reports(…)")
        return [(source.batches[0], np.arange(source.people))]
    design = source.provenance.design
    blocks = {block.number: block for block in source.provenance.blocks}
    found = []
    for placed in source.strata:
        ones = np.ones(len(placed.rows), np.int64)
        asked = batch_of(design, blocks, placed.stratum, placed.values, ones)
        found.append((asked.batch, placed.rows))
    return found


def _likelihoods(
    batch: Batch, sizes: Sequence[int], wanted: Sequence[int]
) -> tuple[Array, Places] | None:
    """Return a row for each different report of a batch, and which of them each row is."""
    met = [g for g, group in enumerate(batch.groups) if set(group) & set(wanted)]
    if not met:
        return None
    slices = [slices_of(batch.groups[g], sizes, wanted) for g in met]
    if not all(is_exact(batch.channels[g], part) for g, part in zip(met, slices, strict=True)):
        raise EstimationError(INEXACT, expected="a regression on all attributes of the group")
    found = [
        lens_of(batch.channels[g], part, batch.reports[g])
        for g, part in zip(met, slices, strict=True)
    ]
    distinct, report = np.unique(
        np.stack([places for _, places in found], axis=1), axis=0, return_inverse=True
    )
    rows = np.ones((len(distinct), 1))
    for (lens, _), places in zip(found, distinct.T, strict=True):
        factor = lens.likelihood[places]
        rows = (rows[:, :, None] * factor[:, None, :]).reshape(len(rows), -1)
    order = [
        wanted.index(batch.groups[g][place])
        for g, part in zip(met, slices, strict=True)
        for place in part.kept
    ]
    return _widened(rows, order, [sizes[attribute] for attribute in wanted]), report.reshape(-1)


def _widened(rows: Array, order: Sequence[int], shape: Sequence[int]) -> Array:
    """Give rows over the axes that were asked, in their order, all axes of the table."""
    laid = rows.reshape(len(rows), *(shape[axis] for axis in order))
    ascending = [1 + order.index(axis) for axis in sorted(order)]
    wide = [size if axis in order else 1 for axis, size in enumerate(shape)]
    placed = laid.transpose([0, *ascending]).reshape(len(rows), *wide)
    full = np.broadcast_to(placed, (len(rows), *shape))
    return np.ascontiguousarray(full).reshape(len(rows), math.prod(shape))
