"""Numbers and names of a plan in few characters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def shortened(names: Sequence[str], most: int = 24) -> str:
    """Write the names of a table in so many characters, cutting the longest first."""
    room = most - (len(names) - 1)
    kept = [len(name) for name in names]
    while sum(kept) > room and max(kept) > 1:
        kept[kept.index(max(kept))] -= 1
    text = ",".join(
        name if size == len(name) else name[: size - 1] + "…"
        for name, size in zip(names, kept, strict=True)
    )
    return text if len(text) <= most else text[: most - 1] + "…"


def share_text(value: float | None) -> str:
    """Write a share with three digits that count, or say that there is none."""
    if value is None or not math.isfinite(value):
        return "–"
    if value >= 1:
        return "> 1"
    if value >= 0.1:  # noqa: PLR2004 -- digits
        return f"{value:.3f}"
    return f"{value:.4f}" if value >= 0.001 else f"{value:.1e}"  # noqa: PLR2004 -- digits


def worth_text(value: float | None) -> str:
    """Write a number of plain answers."""
    if value is None or value <= 0:
        return "0"
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"  # noqa: PLR2004 -- digits


def people_text(value: float | None) -> str:
    """Write a number of people in few characters."""
    if value is None or not math.isfinite(value):
        return "–"
    if value >= 1e6:  # noqa: PLR2004 -- digits
        return f"{value / 1e6:,.3g} M" if value < 1e9 else f"{value:.2e}"  # noqa: PLR2004
    return f"{value:,.0f}"
