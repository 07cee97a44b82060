"""Records: synthetic people, one row each, in the categories of the schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import DataError
from deniable.estimation import presentation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.table import Axis

    Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Synthetic people. No row stands for anybody.

    Attributes:
        axes: The attributes and the names of their categories.
        codes: One row for each synthetic person, the place of a category in each column.
    """

    axes: tuple[Axis, ...]
    codes: Codes

    def __post_init__(self) -> None:
        """Refuse a record outside the schema."""
        shape = (len(self.codes), len(self.axes))
        sizes = np.array([len(axis.categories) for axis in self.axes])
        if self.codes.shape != shape or np.any((self.codes < 0) | (self.codes >= sizes)):
            problem = "synthetic records do not fit their attributes"
            raise DataError(problem, expected="one place of a category for each attribute")

    @property
    def people(self) -> int:
        """Return the number of rows."""
        return len(self.codes)

    def counts(self, attributes: Sequence[int]) -> Codes:
        """Return how many rows fall into each cell of some attributes, by position."""
        shape = tuple(len(self.axes[attribute].categories) for attribute in attributes)
        cells = np.ravel_multi_index(tuple(self.codes[:, a] for a in attributes), shape)
        return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)

    def columns(self) -> dict[str, list[str]]:
        """Return the categories' names, column by column."""
        return {
            axis.name: np.array(axis.categories, dtype=object)[self.codes[:, place]].tolist()
            for place, axis in enumerate(self.axes)
        }

    def to_frame(self, backend: presentation.Backend = "pandas") -> Any:  # noqa: ANN401 -- its kind is the caller's choice
        """Return the records as a frame of pandas, Polars or PyArrow."""
        return presentation.frame(dict(self.columns()), backend)
