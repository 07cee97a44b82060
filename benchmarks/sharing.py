"""How long does it take to sum everybody's tables without seeing anybody's part?

All pairs of 8 attributes of the sizes of UCI Adult, made up. First the practical form: every
device splits its ones into shares, one for each of three aggregators, who agree on who is
there and show their totals. Then the protocol of n parties (Domingo 4.2), each of whom deals
to all the others. All of them run in this one process, one after another; both results are
compared with the plain counts. Last the practical form over HTTP, with desks that listen.

    ./run bench sharing [--quick]
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np
from _measure import verdict

from deniable.sharing import (
    Aggregator,
    Desk,
    RemoteAggregator,
    gather,
    send_shares,
    sheet_of_pairs,
    sum_together,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deniable.sharing import Adding, Sheet
    from deniable.sharing.shares import Vector

SIZES = (9, 16, 7, 15, 6, 5, 2, 2)
AGGREGATORS = 3
DEVICES, PARTIES, OVER_HTTP = 10_000, 200, 500
MOST_SECONDS = 10.0


def main() -> None:
    """Print the table; leave with 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the people")
    part = 10 if parser.parse_args().quick else 1
    sheet = sheet_of_pairs(SIZES)
    print(f"{len(sheet.groups)} pairs of {len(SIZES)} attributes, {sheet.width:,} cells")
    print(f"{'':<38}{'people':>8}{'processor':>12}{'wall':>9}   target")
    ways: list[tuple[str, int, Callable[[Sheet, np.ndarray], Vector], float | None]] = [
        (f"{AGGREGATORS} aggregators", DEVICES // part, by_aggregators, MOST_SECONDS),
        ("n parties, each deals to all", PARTIES // part, by_parties, MOST_SECONDS),
        (f"{AGGREGATORS} aggregators over HTTP", OVER_HTTP // part, over_http, None),
    ]
    met = [measure(sheet, *way) for way in ways]
    sys.exit(0 if all(met) else 1)


def measure(
    sheet: Sheet,
    name: str,
    people: int,
    add: Callable[[Sheet, np.ndarray], Vector],
    most: float | None,
) -> bool:
    """Time one way of adding, and check that it adds."""
    answers = np.random.default_rng(people).integers(0, SIZES, (people, len(SIZES)))
    places = sheet.places(answers)
    plain = np.bincount(places.reshape(-1), minlength=sheet.width)
    processor, wall = time.process_time(), time.perf_counter()
    sums = add(sheet, places)
    processor, wall = time.process_time() - processor, time.perf_counter() - wall
    if not np.array_equal(sums, plain):
        sys.exit(f"{name}: the sums are wrong")
    met = most is None or processor < most
    told = "" if most is None else f"under {most:.0f} s: {verdict(met=met)}"
    print(f"{name:<38}{people:>8,}{processor:>10.2f} s{wall:>7.2f} s   {told}")
    return met


def by_aggregators(sheet: Sheet, places: np.ndarray) -> Vector:
    """Send everybody's shares within the process."""
    return gathered(sheet, places, [Aggregator(sheet.width) for _ in range(AGGREGATORS)])


def by_parties(sheet: Sheet, places: np.ndarray) -> Vector:
    """Let the people sum among themselves."""
    return sum_together([sheet.vector(row) for row in places])


def over_http(sheet: Sheet, places: np.ndarray) -> Vector:
    """Send everybody's shares to desks on this machine."""
    with ExitStack() as stack:
        desks = [stack.enter_context(Desk(Aggregator(sheet.width))) for _ in range(AGGREGATORS)]
        return gathered(sheet, places, [RemoteAggregator(desk.address) for desk in desks])


def gathered(sheet: Sheet, places: np.ndarray, aggregators: Sequence[Adding]) -> Vector:
    """Send, agree, and lay the totals together."""
    send_shares(sheet, places, aggregators)
    sums, _ = gather(sheet, aggregators)
    return sums


if __name__ == "__main__":
    main()
