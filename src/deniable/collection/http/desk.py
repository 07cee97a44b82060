"""The desk: what the routes share while a server runs."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import msgspec
from starlette.concurrency import run_in_threadpool

from deniable.collection.commits import GroupCommit
from deniable.collection.http.metrics import Metrics
from deniable.collection.http.rates import RateLimit
from deniable.collection.http.requests import token_in
from deniable.collection.tokens import check_token
from deniable.errors import DeniableError

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from starlette.requests import Request

    from deniable.collection.arrival import Arrival, Fate
    from deniable.collection.http.settings import Settings
    from deniable.collection.offer import Offer
    from deniable.collection.service import Collection
    from deniable.collection.tokens import Scope

FRESH_SECONDS = 0.3
TICK_SECONDS = 1.0
TIDY_SECONDS = 60.0
MOST_OFFERS = 1_000
LASTS_TIMES = 4


class Desk:
    """A running server: its collection, its published surveys, its writing thread."""

    def __init__(self, collection: Collection, settings: Settings) -> None:
        """Get ready to answer."""
        self.collection = collection
        self.settings = settings
        self.metrics = Metrics(settings.metrics_folder)
        self.rates = RateLimit(settings.rate, settings.burst)
        self._offers: dict[str, tuple[Offer, float]] = {}
        # A lock lives as long as somebody waits for it.
        self._reloading: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._results: dict[str, tuple[bytes, float]] = {}
        self._recounting: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._commits: GroupCommit | None = None
        self._ticking: asyncio.Task[None] | None = None
        self._preparing: asyncio.Task[None] | None = None

    @property
    def commits(self) -> GroupCommit:
        """The writing thread, started when first needed."""
        if self._commits is None:
            self._commits = GroupCommit(self._keep)
        return self._commits

    def open(self) -> None:
        """Start closing blocks whose time is up."""
        self._ticking = asyncio.create_task(self._tick())

    async def close(self) -> None:
        """Keep what waits, then let go."""
        if self._ticking is not None:
            self._ticking.cancel()
        if self._commits is not None:
            await run_in_threadpool(self._commits.stop)
            self._commits = None
            await self._tidy()

    async def offer(self, name: str) -> Offer:
        """Return a published survey, at most a moment old."""
        found = self._offers.get(name)
        if found is not None and time.monotonic() - found[1] < FRESH_SECONDS:
            return found[0]
        return await self.fresh_offer(name)

    async def offer_to_answer(self, name: str) -> Offer:
        """Return a published survey to one who is about to answer it.

        Where the channels follow the reports it is as the store has it now: of clients who
        are blocks of their own, a moment's would all answer one block.
        """
        offer = await self.offer(name)
        return await self.fresh_offer(name) if offer.is_followed else offer

    async def fresh_offer(self, name: str) -> Offer:
        """Return a published survey as the store has it now."""
        lock = self._reloading.get(name)
        if lock is None:
            lock = self._reloading[name] = asyncio.Lock()
        asked = time.monotonic()
        async with lock:
            found = self._offers.get(name)
            if found is not None and found[1] >= asked:
                return found[0]
            began = time.monotonic()
            if found is None:
                offer = await run_in_threadpool(self.collection.offer, name)
            else:
                offer = found[0]
                await run_in_threadpool(self.collection.refresh, offer)
            if len(self._offers) >= MOST_OFFERS:
                self._offers.clear()
            self._offers[name] = (offer, began)
            return offer

    async def results(self, name: str) -> bytes:
        """Return what the results page shows, as JSON, not older than a few times its own cost.

        However many look at it, counting takes a fifth of one processor at most.
        """
        lock = self._recounting.get(name)
        if lock is None:
            lock = self._recounting[name] = asyncio.Lock()
        async with lock:
            found = self._results.get(name)
            if found is not None and time.monotonic() < found[1]:
                return found[0]
            began = time.monotonic()
            body = await run_in_threadpool(_count, self.collection, name)
            ended = time.monotonic()
            if len(self._results) >= MOST_OFFERS:
                self._results.clear()
            self._results[name] = body, ended + LASTS_TIMES * (ended - began)
            return body

    async def require(self, request: Request, scope: Scope, survey: str | None) -> None:
        """Refuse a request without the token for it."""
        store, now = self.collection.store, self.collection.now()
        await run_in_threadpool(check_token, store, token_in(request), scope, survey, now=now)

    def _keep(
        self, arrivals: Sequence[Arrival], refusals: dict[int, Counter[str]]
    ) -> Sequence[Fate]:
        began = time.perf_counter()
        try:
            return self.collection.record(arrivals, refusals)
        finally:
            self.metrics.groups += 1
            self.metrics.group_seconds += time.perf_counter() - began

    async def _tick(self) -> None:
        # At once, too: a server that was killed may have left its log of changes behind.
        tidied_at, tidied = time.monotonic() - TIDY_SECONDS, -1
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self.commits.flush()
            with contextlib.suppress(OSError):  # no room for counters is no reason to stop
                self.metrics.share(self.commits.waiting)
            if self._preparing is None or self._preparing.done():
                self._preparing = asyncio.create_task(self._prepare())
            try:
                await run_in_threadpool(self.collection.close_due_blocks)
            except DeniableError:
                continue  # the store is away; the next tick tries again
            now, groups = time.monotonic(), self.metrics.groups
            if now - tidied_at >= TIDY_SECONDS and groups != tidied:
                tidied_at, tidied = now, groups
                await self._tidy()

    async def _prepare(self) -> None:
        with contextlib.suppress(DeniableError):  # the next tick tries again
            await run_in_threadpool(self.collection.prepare_blocks)

    async def _tidy(self) -> None:
        with contextlib.suppress(DeniableError):  # the store is away or full; there is a next time
            await run_in_threadpool(self.collection.tidy)


def _count(collection: Collection, name: str) -> bytes:
    """Return the results; the first who asks waits for the statistics to load."""
    from deniable.collection.live import results_of  # noqa: PLC0415 -- slow to load, and large

    return msgspec.json.encode(results_of(collection, name))
