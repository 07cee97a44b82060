"""What a channel all of whose reports are listed tells of a table, before anybody is asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels.coin import WORD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.channels import Matrix
    from deniable.estimation.outlook import Axes

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Listed:
    """The only group in a glimpse, through a channel all of whose reports are listed.

    Attributes:
        axes: The table's axes in the order of the group, all of them.
        rows: P(y|x), a row for each of the group's cells.
    """

    axes: Axes
    rows: Array

    @property
    def cells(self) -> int:
        """Return the number of cells."""
        return len(self.rows)

    @cached_property
    def inverse(self) -> Array:
        """Return U, a row for each report."""
        return np.asarray(np.linalg.pinv(self.rows), np.float64)

    @cached_property
    def noise(self) -> float:
        """Return E Σ_x U[Y, x]² at even shares, by which the estimate weighs reports."""
        return float(self.rows.mean(axis=0) @ np.sum(self.inverse**2, axis=1))

    @cached_property
    def clarity(self) -> float:
        """Return the information on differences of cells at even shares; 1 for a plain answer."""
        slopes = self.rows - self.rows.mean(axis=0)
        information = np.sum(slopes**2 / self.rows.mean(axis=0)) / self.cells
        return float(information / (self.cells - 1))

    @property
    def reach(self) -> float:
        """Return how far one report can move the estimate of one of these cells."""
        return float(np.max(np.ptp(self.inverse, axis=0)))

    @property
    def least(self) -> float:
        """Return what a report adds to one of these cells at the least."""
        return float(self.inverse.min())

    def moment(self, table: Array) -> Array:
        """Return E U[Y, x]² for each cell, if this is the truth."""
        turned = table.transpose(self.axes)
        told = (turned.reshape(-1) @ self.rows) @ self.inverse**2
        return self._settled(told, turned.shape)

    def information(self, table: Array) -> Array:
        """Return Σ_y P_y P_yᵀ / λ_y, what one report tells of the table's cells near a truth."""
        turned = table.transpose(self.axes)
        seen = turned.reshape(-1) @ self.rows
        places = self._settled(np.arange(self.cells), turned.shape).reshape(-1)
        rows = self.rows[places]
        result: Array = (rows / seen) @ rows.T
        return result

    def _settled(self, flat: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        """Give cells in the order of the group the axes of the table."""
        return flat.reshape(shape).transpose(np.argsort(self.axes))


def listed_of(channel: Matrix, axes: Axes) -> Listed:
    """Return what a matrix over a whole table tells of it."""
    return Listed(axes, np.array(channel.rows, dtype=np.float64) / WORD)
