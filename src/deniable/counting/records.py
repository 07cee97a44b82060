"""Reports at rest one by one, each with its row: to lay them beside what is plainly known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.counting.count import Counting
from deniable.counting.table import WEIGHT, open_reports
from deniable.errors import DataError
from deniable.protocol import Stratum

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from deniable.channels import Channel
    from deniable.counting.count import Numbers, Rows, Values
    from deniable.counting.table import About, Reports
    from deniable.protocol.at_rest import Provenance


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """The reports of one stratum, and the rows that they stood in.

    Attributes:
        stratum: Block, view and groups.
        values: One row of integers for each report.
        rows: Its row in the file or frame, counted from 0.
    """

    stratum: Stratum
    values: NDArray[np.int64]
    rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """Reports at rest, one by one.

    Attributes:
        provenance: Design, blocks and source of the reports.
        strata: The reports; the groups of a view are kept together.
        total: How many rows there were.
        rejected: How many of them were no reports, by reason.
    """

    provenance: Provenance
    strata: tuple[Placed, ...]
    total: int
    rejected: Mapping[str, int]


def records(
    reports: Reports,
    *,
    about: About = None,
    progress: Callable[[int], None] | None = None,
) -> Recorded:
    """Return reports one by one; what is no report is left out and counted apart.

    Args:
        reports: A path, an Arrow table or reader, or a frame whose rows have an order.
        about: The provenance, or the design, of reports that do not say it themselves.
        progress: Called with the number of rows done since the last call.
    """
    table = open_reports(reports, about, "records")
    placing = _Placing(table.provenance)
    for batch in table.batches:
        if WEIGHT in batch.column_names:
            problem = "the rows of a lazy frame have no order"
            raise DataError(problem, expected="a file, an Arrow table or a collected frame")
        placing.add(batch)
        if progress is not None:
            progress(batch.num_rows)
    return placing.recorded()


class _Placing(Counting):
    """Reports with their rows, while batches come in."""

    def __init__(self, provenance: Provenance) -> None:
        super().__init__(provenance, joint=True)
        self._placed: dict[Stratum, list[tuple[NDArray[np.int64], NDArray[np.int64]]]] = {}
        self._first = 0
        self._length = 0

    def add(self, batch: pa.Table) -> None:
        """Take the reports of one batch."""
        self._length = batch.num_rows
        super().add(batch)
        self._first += batch.num_rows

    def _take(
        self,
        block: int,
        view: int,
        channels: Sequence[Channel],
        parts: Sequence[Values],
        rows: Rows | None,
        weights: Numbers | None,
    ) -> None:
        del weights
        stratum = Stratum(block, view, tuple(range(len(channels))))
        values = np.hstack(parts).astype(np.int64)
        where = np.arange(self._length) if rows is None else rows
        self._placed.setdefault(stratum, []).append((values, self._first + where))

    def recorded(self) -> Recorded:
        """Return all of them."""
        strata = tuple(
            Placed(
                stratum,
                np.concatenate([values for values, _ in found]),
                np.concatenate([rows for _, rows in found]),
            )
            for stratum, found in sorted(self._placed.items())
        )
        return Recorded(self._provenance, strata, self._first, dict(self._rejected))
