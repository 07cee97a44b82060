"""How long do all pairs of 20 attributes take, with a million respondents in blocks?

Carries RRBA out on known answers – 19 views of ten pairs, channels that change after every
block – and estimates all 190 tables by pooled likelihood, with their intervals. Prints the
processor time of both, the most memory the process held (the answers are in it), and how
often the intervals hold the truth.

    ./run bench pairs [--quick] [--block 2000]
"""

from __future__ import annotations

import argparse
import math
import resource
import sys
import time
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from _measure import verdict

from deniable.bulk.simulate import chain
from deniable.estimation import method_named
from deniable.planning.rehearsal import rehearse
from deniable.protocol import Design, design_for
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.protocol import Tally

SIZES = (2, 2, 3, 4, 2, 5, 3, 2, 4, 6, 2, 3, 2, 4, 5, 2, 3, 8, 2, 4)
NAMES = tuple(f"q{place}" for place in range(len(SIZES)))
PEOPLE, QUICK = 1_000_000, 50_000
EPSILON = 10.0
BLOCK = 250
MOST_SECONDS = 60.0
MOST_BYTES = 2 * 2**30
LEVEL = 0.95


def main() -> None:
    """Print the figures; leave with 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help=f"{QUICK:,} respondents")
    parser.add_argument("--block", type=int, default=BLOCK, help="respondents a block and view")
    asked = parser.parse_args()
    design, answers = made_up(QUICK if asked.quick else PEOPLE, asked.block)

    began = time.process_time()
    tally = rehearse(design, answers)
    simulated = time.process_time() - began
    held, width = estimated(tally, answers)
    spent = time.process_time() - began
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    print(f"{len(answers):,} respondents, {len(tally.blocks)} blocks of {asked.block} a view")
    print(f"  simulated        {simulated:6.1f} s processor time")
    print(f"  190 tables       {spent - simulated:6.1f} s, mean half-width {width:.3f}")
    print(f"  intervals hold   {held:6.1%} of the cells, promised {LEVEL:.0%}")
    print(f"  both             {spent:6.1f} s   under {MOST_SECONDS:.0f} s: ", end="")
    print(verdict(met=spent < MOST_SECONDS))
    print(f"  most memory      {most / 2**30:6.2f} GiB   under 2: {verdict(met=most < MOST_BYTES)}")
    sys.exit(0 if spent < MOST_SECONDS and most < MOST_BYTES else 1)


def made_up(people: int, block: int) -> tuple[Design, NDArray[np.int64]]:
    """Return the design, and answers each of which hangs on the one before."""
    rng = np.random.default_rng(1)
    drawn = chain(dict(zip(NAMES, SIZES, strict=True)), 0.5, rng=rng).draw(people, rng=rng)
    answers = np.stack([drawn[name].to_numpy() for name in NAMES], axis=1)
    attributes = tuple(
        Attribute.nominal(name, [f"c{cell}" for cell in range(size)])
        for name, size in zip(NAMES, SIZES, strict=True)
    )
    views = len(SIZES) - 1
    privacy = Privacy(EPSILON, "rrba", {"block_size": views * block})
    return design_for(Survey("bench", Schema(attributes), privacy)), answers


def estimated(tally: Tally, answers: NDArray[np.int64]) -> tuple[float, float]:
    """Estimate every pair; return how often intervals hold the truth and their mean half-width."""
    rng = np.random.default_rng(2)
    give = method_named("maximum-likelihood").prepare(tally, rng=rng)
    held, widths = [], []
    for pair in combinations(range(len(SIZES)), 2):
        found = give([NAMES[place] for place in pair]).interval(LEVEL)
        shape = tuple(SIZES[place] for place in pair)
        cells = np.ravel_multi_index(tuple(answers[:, place] for place in pair), shape)
        truth = np.bincount(cells, minlength=math.prod(shape)).reshape(shape) / len(answers)
        held.append((found.low <= truth) & (truth <= found.high))
        widths.append((found.high - found.low) / 2)
    return (
        float(np.mean(np.concatenate([one.reshape(-1) for one in held]))),
        float(np.mean(np.concatenate([one.reshape(-1) for one in widths]))),
    )


if __name__ == "__main__":
    main()
