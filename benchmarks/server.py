"""How many durable reports a second does one server take?

The load generator wrk sends reports with random ids, first to an endpoint of the same
framework that does nothing, then to a real server on SQLite: one report a request, then
a thousand. Every accepted report is on the disk before its answer. Ids are random, so each
report dirties a page of its own once the store is large: both are told apart by whether the
store was (nearly) empty. The processor time is the server's own: it does not depend on what else
the machine does.

./run bench server [--seconds 10] [--rounds 3]
  [--minutes 0: go on with single reports, watching memory] [--most 0: so many a second then]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from _load import Server, bring_wrk, load, started

from deniable.collection import Collection, open_store
from deniable.collection.simulating import Line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from _load import Rate

SURVEY = """
deniable = 1
name = "bench"
[privacy]
epsilon = 1
design = "ask-one"
k = 2
channel = "k-ary"
[[pages]]
[[pages.elements]]
type = "boolean"
name = "cheated"
[[pages.elements]]
type = "radiogroup"
name = "grades"
choices = ["low", "middle", "high", "none"]
"""

BARE = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
async def bare(request):
    await request.body()
    return Response(b'{"results":[]}', media_type="application/json")
app = Starlette(routes=[Route("/v1/surveys/{name}/reports", bare, methods=["POST"])])
uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="warning")
"""
PATH = "/v1/surveys/bench/reports"
FEW_SECONDS = 4
"""After that many the store is no longer empty."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=int, default=0)
    parser.add_argument("--most", type=float, default=0)
    asked = parser.parse_args()
    bring_wrk()
    with contextlib.ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
        print(f"a turn of this disk {disk_turn(folder) * 1e3:>11.2f} ms")
        (folder / "bare.py").write_text(BARE)
        (folder / "bench.toml").write_text(SURVEY)
        words = ["serve", folder / "bench.toml", "--store", folder / "bench.db", "--port"]
        ceiling = running.enter_context(started([sys.executable, folder / "bare.py"]))
        server = running.enter_context(started([sys.executable, "-m", "deniable", *words]))
        offer, seconds = offered(server), asked.seconds

        def batches(seconds: int) -> Rate:
            return load(folder, server, PATH, offer, batch=1000, connections=8, seconds=seconds)

        if asked.rounds:
            bare = load(folder, ceiling, PATH, seconds=FEW_SECONDS)
            one = load(folder, server, PATH, offer, seconds=FEW_SECONDS)
            show("one report, empty", [one], 1)
            print(f"{'':<20}{one.requests / bare.requests:>11.0%} of the bare endpoint")
            show("a thousand, empty", [batches(FEW_SECONDS)], 1000)
        rounds = [
            (
                load(folder, ceiling, PATH, seconds=seconds),
                load(folder, server, PATH, offer, seconds=seconds),
                batches(seconds),
            )
            for _ in range(asked.rounds)
        ]
        if rounds:
            tell(rounds)
        watch_memory(folder, server, offer, asked.minutes, asked.most)
        store = open_store(str(folder / "bench.db"))
        print(f"kept in all         {Collection(store).tally('bench').total:>11,}")
        store.close()


def tell(rounds: Sequence[tuple[Rate, Rate, Rate]]) -> None:
    """Print the medians over the rounds: nothing, one report and a thousand a request."""
    bare, one, many = zip(*rounds, strict=True)
    show("bare endpoint", bare, 1)
    show("one report each", one, 1)
    show("a thousand each", many, 1000)
    share = median(mine.requests / ceiling.requests for ceiling, mine, _ in rounds)
    print(f"one report each     {share:>11.0%} of the bare endpoint")


def show(name: str, found: Sequence[Rate], batch: int) -> None:
    """Print the medians of one kind of load."""
    rate = median(batch * rate.requests for rate in found)
    cost = median(rate.cost / batch for rate in found)
    slow = median(rate.slow for rate in found)
    print(f"{name:<20}{rate:>11,.0f} a second {cost:>6.1f} µs each, 99 % in {slow:,.0f} ms")


def watch_memory(
    folder: Path, server: Server, offer: Mapping[str, str], minutes: int, most: float
) -> None:
    """Go on sending single reports and print what the server holds after each minute."""
    print(f"memory              {server.megabytes:>11.0f} MB")
    sent = 0.0
    for minute in range(1, minutes + 1):
        rate = load(folder, server, PATH, offer, seconds=60, most=most).requests
        sent += 60 * rate
        after = f"after minute {minute}"
        print(f"{after:<20}{server.megabytes:>11.0f} MB, {rate:,.0f} a second, {sent:,.0f} in all")


def offered(server: Server) -> dict[str, str]:
    """Return the design and the block of the survey that is served."""
    with contextlib.closing(Line(server.address)) as line:
        found: dict[str, str] = json.loads(line.get("/v1/surveys/bench"))
    return found


def disk_turn(folder: Path, turns: int = 50) -> float:
    """Return the seconds of one small durable write."""
    with (folder / "turn").open("wb") as file:
        began = time.perf_counter()
        for _ in range(turns):
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
        return (time.perf_counter() - began) / turns


if __name__ == "__main__":
    main()
