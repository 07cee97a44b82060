"""What a server allows, all in one place."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Settings:
    """The limits of one server.

    Attributes:
        largest_body: Bytes of one request.
        most_reports: Reports of one request.
        rate: Reports a second from one address that is not this machine's; 0 for no limit.
        burst: Reports that may come at once before the rate holds, a minute's worth at most.
        tallies_only: Whether to give away no reports, to nobody: only what was counted.
        metrics_folder: Where workers lay their counters for each other; empty for one worker.
    """

    largest_body: int = 2**21
    most_reports: int = 5_000
    rate: float = 5.0
    burst: int = 200
    tallies_only: bool = False
    metrics_folder: str = ""

    def shared_by(self, workers: int) -> Settings:
        """Return what each of several workers allows, so that together they allow this.

        Whose requests are spread over them may send that much; who stays with one, its part.
        """
        return replace(self, rate=self.rate / workers, burst=max(1, self.burst // workers))
