"""What a server allows, all in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """The limits of one server.

    Attributes:
        largest_body: Bytes of one request.
        most_reports: Reports of one request.
        rate: Requests a second from one address; 0 for no limit.
        burst: Requests that may come at once before the rate holds.
        tallies_only: Whether to give away no reports, to nobody: only what was counted.
        metrics_folder: Where workers lay their counters for each other; empty for one worker.
    """

    largest_body: int = 2**21
    most_reports: int = 5_000
    rate: float = 0.0
    burst: int = 200
    tallies_only: bool = False
    metrics_folder: str = ""
