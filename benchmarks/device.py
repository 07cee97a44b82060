"""How long does a device take to answer, and how much must a page load to be one?

Three tables, each measured in this run:

1. a report from an answer: the agreement checked, the coins tossed, the report remembered
   and turned into the bytes that are sent, on a device that never saw the survey;
2. the same once the survey is known, again from memory, and with a file that is synced;
3. the browser client's files, as they are and compressed.

    ./run bench device
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from _measure import fastest, verdict

from deniable.device import Agreement, Answer, Device, FileStorage, MemoryStorage, examine
from deniable.protocol import design_for, first_block
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.protocol import Design

ROOT = Path(__file__).parent.parent
CLIENT = ROOT / "clients" / "browser" / "src"
TARGET_MICROSECONDS, TARGET_KILOBYTES = 100.0, 30.0


def surveys() -> dict[str, Design]:
    """Return designs from one question to very many groups."""
    asked = {
        "one question, 16 answers": (1, 16, Privacy(1.0, "independent")),
        "8 questions, each by itself": (8, 4, Privacy(8.0, "independent")),
        "8 questions, one pair of 28": (8, 4, Privacy(1.0, "ask-one", {"k": 2})),
        "36 questions, one pair of 630": (36, 2, Privacy(1.0, "ask-one", {"k": 2})),
    }
    found = {}
    for name, (count, size, privacy) in asked.items():
        answers = [f"answer-{number}" for number in range(size)]
        schema = Schema(
            tuple(Attribute.nominal(f"question-{n}", answers) for n in range(count)),
        )
        found[name] = design_for(Survey("bench", schema, privacy))
    health = Survey.load(ROOT / "examples" / "health.toml")
    return found | {"the example on health": design_for(health)}


def microseconds(work: Callable[[], object], times: int) -> float:
    """Return the processor time of one of many runs."""

    def repeat() -> None:
        for _ in range(times):
            work()

    return fastest(repeat) / times * 1e6


def measure(design: Design, times: int, folder: Path) -> dict[str, float]:
    """Return microseconds for each thing that a device does."""
    block, agreement = first_block(design), Agreement(float(design.epsilon))
    cells = [size - 1 for size in design.sizes]

    def first() -> bytes:
        device = Device(MemoryStorage(), agreement)
        return device.respond(design, block, Answer(cells, design.sizes)).to_bytes()

    known = Device(MemoryStorage(), agreement)
    known.respond(design, block, Answer(cells, design.sizes))

    def checked() -> bytes:
        known.ledger.entries.clear()
        return known.respond(design, block, Answer(cells, design.sizes)).to_bytes()

    def again() -> bytes:
        return known.respond(design, block, Answer(cells, design.sizes)).to_bytes()

    def filed() -> bytes:
        path = folder / "device.json"
        path.unlink(missing_ok=True)
        device = Device(FileStorage(path), agreement)
        return device.respond(design, block, Answer(cells, design.sizes)).to_bytes()

    return {
        "first": microseconds(first, times),
        "check": microseconds(lambda: examine(design, block, agreement), times),
        "fresh": microseconds(checked, times),
        "again": microseconds(again, times),
        "file": microseconds(filed, max(1, times // 10)),
    }


def python_device(times: int) -> None:
    """Print what a report takes."""
    print("a report in Python, one core: microseconds")
    print("  first: a device that never saw the survey; check: of it, examining every view;")
    print("  fresh: the survey known; again: the same bytes; file: first, synced to a disk\n")
    columns = ("first", "check", "fresh", "again", "file")
    print(f"  {'':32}" + "".join(f"{name:>9}" for name in columns))
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, design in surveys().items():
            took = measure(design, times, Path(folder))
            worst = max(worst, took["first"])
            print(f"  {name:32}" + "".join(f"{took[column]:9.1f}" for column in columns))
    met = worst < TARGET_MICROSECONDS
    print(f"  the first report in less than {TARGET_MICROSECONDS:g} µs: {verdict(met=met)}")


def browser_client() -> None:
    """Print what a page loads."""
    files = sorted(CLIENT.glob("*.js"))
    packed = {path.name: len(gzip.compress(path.read_bytes(), 9)) for path in files}
    print("\nthe browser client, unminified: bytes, and gzip apart (each file by itself)")
    for path in files:
        print(f"  {path.name:32}{path.stat().st_size:9,}{packed[path.name]:9,}")
    total = sum(packed.values())
    print(f"  {'all':32}{sum(path.stat().st_size for path in files):9,}{total:9,}")
    met = total <= TARGET_KILOBYTES * 1000
    print(f"  at most {TARGET_KILOBYTES:g} KB: {verdict(met=met)}")


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=300, help="reports in a round")
    python_device(parser.parse_args().times)
    browser_client()


if __name__ == "__main__":
    main()
