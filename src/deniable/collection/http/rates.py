"""How many reports one address may send. Addresses stay in memory, keyed, a minute at most.

This machine itself is not limited: whoever comes from there is a proxy, which speaks for
many and can count them itself, or somebody who could reach into the store anyway.
"""

from __future__ import annotations

import hashlib
import ipaddress
import math
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
        """Allow ``burst`` reports at once and ``rate`` a second; a rate of 0 allows everything.

        No burst is larger than what a minute refills: then nobody gains by being forgotten.
        """
        self._rate = rate
        self._burst = max(1.0, min(float(burst), rate * FORGET_AFTER))
        self._clock = clock
        self._key = fresh_key()
        self._buckets: dict[bytes, tuple[float, float]] = {}

    def most(self, address: str) -> float:
        """Return how many reports an address may ever send at once."""
        return self._burst if self._is_limited(address) else math.inf

    def wait_for(self, address: str, reports: int) -> float:
        """Take a token for each report and return 0, or return the seconds until there are."""
        if not self._is_limited(address):
            return 0.0
        now = self._clock()
        name = hashlib.blake2b(household(address), digest_size=12, key=self._key).digest()
        level, since = self._buckets.pop(name, (self._burst, now))
        level = min(self._burst, level + (now - since) * self._rate)
        short = level < reports
        # Inserted anew, so that the dictionary stays in the order of last use.
        self._buckets[name] = (level if short else level - reports, now)
        self._forget(now)
        return (reports - level) / self._rate if short else 0.0

    def _is_limited(self, address: str) -> bool:
        return self._rate > 0 and not is_here(address)

    def _forget(self, now: float) -> None:
        while self._buckets:
            oldest = next(iter(self._buckets))
            if (
                now - self._buckets[oldest][1] < FORGET_AFTER
                and len(self._buckets) <= MOST_ADDRESSES
            ):
                return
            del self._buckets[oldest]


def is_here(address: str) -> bool:
    """Tell whether an address is this machine, or no address at all: a local socket.

    >>> [is_here(one) for one in ("127.0.0.1", "::1", "", "192.0.2.1", "2001:db8::1")]
    [True, True, True, False, False]
    """
    if address in ("127.0.0.1", "::1", ""):
        return True
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback


def household(address: str) -> bytes:
    """Return what one subscriber has of an address: all of IPv4, half of IPv6.

    >>> household("2001:db8::1") == household("2001:db8::2") != household("2001:db8:0:1::1")
    True
    >>> household("::ffff:192.0.2.1") == household("192.0.2.1") != household("192.0.2.2")
    True
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address.encode()  # such as a local socket's
    if isinstance(found, ipaddress.IPv4Address):
        return found.packed
    return found.ipv4_mapped.packed if found.ipv4_mapped else found.packed[:8]
