"""How often each different report came: by a histogram where reports are cells, else by groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
import pyarrow as pa

from deniable.counting import _kernels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.protocol import Stratum

    Values = NDArray[np.integer[Any]]
    Numbers = NDArray[np.int64]

LARGEST_HISTOGRAM: Final = 2**22
"""Up to this many cells, one counter for each is kept."""

_KEY_BITS: Final = 63
_FIRST_MERGE: Final = 2**20


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What was seen in one stratum.

    Attributes:
        stratum: Block, view, and the groups counted together.
        values: The different reports, one in each row, ascending: the integers of the
            groups one after another.
        counts: How often each came.
    """

    stratum: Stratum
    values: Numbers
    counts: Numbers


class Counter(Protocol):
    """Counts reports, one in each row; each may stand for several that were alike."""

    def add(self, values: Values, weights: Numbers | None) -> None:
        """Count some reports, each ``weights`` times."""

    def result(self) -> tuple[Numbers, Numbers]:
        """Return the different reports, ascending, and how often each came."""


def counter_of(limits: Sequence[int]) -> Counter:
    """Return a counter of reports whose integers stay below ``limits``."""
    if len(limits) == 1 and limits[0] <= LARGEST_HISTOGRAM:
        return Histogram(limits[0])
    return Distinct(limits)


class Histogram:
    """One counter for each cell."""

    def __init__(self, size: int) -> None:
        """Begin at nought."""
        self._counts = np.zeros(size, np.int64)

    def add(self, values: Values, weights: Numbers | None) -> None:
        """Count some reports, each ``weights`` times."""
        if weights is None:
            _kernels.add_to_histogram(np.ascontiguousarray(values).reshape(-1), self._counts)
        else:
            np.add.at(self._counts, values[:, 0].astype(np.int64), weights)

    def result(self) -> tuple[Numbers, Numbers]:
        """Return the cells that were reported, and how often."""
        cells = np.flatnonzero(self._counts)
        return cells.reshape(-1, 1).astype(np.int64), self._counts[cells]


class Distinct:
    """One counter for each different report, its integers packed into a few large ones."""

    def __init__(self, limits: Sequence[int]) -> None:
        """Begin with nothing."""
        self._bits = [max(1, (limit - 1).bit_length()) for limit in limits]
        self._parts = list(_parts(self._bits))
        self._names = [str(number) for number in range(len(self._parts))]
        self._waiting: list[pa.Table] = []
        self._held = 0
        self._merged = _FIRST_MERGE

    def add(self, values: Values, weights: Numbers | None) -> None:
        """Count some reports, each ``weights`` times."""
        columns = {}
        for name, part in zip(self._names, self._parts, strict=True):
            key = np.zeros(len(values), np.int64)
            for place in part:
                key = key << self._bits[place] | values[:, place].astype(np.int64)
            columns[name] = key
        columns["n"] = np.ones(len(values), np.int64) if weights is None else weights
        self._waiting.append(self._grouped(pa.table(columns)))
        self._held += self._waiting[-1].num_rows
        if self._held > 2 * self._merged:
            self._merge()
            self._merged = max(self._held, _FIRST_MERGE)

    def _grouped(self, table: pa.Table) -> pa.Table:
        found = table.group_by(self._names).aggregate([("n", "sum")])
        return found.select([*self._names, "n_sum"]).rename_columns([*self._names, "n"])

    def _merge(self) -> None:
        self._waiting = [self._grouped(pa.concat_tables(self._waiting))]
        self._held = self._waiting[0].num_rows

    def result(self) -> tuple[Numbers, Numbers]:
        """Return the different reports, ascending, and how often each came."""
        if not self._waiting:
            return np.empty((0, len(self._bits)), np.int64), np.empty(0, np.int64)
        self._merge()
        table = self._waiting[0].sort_by([(name, "ascending") for name in self._names])
        values = np.empty((table.num_rows, len(self._bits)), np.int64)
        for name, part in zip(self._names, self._parts, strict=True):
            key = table[name].to_numpy()
            for place in reversed(part):
                values[:, place] = key & (1 << self._bits[place]) - 1
                key = key >> self._bits[place]
        return values, table["n"].to_numpy()


def _parts(bits: Sequence[int]) -> list[list[int]]:
    """Divide the integers of a report among as few large ones as hold them."""
    parts: list[list[int]] = []
    left = 0
    for place, wanted in enumerate(bits):
        if wanted > left:
            parts.append([])
            left = _KEY_BITS
        parts[-1].append(place)
        left -= wanted
    return parts
