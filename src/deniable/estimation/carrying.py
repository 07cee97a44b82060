"""What reports can carry: when a table is too uncertain to be shown to a person."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError

if TYPE_CHECKING:
    from deniable.estimation.table import Table

LEAST_WORTH = 30.0
"""Plain answers that a table must be worth. Thirty people asked openly tell a share of one
half to within ± .18; randomized reports that tell less are not worth a table."""

EDGE = 3.0
"""Worth so many times less than a standard error further inside, an estimate lies at the edge, as
uncertain ones do by chance. Plain answers would tell such a share for sure, so that reports seem
worth nothing; how many people it takes is told from further inside."""


def require_carried(table: Table, least: float = LEAST_WORTH) -> None:
    """Refuse a table that is worth fewer plain answers than ``least``.

    A table of which nobody knows how sure it is passes; its interval says so.

    Raises:
        EstimationError: Saying how many people would be needed at the same design.
    """
    if not 0 <= least < math.inf:
        problem = "the plain answers that a table must be worth are a number of at least 0"
        raise EstimationError(problem, given=least, expected="such as 30")
    worth = table.total_worth
    if math.isnan(worth) or worth >= least:
        return
    inside = _worth_inside(table)
    needed = math.ceil(table.people * least / (worth if worth > inside / EDGE else inside))
    asked = ",".join(table.names)
    problem = (
        f"the reports of {table.people:,} people cannot carry the table {asked}: it would be "
        f"worth {worth:,.1f} plain answers"
    )
    expected = f"at least {least:g}, which takes about {_rounded(needed):,} people at this design"
    raise EstimationError(problem, expected=expected)


def _worth_inside(table: Table) -> float:
    """Return what the table would be worth a standard error further inside."""
    near = np.clip(table.estimate, 0, 1) + table.standard_error
    near /= near.sum()
    return float(np.sum(near * (1 - near)) / table.variance.sum())


def _rounded(people: int) -> int:
    """Round up to two digits: the number is an estimate itself."""
    unit = int("1".ljust(len(str(people)) - 1, "0"))
    return -(-people // unit) * unit
