"""What reports can carry: when a table is too uncertain to be shown to a person."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from deniable.errors import EstimationError

if TYPE_CHECKING:
    from deniable.estimation.table import Table

LEAST_WORTH = 30.0
"""Plain answers that a table must be worth. Thirty people asked openly tell a share of one
half to within ± .18; randomized reports that tell less are not worth a table."""


def require_carried(table: Table, least: float = LEAST_WORTH) -> None:
    """Refuse a table that is worth fewer plain answers than ``least``.

    A table of which nobody knows how sure it is passes; its interval says so.

    Raises:
        EstimationError: Saying how many people would be needed at the same design.
    """
    worth = table.total_worth
    if math.isnan(worth) or worth >= least:
        return
    needed = math.ceil(table.people * least / max(worth, 1e-9))
    asked = ",".join(table.names)
    problem = (
        f"the reports of {table.people:,} people cannot carry the table {asked}: it would be "
        f"worth {worth:,.1f} plain answers"
    )
    expected = f"at least {least:g}, which takes about {_rounded(needed):,} people at this design"
    raise EstimationError(problem, expected=expected)


def _rounded(people: int) -> int:
    """Round up to two digits: the number is an estimate itself."""
    unit = int("1".ljust(len(str(people)) - 1, "0"))
    return -(-people // unit) * unit
