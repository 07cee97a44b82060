"""The bounds that the sources state, beside what is exact.

Domingo's eq. 5 and 6 bound the error of λ̂, the shares of the *reports*, not of the truth.
Kikuchi's Theorem 5 bounds the bias of RR-Independent; his Theorem 6 counts the rounding of
λ̂ to 1/n and leaves out the coin, so that it is no bound for real reports.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.estimation.interval import comparisons_of, quantile
from deniable.planning.extremes import largest_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.estimation.outlook import Outlook


@dataclass(frozen=True, slots=True)
class Published:
    """A bound as published, and what is exact.

    Attributes:
        source: Where it stands.
        of: What it bounds.
        bound: Its value.
        beside: What stands beside it.
        exact: That value.
        note: What to know; empty if nothing.
    """

    source: str
    of: str
    bound: float
    beside: str
    exact: float
    note: str = ""


def absolute_error(cells: int, people: float, alpha: float = 0.05) -> float:
    """Return Domingo's eq. 5 at even shares of r report cells: √(B·λ(1 − λ)/n).

    B is the upper α/r quantile of χ² with one degree of freedom: z², two-sided.

    >>> round(absolute_error(2, 1000), 4)
    0.0354
    """
    share = 1 / cells
    return quantile(1 - alpha, comparisons=cells) * math.sqrt(share * (1 - share) / people)


def relative_error(cells: int, people: float, alpha: float = 0.05) -> float:
    """Return Domingo's eq. 6 at even shares: √(B·(1 − λ)/λ/n)."""
    return absolute_error(cells, people, alpha) * cells


def independent_bound(sizes: Sequence[int]) -> float:
    """Return Kikuchi's Theorem 5: max(d⁻ʷ, 1/d − d⁻ʷ), d the largest size.

    >>> independent_bound((2, 2))
    0.25
    """
    largest, ways = max(sizes), len(sizes)
    return float(max(largest**-ways, 1 / largest - largest**-ways))


def independent_bias(sizes: Sequence[int]) -> float:
    """Return the largest bias that RR-Independent can have with even margins of these sizes."""
    product = 1 / math.prod(sizes)
    return max(product, 1 / max(sizes) - product)


def rounding_bound(sizes: Sequence[int], epsilon: float, people: float) -> float:
    """Return Kikuchi's Theorem 6: (1 + (d − 1)/e^(ε/w))ʷ·dʷ/n, ε that of all w together.

    >>> round(rounding_bound((2, 2), 2.0, 1000), 6)
    0.007484
    """
    largest, ways = max(sizes), len(sizes)
    return float((1 + (largest - 1) / math.exp(epsilon / ways)) ** ways * largest**ways / people)


def published_bounds(
    apart: Outlook | None, together: Outlook, epsilon: float, people: float, level: float
) -> list[Published]:
    """Return the bounds for one table.

    Args:
        apart: What the design ``independent`` tells of it; None where it cannot be had.
        together: What the design at hand tells of it.
        epsilon: What the design ``independent`` spends on the table's attributes together.
        people: How many answer.
        level: The level 1 − α.
    """
    asked = people * together.share
    cells, shape = together.cells, together.shape
    width = quantile(level, comparisons=comparisons_of(cells)) * together.error(people)
    share = absolute_error(cells, asked, 1 - level)
    found = [
        Published("Domingo eq. 5", "λ̂, all cells", share, "π̂, all cells", width),
        Published("Domingo eq. 6", "λ̂, relative", share * cells, "π̂, relative", width * cells),
    ]
    if apart is None or len(shape) == 1:
        return found
    worst = largest_of(apart.standard_errors(people).reshape(-1))
    note = "counts the rounding of shares to 1/n, not the coin: no bound for real reports"
    return [
        *found,
        Published(
            "Kikuchi Th. 5",
            "RR-Independent, bias",
            independent_bound(shape),
            "for these sizes",
            independent_bias(shape),
        ),
        Published(
            "Kikuchi Th. 6",
            "RR-Ind-Joint, largest cell",
            rounding_bound(shape, epsilon, people),
            "expected",
            worst,
            note,
        ),
    ]
