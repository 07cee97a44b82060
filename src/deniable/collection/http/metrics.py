"""Counters for a monitor, in the text form of Prometheus. They tell nothing of any person."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

TEXT_FORM = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """What one process has seen since it started."""

    def __init__(self) -> None:
        """Start at zero."""
        self.requests: Counter[int] = Counter()
        self.reports: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.groups = 0
        self.group_seconds = 0.0

    def to_text(self, waiting: int) -> str:
        """Return all counters; ``waiting`` reports are in the queue now."""
        lines = [
            *_counter("deniable_requests_total", "Answers by status.", "status", self.requests),
            *_counter("deniable_reports_total", "Kept reports by fate.", "fate", self.reports),
            *_counter(
                "deniable_refused_total", "Refused reports by reason.", "reason", self.refusals
            ),
            "# HELP deniable_commit_seconds Time of durable commits.",
            "# TYPE deniable_commit_seconds summary",
            f"deniable_commit_seconds_sum {self.group_seconds:.6f}",
            f"deniable_commit_seconds_count {self.groups}",
            "# HELP deniable_waiting_reports Reports waiting to be kept.",
            "# TYPE deniable_waiting_reports gauge",
            f"deniable_waiting_reports {waiting}",
        ]
        return "\n".join(lines) + "\n"


def _counter(
    name: str, meaning: str, label: str, counts: Counter[int] | Counter[str]
) -> Iterable[str]:
    yield f"# HELP {name} {meaning}"
    yield f"# TYPE {name} counter"
    for value, count in sorted(counts.items(), key=lambda pair: str(pair[0])):
        yield f'{name}{{{label}="{value}"}} {count}'
