"""How fast is the inverse of attributes randomized one by one?

Times castell (Kikuchi algorithm 3, each two-coin axis in O(cells)) on tables of about
10⁷ cells beside an axis-by-axis matrix product, in units of memory passes: one pass reads
and writes every cell of the table once. Both are told by their processor time, castell's on
one processor, in turn with the passes, so that what else the machine does counts little.
Then what all processors together gain, the memory of a table of 4¹² cells, and the naive,
reduced and castell forms side by side on tables that the naive one can hold.

    ./run bench inverse [--quick]
"""

from __future__ import annotations

import argparse
import math
import resource
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import numba
import numpy as np
from _measure import verdict

from deniable.estimation.castell import castell, castell_in_place, naive_inverse, reduced_inverse
from deniable.estimation.lens import PointLens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SHAPES = [
    (2,) * 23,
    (4,) * 12,
    (10,) * 7,
    (16,) * 6,
    (64, 64, 64, 38),
    (512, 512, 38),
    (3162, 3162),
]
MOST_PASSES = 2.5
LEAST_GAIN = {64: 2.0, 512: 8.0}
MEMORY_SHAPE = (4,) * 12
GIB = 2**30


def main() -> None:
    """Print the tables; leave with 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.memory:
        print(memory_beyond_the_table())
        return
    repetitions = 4 if asked.quick else 9
    print(
        f"{'table':>14}{'cells':>9}{'pass ms':>9}{'castell ms':>11}{'passes/axis':>12}"
        f"{'product ms':>11}{'gain':>8}{f'×{numba.get_num_threads()} proc':>9}"
    )
    met = [compare_with_products(shape, repetitions) for shape in SHAPES]
    met.append(report_memory())
    compare_forms()
    sys.exit(0 if all(met) else 1)


def lenses_of(shape: Sequence[int]) -> list[PointLens]:
    """Return two coins with an uneven fake distribution for each axis."""
    rng = np.random.default_rng(1)
    return [PointLens(0.5, rng.dirichlet(np.ones(size))) for size in shape]


def took(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Return how long a piece of work took, in seconds."""
    began = clock()
    work()
    return clock() - began


def best(work: Callable[[], object], repetitions: int) -> float:
    """Return the shortest processor time of several, in seconds."""
    return min(took(work) for _ in range(repetitions))


def compare_with_products(shape: tuple[int, ...], repetitions: int) -> bool:
    """Print one line and tell whether the targets are met."""
    table = np.random.default_rng(2).random(shape)
    table /= table.sum()
    lenses = lenses_of(shape)
    flat = table.reshape(-1)
    inverses = [lens.invert.dense() for lens in lenses]
    castell_in_place(table, lenses)  # compiles
    processors = numba.get_num_threads()
    numba.set_num_threads(1)
    passes, times = [], []
    for _ in range(repetitions):
        passes.append(took(lambda: np.multiply(flat, 1.0, out=flat)))
        times.append(took(lambda: castell_in_place(table, lenses)))
    product = best(lambda: by_products(table, inverses), 1)
    alone = min(took(lambda: castell_in_place(table, lenses), time.perf_counter) for _ in passes)
    numba.set_num_threads(processors)
    shared = min(took(lambda: castell_in_place(table, lenses), time.perf_counter) for _ in passes)
    one_pass, ours = min(passes), min(times)
    each, gain = ours / one_pass / len(shape), product / ours
    name = f"{shape[0]}^{len(shape)}" if len(set(shape)) == 1 else "×".join(map(str, shape))
    met = each <= MOST_PASSES and gain >= LEAST_GAIN.get(shape[0], 1.0)
    print(
        f"{name:>14}{table.size / 1e6:7.1f} M{one_pass * 1e3:9.1f}{ours * 1e3:10.1f}"
        f"{each:11.2f}{product * 1e3:11.1f}{gain:9.1f}×{alone / shared:8.1f}×  {verdict(met=met)}",
        flush=True,
    )
    return met


def by_products(table: np.ndarray, inverses: Sequence[np.ndarray]) -> np.ndarray:
    """Apply dense inverses axis by axis with BLAS, never moving an axis."""
    for axis, inverse in enumerate(inverses):
        outer = math.prod(table.shape[:axis])
        size = table.shape[axis]
        table = np.matmul(inverse, table.reshape(outer, size, -1)).reshape(table.shape)
    return table


def memory_beyond_the_table() -> int:
    """Return how many bytes more are resident after inverting a table of 4¹² cells."""
    castell_in_place(np.ones((64, 64, 64)) / 64**3, lenses_of((64, 64, 64)))  # compiles
    table = np.full(MEMORY_SHAPE, 1 / 4**12)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    castell_in_place(table, lenses_of(MEMORY_SHAPE))
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024


def report_memory() -> bool:
    """Measure in a process of its own, and tell whether it stays under 1 GiB."""
    done = subprocess.run(
        [sys.executable, __file__, "--memory"], capture_output=True, text=True, check=True
    )
    extra = int(done.stdout)
    print(f"\n4^12 cells ({4**12 * 8 / GIB:.2f} GiB): {extra / GIB:.3f} GiB beyond the table")
    return extra < GIB


def compare_forms() -> None:
    """Print naive, reduced and castell on small tables (Kikuchi figure 8: d = 3, p = ½)."""
    print("\n  w  cells      naive    reduced    castell   (milliseconds, d = 3)")
    for ways in range(2, 8):
        shape = (3,) * ways
        lenses = lenses_of(shape)
        table = np.full(shape, 1 / 3**ways)
        forms = (naive_inverse, reduced_inverse, castell)
        times = [best(partial(form, table, lenses), 3) * 1e3 for form in forms]
        shown = " ".join(f"{one:10.3f}" for one in times)
        print(f"{ways:3d} {table.size:6d} {shown}")


if __name__ == "__main__":
    main()
