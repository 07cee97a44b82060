"""How many durable reports a second does one server take?

The load generator wrk sends reports with random ids, first to an endpoint of the same
framework that does nothing, then to a real server on SQLite: one report a request, then
a thousand. Every accepted report is on the disk before its answer.

./run bench server [--seconds 10]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.collection import Collection, address_of, listen, open_store
from deniable.collection.simulating import Line
from deniable.schema import Survey

if TYPE_CHECKING:
    from collections.abc import Iterator

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

# Ids are random, as from devices: five random pieces and a last letter that fits.
SCRIPT = """
math.randomseed(os.time() + tonumber(tostring({}):sub(8), 16) % 100000)
local letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
local pieces = {}
for n = 1, 16384 do
  local piece = {}
  for k = 1, 4 do local at = math.random(64) piece[k] = letters:sub(at, at) end
  pieces[n] = table.concat(piece)
end
local last = {"A", "Q", "g", "w"}
local head = '{"block":"@block","deniable":1,"design":"@design","id":"'
local function report()
  local r = math.random
  return head .. pieces[r(16384)] .. pieces[r(16384)] .. pieces[r(16384)] .. pieces[r(16384)]
    .. pieces[r(16384)] .. letters:sub(r(64)):sub(1, 1) .. last[r(4)]
    .. '","values":[[' .. r(8) - 1 .. ']],"view":0}'
end
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
request = function()
  local parts = {}
  for n = 1, @batch do parts[n] = report() end
  return wrk.format(nil, nil, nil, '{"reports":[' .. table.concat(parts, ",") .. "]}")
end
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    seconds = parser.parse_args().seconds
    if shutil.which("wrk") is None:
        sys.exit("wrk is missing; as root: apt-get install wrk")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"a turn of this disk: {disk_turn(folder) * 1e3:.2f} ms")
        with bare(folder) as address:
            ceiling, _ = load(folder, f"{address}/v1/surveys/bench/reports", {}, 1, 64, seconds)
        print(f"bare endpoint         {ceiling:>9,.0f} requests a second")
        with served(folder) as address, contextlib.closing(Line(address)) as line:
            found = json.loads(line.get("/v1/surveys/bench"))
            url = f"{address}/v1/surveys/bench/reports"
            single, slow = load(folder, url, found, 1, 64, seconds)
            print(f"one report a request  {single:>9,.0f} reports a second, p99 {slow}")
            print(f"                      {single / ceiling:>9.0%} of the bare endpoint")
            batched, slow = load(folder, url, found, 1000, 8, seconds)
            print(f"1,000 a request       {1000 * batched:>9,.0f} reports a second, p99 {slow}")
        store = open_store(str(folder / "bench.db"))
        print(f"kept in all           {Collection(store).tally('bench').total:>9,}")
        store.close()


def disk_turn(folder: Path, turns: int = 50) -> float:
    """Return the seconds of one small durable write."""
    import os  # noqa: PLC0415 -- for this one measurement

    with (folder / "turn").open("wb") as file:
        began = time.perf_counter()
        for _ in range(turns):
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
        return (time.perf_counter() - began) / turns


def load(
    folder: Path, url: str, found: dict[str, str], batch: int, connections: int, seconds: int
) -> tuple[float, str]:
    """Return requests a second and the 99th percentile of the latency; all must succeed."""
    script = SCRIPT.replace("@batch", str(batch))
    for key in ("block", "design"):
        script = script.replace(f"@{key}", found.get(key, "A" * 43))
    path = folder / "load.lua"
    path.write_text(script)
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", path, url]
    done = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in done or "Socket errors" in done:
        sys.exit(f"not every request succeeded:\n{done}")
    rate, slow = re.search(r"Requests/sec:\s+([\d.]+)", done), re.search(r"99%\s+(\S+)", done)
    if rate is None or slow is None:
        sys.exit(f"wrk said something else:\n{done}")
    return float(rate[1]), slow[1]


@contextlib.contextmanager
def bare(folder: Path) -> Iterator[str]:
    """Run the endpoint that does nothing."""
    path = folder / "bare.py"
    path.write_text(BARE)
    with started([sys.executable, str(path)], "positional") as address:
        yield address


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Run a real server."""
    path = folder / "bench.toml"
    path.write_text(SURVEY)
    Survey.load(path)
    command = [sys.executable, "-m", "deniable", "serve", str(path)]
    command += ["--store", str(folder / "bench.db"), "--port"]
    with started(command, "option") as address:
        yield address


@contextlib.contextmanager
def started(command: list[str], kind: str) -> Iterator[str]:
    """Run a server on a free port until the ``with`` block ends."""
    del kind
    free = listen("127.0.0.1", 0)
    address = address_of(free)
    free.close()
    port = address.rpartition(":")[2]
    process = subprocess.Popen([*command, port], stdout=subprocess.DEVNULL)
    try:
        with contextlib.closing(Line(address)) as line:
            for _ in range(400):
                if line.send(f"{address}/x", b"x").status != 503:
                    break
                time.sleep(0.05)
        yield address
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
