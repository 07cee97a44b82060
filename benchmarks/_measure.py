"""How benchmarks time a piece of work, and what they say of a target."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def fastest(work: Callable[[], object], times: int = 7) -> float:
    """Return the least processor time of several runs, in seconds, after one that warms up."""
    work()
    took = []
    for _ in range(times):
        began = time.process_time()
        work()
        took.append(time.process_time() - began)
    return min(took)


def verdict(*, met: bool) -> str:
    """Say whether a target was met."""
    return "met" if met else "MISSED"
