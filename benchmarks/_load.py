"""Load on a server by wrk, a generator of the machine's packages, and what it costs the server."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.collection import address_of, listen
from deniable.collection.simulating import Line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# Ids are random, as from devices: five random pieces, a letter, and a last one that fits.
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
# Each connection pauses before each request, around the mean that makes the rate.
PAUSE = """
delay = function() return math.random(0, 2 * @pause) end
"""
NOTHING: Mapping[str, str] = {}
_MILLISECONDS = {"us": 1e-3, "ms": 1.0, "s": 1e3}


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs."""

    address: str
    pid: int

    @property
    def processor_seconds(self) -> float:
        """Return what it has used of the processors; nan where the system does not tell."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        except OSError:
            return float("nan")
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def megabytes(self) -> float:
        """Return the memory that it holds; nan where the system does not tell."""
        try:
            status = Path(f"/proc/{self.pid}/status").read_text("ascii")
        except OSError:
            return float("nan")
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found[1]) / 1024 if found else float("nan")


@dataclass(frozen=True, slots=True)
class Rate:
    """What a server did under load.

    Attributes:
        requests: A second.
        slow: The 99th percentile of the time to the answer, in milliseconds.
        cost: Microseconds of processor that one request took of the server.
    """

    requests: float
    slow: float
    cost: float


def bring_wrk() -> None:
    """Install Debian's wrk if it is missing and the user may; else say what to do."""
    if shutil.which("wrk") is not None:
        return
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        sys.exit("wrk is missing; install it (Debian, as root: apt-get install wrk)")
    for words in (("update",), ("install", "--no-install-recommends", "wrk")):
        subprocess.run(["apt-get", "-qq", "-y", *words], check=True, stdout=subprocess.DEVNULL)


def load(
    folder: Path,
    server: Server,
    path: str,
    offer: Mapping[str, str] = NOTHING,
    *,
    batch: int = 1,
    connections: int = 64,
    seconds: int = 5,
    most: float = 0,
) -> Rate:
    """Send reports for some seconds, ``most`` requests a second if not 0; all must succeed."""
    script = SCRIPT.replace("@batch", str(batch))
    if most:
        script += PAUSE.replace("@pause", str(round(1e3 * connections / most)))
    for key in ("block", "design"):
        script = script.replace(f"@{key}", offer.get(key, "A" * 43))
    lua = folder / "load.lua"
    lua.write_text(script)
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout=30s"]
    before = server.processor_seconds
    done = subprocess.run(
        [*command, "-s", str(lua), server.address + path],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    used = server.processor_seconds - before
    if "Non-2xx" in done or "Socket errors" in done:
        sys.exit(f"not every request succeeded:\n{done}")
    rate = re.search(r"Requests/sec:\s+([\d.]+)", done)
    count = re.search(r"(\d+) requests in", done)
    slow = re.search(r"99%\s+([\d.]+)(us|ms|s)", done)
    if rate is None or count is None or slow is None:
        sys.exit(f"wrk said something else:\n{done}")
    milliseconds = float(slow[1]) * _MILLISECONDS[slow[2]]
    return Rate(float(rate[1]), milliseconds, used / int(count[1]) * 1e6)


@contextlib.contextmanager
def started(command: Sequence[str | Path]) -> Iterator[Server]:
    """Run a server on a free port, its last argument, until the ``with`` block ends."""
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
        yield Server(address, process.pid)
    finally:
        process.terminate()
        process.wait()
