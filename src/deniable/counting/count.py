"""Count reports at rest into a tally; whatever is no report is counted apart, by reason."""

from __future__ import annotations

from collections import Counter as Totals
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from deniable.counting.column import integers_of
from deniable.counting.distinct import Seen, counter_of
from deniable.counting.possible import all_possible, possible
from deniable.counting.table import WEIGHT, open_reports
from deniable.protocol import Stratum, Tally
from deniable.protocol.at_rest import BLOCK, VALUES, VIEW, columns_of, limit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from deniable.channels import Channel
    from deniable.counting.column import Integers
    from deniable.counting.distinct import Counter
    from deniable.counting.table import About, Reports
    from deniable.protocol.at_rest import Provenance

    Rows = NDArray[np.intp]
    Values = NDArray[np.integer[Any]]
    Numbers = NDArray[np.int64]

REASONS: Final = ("missing", "block", "view", "length", "impossible")
"""Why a row is no report: it has none; it names a block or a view that does not exist; it
has too many or too few integers; no coin could have led to it."""


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """What was seen in some reports at rest.

    Attributes:
        provenance: Design, blocks and source of the reports.
        strata: For each stratum that occurs, the different reports and their counts.
        rejected: How many rows were no reports, by reason (see ``REASONS``).
    """

    provenance: Provenance
    strata: tuple[Seen, ...]
    rejected: Mapping[str, int]

    def tally(self) -> Tally:
        """Return the tally, ready to be added to others."""
        found = self.provenance
        counts = {
            seen.stratum: dict(
                zip(map(tuple, seen.values.tolist()), seen.counts.tolist(), strict=True)
            )
            for seen in self.strata
        }
        blocks = {block.number: block for block in found.blocks}
        return Tally(found.design, blocks, counts, frozenset({found.source}))


def count(
    reports: Reports,
    *,
    joint: bool = False,
    about: About = None,
    source: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Counted:
    """Count reports that lie in a file, an Arrow table or a data frame.

    A file or an Arrow table is streamed. A lazy frame (DuckDB, Spark, Polars, Ibis …) is
    grouped by its own engine, and only the different reports come here.

    Args:
        reports: A path, an Arrow table or reader, or a frame that Narwhals knows, laid out
            as ``protocol.at_rest`` says.
        joint: Count the groups of a view together, as models of the whole joint want it:
            there are then nearly as many different reports as respondents.
        about: The provenance, or the design, of reports that do not say it themselves.
        source: The name under which a tally remembers that it counted these reports.
        progress: Called with the number of rows done since the last call.

    >>> import pyarrow as pa
    >>> from deniable import bulk
    >>> from deniable.schema import Attribute, Privacy, Schema, Survey
    >>> schema = Schema((Attribute.nominal("sick", ["no", "yes"]),))
    >>> survey = Survey("demo", schema, Privacy(1.0, "independent"))
    >>> count(bulk.randomize(pa.table({"sick": ["no", "yes"]}), survey)).tally().total
    2
    """
    table = open_reports(reports, about, source)
    counting = Counting(table.provenance, joint=joint)
    for batch in table.batches:
        counting.add(batch)
        if progress is not None:
            progress(batch.num_rows)
    return counting.result()


class Counting:
    """The counters of every stratum, while batches come in."""

    def __init__(self, provenance: Provenance, *, joint: bool) -> None:
        self._provenance = provenance
        self._joint = joint
        self._design = provenance.design
        self._blocks = {block.number: block.channels for block in provenance.blocks}
        self._columns = [c.name for c in columns_of(provenance.design, provenance.blocks)]
        self._counters: dict[Stratum, Counter] = {}
        self._rejected: Totals[str] = Totals()

    def add(self, batch: pa.Table) -> None:
        """Count the reports of one batch."""
        columns = {name: integers_of(batch[name], name) for name in batch.column_names}
        weighed = columns.pop(WEIGHT, None)
        weights = None if weighed is None else weighed.flat.astype(np.int64)
        rows = np.arange(batch.num_rows)
        if absent := [c.absent for c in columns.values() if c.absent is not None]:
            rows = self._kept(rows, ~np.logical_or.reduce(absent), "missing", weights)
        if BLOCK in columns:
            numbers = columns[BLOCK].flat
            rows = self._kept(rows, np.isin(numbers, list(self._blocks))[rows], "block", weights)
            for block in self._blocks:
                self._block(block, columns, rows[numbers[rows] == block], weights)
        else:
            (block,) = self._blocks
            whole = rows.size == batch.num_rows
            self._block(block, columns, None if whole else rows, weights)

    def _block(
        self,
        block: int,
        columns: Mapping[str, Integers],
        rows: Rows | None,
        weights: Numbers | None,
    ) -> None:
        """Count rows of one block; None stands for all of them."""
        if VIEW not in self._columns:
            named = [columns[name] for name in self._columns]
            self._view(block, 0, named, rows, weights)
            return
        views = columns[VIEW].flat
        rows = np.arange(views.size) if rows is None else rows
        known = (views[rows] >= 0) & (views[rows] < len(self._design.views))
        rows = self._kept(rows, known, "view", weights)
        order = np.argsort(views[rows], kind="stable")
        rows = rows[order]
        ends = np.searchsorted(views[rows], np.arange(len(self._design.views) + 1))
        for view, (first, last) in enumerate(pairwise(ends.tolist())):
            if first < last:
                self._view(block, view, [columns[VALUES]], rows[first:last], weights)

    def _view(
        self,
        block: int,
        view: int,
        columns: Sequence[Integers],
        rows: Rows | None,
        weights: Numbers | None,
    ) -> None:
        """Count rows of one view, whose groups stand in a column each or all in one."""
        channels = self._blocks[block][view]
        widths = [channel.width for channel in channels]
        of_columns = [sum(widths)] if len(columns) == 1 else widths
        for column, width in zip(columns, of_columns, strict=True):
            fits = column.fits(width)
            if fits is not None:
                rows = np.arange(fits.size) if rows is None else rows
                rows = self._kept(rows, fits[rows], "length", weights)
        parts = [c.rows_of(w, rows) for c, w in zip(columns, of_columns, strict=True)]
        if len(columns) == 1 and len(channels) > 1:
            parts = np.split(parts[0], np.cumsum(widths)[:-1], axis=1)
        weights = weights if weights is None or rows is None else weights[rows]
        if not all(all_possible(c, part) for c, part in zip(channels, parts, strict=True)):
            checked = [possible(c, part) for c, part in zip(channels, parts, strict=True)]
            mask = np.logical_and.reduce(checked)
            kept = self._kept(np.arange(mask.size), mask, "impossible", weights)
            parts = [part[kept] for part in parts]
            weights = None if weights is None else weights[kept]
            rows = kept if rows is None else rows[kept]
        self._take(block, view, channels, parts, rows, weights)

    def _take(
        self,
        block: int,
        view: int,
        channels: Sequence[Channel],
        parts: Sequence[Values],
        rows: Rows | None,
        weights: Numbers | None,
    ) -> None:
        """Count reports of one view; ``rows`` says where in the batch they stood."""
        del rows  # a tally forgets it
        if self._joint:
            every = Stratum(block, view, tuple(range(len(channels))))
            strata = [(every, channels, parts[0] if len(parts) == 1 else np.hstack(parts))]
        else:
            strata = [
                (Stratum(block, view, (place,)), [channel], part)
                for place, (channel, part) in enumerate(zip(channels, parts, strict=True))
            ]
        for stratum, together, values in strata:
            if stratum not in self._counters:
                limits = [limit for c in together for limit in [limit_of(c)] * c.width]
                self._counters[stratum] = counter_of(limits)
            self._counters[stratum].add(values, weights)

    def _kept(
        self, rows: Rows, mask: NDArray[np.bool_], reason: str, weights: Numbers | None
    ) -> Rows:
        """Return the rows for which the mask holds; count the others under a reason."""
        lost = rows[~mask]
        if lost.size:
            self._rejected[reason] += int(lost.size if weights is None else weights[lost].sum())
        return rows[mask]

    def result(self) -> Counted:
        """Return what was seen."""
        strata = tuple(
            Seen(stratum, *self._counters[stratum].result()) for stratum in sorted(self._counters)
        )
        return Counted(self._provenance, strata, dict(self._rejected))
