"""Counters for a monitor, in the text form of Prometheus. They tell nothing of any person."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TEXT_FORM = "text/plain; version=0.0.4; charset=utf-8"
STALE_SECONDS = 10.0
"""A worker that has not written for so long has ended: nothing waits in it any more."""


class Seen(msgspec.Struct):
    """What one process has counted since it started."""

    requests: dict[int, int]
    reports: dict[str, int]
    refusals: dict[str, int]
    groups: int
    group_seconds: float
    waiting: int


class Metrics:
    """What a server has seen: this process, and its fellow workers if they share a folder.

    Each worker writes its counters into a file of its own, and whoever is asked adds them,
    so that it does not matter which worker answers the monitor. The file of a worker that
    ended stays, so that no counter falls.
    """

    def __init__(self, folder: str = "") -> None:
        """Start at zero."""
        self.requests: Counter[int] = Counter()
        self.reports: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.groups = 0
        self.group_seconds = 0.0
        self._folder = Path(folder) if folder else None

    def share(self, waiting: int) -> None:
        """Let the other workers know; ``waiting`` reports are in the queue now."""
        if self._folder is None:
            return
        path = self._folder / f"{os.getpid()}.json"
        draft = path.with_suffix(".draft")
        draft.write_bytes(msgspec.json.encode(self._seen(waiting)))
        draft.replace(path)

    def to_text(self, waiting: int) -> str:
        """Return all counters of all workers."""
        parts = [self._seen(waiting), *self._fellows()]
        requests, reports, refusals = Counter[int](), Counter[str](), Counter[str]()
        for part in parts:
            requests.update(part.requests)
            reports.update(part.reports)
            refusals.update(part.refusals)
        lines = [
            *_counter("deniable_requests_total", "Answers by status.", "status", requests),
            *_counter("deniable_reports_total", "Kept reports by fate.", "fate", reports),
            *_counter("deniable_refused_total", "Refused reports by reason.", "reason", refusals),
            "# HELP deniable_commit_seconds Time of durable commits.",
            "# TYPE deniable_commit_seconds summary",
            f"deniable_commit_seconds_sum {sum(part.group_seconds for part in parts):.6f}",
            f"deniable_commit_seconds_count {sum(part.groups for part in parts)}",
            "# HELP deniable_waiting_reports Reports waiting to be kept.",
            "# TYPE deniable_waiting_reports gauge",
            f"deniable_waiting_reports {sum(part.waiting for part in parts)}",
        ]
        return "\n".join(lines) + "\n"

    def _seen(self, waiting: int) -> Seen:
        return Seen(
            dict(self.requests),
            dict(self.reports),
            dict(self.refusals),
            self.groups,
            self.group_seconds,
            waiting,
        )

    def _fellows(self) -> Iterator[Seen]:
        if self._folder is None:
            return
        for path in sorted(self._folder.glob("*.json")):
            if path.stem == str(os.getpid()):
                continue
            seen = msgspec.json.decode(path.read_bytes(), type=Seen)
            if time.time() - path.stat().st_mtime > STALE_SECONDS:
                seen.waiting = 0
            yield seen


def _counter(
    name: str, meaning: str, label: str, counts: Counter[int] | Counter[str]
) -> Iterable[str]:
    yield f"# HELP {name} {meaning}"
    yield f"# TYPE {name} counter"
    for value, count in sorted(counts.items(), key=lambda pair: str(pair[0])):
        yield f'{name}{{{label}="{value}"}} {count}'
