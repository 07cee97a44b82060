"""How often one address may ask. Addresses stay in memory, keyed, for a minute at most."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

from deniable.channels.coin import fresh_key

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_ADDRESSES = 50_000
FORGET_AFTER = 60.0


class RateLimit:
    """A bucket of tokens for each address, refilled at a steady rate."""

    def __init__(
        self, rate: float, burst: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Allow ``burst`` at once and ``rate`` a second; a rate of 0 allows everything."""
        self._rate = rate
        self._burst = float(max(1, burst))
        self._clock = clock
        self._key = fresh_key()
        self._buckets: dict[bytes, tuple[float, float]] = {}

    def wait_for(self, address: str) -> float:
        """Take one token and return 0, or return the seconds until there is one."""
        if not self._rate:
            return 0.0
        now = self._clock()
        name = hashlib.blake2b(address.encode(), digest_size=12, key=self._key).digest()
        level, since = self._buckets.pop(name, (self._burst, now))
        level = min(self._burst, level + (now - since) * self._rate)
        short = level < 1
        # Inserted anew, so that the dictionary stays in the order of last use.
        self._buckets[name] = (level if short else level - 1, now)
        self._forget(now)
        return (1 - level) / self._rate if short else 0.0

    def _forget(self, now: float) -> None:
        while self._buckets:
            oldest = next(iter(self._buckets))
            if (
                now - self._buckets[oldest][1] < FORGET_AFTER
                and len(self._buckets) <= MOST_ADDRESSES
            ):
                return
            del self._buckets[oldest]
