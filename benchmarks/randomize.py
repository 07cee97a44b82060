"""How long does it take to randomize a value, and how much memory a hundred million?

Three tables, each measured in this one run:

1. k-ary, secure, on one core, beside the peers (which are not secure) on the same core;
2. every channel, on one core;
3. a file of many values into a file of reports, with the memory that the process held.

    ./run bench randomize                    all three; the last needs some GB of disk
    ./run bench randomize --values 1000000   the last with fewer values
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from _measure import fastest, verdict

from deniable import bulk, channels
from deniable.bulk.keystream import Keystream
from deniable.bulk.sampler import sampler_of
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from deniable.channels import Channel

HERE = Path(__file__).parent
SIZE, EPSILON = 16, 1.0
COLUMNS = 10
TARGET_NS, TARGET_RATIO, TARGET_GIB = 25.0, 10.0, 1.5


def beside_peers(values: int) -> None:
    """Measure k-ary on one core, ours and theirs."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # inherited by the peers
    print(f"k-ary, d = {SIZE}, ε = {EPSILON:g}, {values:,} values, one core: ns per value")
    cells = np.random.default_rng(1).integers(0, SIZE, values).astype(np.uint8)
    sampler, stream = sampler_of(channels.k_ary(EPSILON, SIZE)), Keystream()
    alone = fastest(lambda: sampler.randomize(cells, stream)) / values * 1e9
    survey = Survey("bench", schema_of(1), Privacy(EPSILON, "independent", {"channel": "k-ary"}))
    frame = pa.table({"a0": cells})
    whole = fastest(lambda: bulk.randomize(frame, survey, threads=1, order="kept")) / values * 1e9
    mixed = fastest(lambda: bulk.randomize(frame, survey, threads=1)) / values * 1e9
    peers_py = [sys.executable, str(HERE / "peers.py"), "--size", str(SIZE)]
    peers_py += ["--epsilon", str(EPSILON), "--values", str(values)]
    lines = subprocess.run(peers_py, check=True, capture_output=True, text=True).stdout.splitlines()
    peers = [json.loads(line) for line in lines]
    timed = {f"{p['peer']} {p['version']}": p["ns"] for p in peers if "ns" in p}
    best = min(timed.values(), default=float("nan"))
    ours = {
        "deniable, channel on cells": alone,
        "deniable, data frame to reports": whole,
        "deniable, the same, shuffled": mixed,
    }
    for name, nanoseconds in (ours | timed).items():
        print(f"  {name:34} {nanoseconds:8.1f}   {best / nanoseconds:6.1f} × the fastest peer")
    for peer in peers:
        if "missing" in peer:
            print(f"  {peer['peer']:34} not measured: {peer['missing']}")
    slowest = max(ours.values())
    print(f"  at most {TARGET_NS:g} ns a value: {verdict(met=slowest <= TARGET_NS)}")
    print(f"  at least {TARGET_RATIO:g} × the peer: {verdict(met=best / slowest >= TARGET_RATIO)}")


def every_channel() -> None:
    """Measure each channel on one core."""
    print("\nevery channel, one core: ns per value")
    chosen: dict[str, Channel] = {
        "k-ary, 2 cells": channels.k_ary(EPSILON, 2),
        "k-ary, 16": channels.k_ary(EPSILON, 16),
        "k-ary, 100,000": channels.k_ary(EPSILON, 100_000),
        "two coins, 16": channels.two_coin(EPSILON, [1 / 16] * 16),
        "subset, 16 (sets of 4)": channels.subset(EPSILON, 16, 4),
        "subset, 100 (sets of 27)": channels.subset(EPSILON, 100, 27),
        "rounded Laplace, 16": channels.rounded_laplace(EPSILON, 16),
        "symmetric unary, 16": channels.symmetric_unary(EPSILON, 16),
        "optimized unary, 16": channels.optimized_unary(EPSILON, 16),
        "local hash, 16": channels.local_hash(EPSILON, 16),
    }
    for name, channel in chosen.items():
        sampler, stream = sampler_of(channel), Keystream()
        values = 2**21 // sampler.words
        cells = np.random.default_rng(1).integers(0, channel.size, values).astype(sampler.dtype)

        work = partial(sampler.randomize, cells, stream)
        print(f"  {name:34} {fastest(work) / values * 1e9:8.1f}")


def schema_of(columns: int) -> Schema:
    """Declare some attributes of ``SIZE`` categories."""
    names = [str(number) for number in range(SIZE)]
    return Schema(tuple(Attribute.nominal(f"a{place}", names) for place in range(columns)))


def write_answers(path: Path, values: int) -> None:
    """Write a file of even answers, a part at a time."""
    rng = np.random.default_rng(1)
    schema = pa.schema([(f"a{place}", pa.uint8()) for place in range(COLUMNS)])
    writer = (
        pq.ParquetWriter(path, schema)
        if path.suffix == ".parquet"
        else pa.csv.CSVWriter(str(path), schema)
    )
    with writer:
        rows = values // COLUMNS
        for start in range(0, rows, 2**20):
            size = min(2**20, rows - start)
            columns = [rng.integers(0, SIZE, size, dtype=np.uint8) for _ in range(COLUMNS)]
            writer.write_table(pa.table(columns, schema=schema))


@dataclass(frozen=True, slots=True)
class Run:
    """What a command took: by the clock, of the processors, and of memory at most."""

    seconds: float
    processor_seconds: float
    gibibytes: float

    def line(self, name: str, values: int) -> str:
        """Say it in one line."""
        return (
            f"  {name:20} {self.seconds:6.1f} s {self.seconds / values * 1e9:7.1f} ns a value"
            f" {self.processor_seconds / values * 1e9:7.1f} of processors"
            f" {self.gibibytes:6.2f} GiB"
        )


def command(*words: str | Path) -> Run:
    """Run this package's command line."""
    began = time.perf_counter()
    process = subprocess.Popen(["deniable", *map(str, words)], stdout=subprocess.DEVNULL)
    _, code, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(code)
    if process.returncode:
        sys.exit(f"deniable {words[0]} failed")
    seconds = time.perf_counter() - began
    return Run(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20)


def from_file_to_file(values: int, folder: Path, cores: set[int]) -> None:
    """Measure whole files, with all cores."""
    os.sched_setaffinity(0, cores)
    print(f"\nfile to file, {values:,} values in {COLUMNS} columns, {len(cores)} cores")
    privacy = Privacy(EPSILON, "independent", {"channel": "k-ary"}, level="attribute")
    survey = folder / "survey.toml"
    Survey("bench", schema_of(COLUMNS), privacy).dump(survey)
    worst = 0.0
    for before, after in (("parquet", "parquet"), ("csv", "parquet"), ("csv", "csv")):
        answers, reports = folder / f"answers.{before}", folder / f"reports.{after}"
        if not answers.exists():
            write_answers(answers, values)
        words = ("randomize", answers, "--survey", survey, "-o", reports, "--replace")
        run = command(*words)
        worst = max(worst, run.gibibytes)
        print(run.line(f"{before} to {after}", values))
    for kind in ("parquet", "csv"):
        print(command("count", folder / f"reports.{kind}").line(f"count {kind}", values))
    print(f"  at most {TARGET_GIB:g} GiB held: {verdict(met=worst <= TARGET_GIB)}")


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, default=100_000_000, help="in the files")
    parser.add_argument("--peer-values", type=int, default=1_000_000)
    asked = parser.parse_args()
    cores = os.sched_getaffinity(0)
    beside_peers(asked.peer_values)
    every_channel()
    if asked.values:
        with tempfile.TemporaryDirectory() as folder:
            from_file_to_file(asked.values, Path(folder), cores)


if __name__ == "__main__":
    main()
