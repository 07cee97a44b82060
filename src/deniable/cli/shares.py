"""A distribution that somebody wrote down: as numbers with commas, or in a CSV file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.errors import EstimationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from deniable.estimation import Axis

COLUMN = "share"


def read_shares(text: str, axes: Sequence[Axis]) -> np.ndarray:
    """Return the shares of a table's cells.

    Args:
        text: One number for each cell with commas, the last attribute running fastest; or
            a CSV file with a column for each attribute and one called ``share``.
        axes: The table's attributes and their categories.
    """
    import numpy as np  # noqa: PLC0415 -- slow to load

    if text.lower().endswith(".csv"):
        return _of_file(Path(text), axes)
    try:
        return np.array([float(number) for number in text.split(",")])
    except ValueError as error:
        problem = "shares are numbers with commas between them, or a CSV file"
        raise EstimationError(problem, given=text, expected="such as 0.7,0.3") from error


def _of_file(path: Path, axes: Sequence[Axis]) -> np.ndarray:
    import numpy as np  # noqa: PLC0415 -- slow to load

    table = np.full([len(axis.categories) for axis in axes], np.nan)
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        wanted = [*(axis.name for axis in axes), COLUMN]
        missing = [name for name in wanted if name not in (rows.fieldnames or ())]
        if missing:
            problem = f"the file of shares lacks the column {missing[0]!r}"
            raise EstimationError(problem, expected=", ".join(wanted))
        for number, row in enumerate(rows, start=2):
            cell = tuple(axis.place(row[axis.name]) for axis in axes)
            if not np.isnan(table[cell]):
                raise EstimationError(f"line {number} of the shares names a cell a second time")
            table[cell] = _number(row[COLUMN], number)
    if np.isnan(table).any():
        problem = "the file of shares leaves cells out"
        raise EstimationError(problem, given=int(np.isnan(table).sum()), expected="every cell once")
    return table


def _number(text: str, line: int) -> float:
    try:
        return float(text)
    except ValueError as error:
        problem = f"line {line} of the shares has no number"
        raise EstimationError(problem, given=text, expected="such as 0.25") from error
