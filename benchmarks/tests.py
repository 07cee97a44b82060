"""Does the test of association keep its level, what does it notice, and how long does it take?

level   rejections at .05 of true hypotheses over a grid of levels, shapes, channels, margins
        and designs, from the fewest people on of whom the test speaks: in [.03, .06], to
        within what the benchmark's own chance explains.
power   of the default test, through the best channel and in two stages, beside the paper's
        Monte Carlo test at the same ε, n and association.
wanted  4 × 4 cells, ε = ¼, n = 600,000, an association on which the paper's test has .28:
        at least .95 in two stages at a level of at most .055.
speed   one test of 16 × 16 cells, and all pairs of 40 attributes from a million reports.

    ./run bench tests [level|power|wanted|speed] [--surveys 1000] [--only 4×4]
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from _measure import fastest, verdict
from _surveys import Ask

from deniable.channels import k_ary
from deniable.estimation.observation import observe
from deniable.inference import every_pair, monte_carlo, mutual, score_test
from deniable.inference.monte_carlo import monte_carlo_test
from deniable.planning.power import noncentrality_for
from deniable.planning.rehearsal import rehearse
from deniable.protocol import design_for
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from deniable.estimation.evidence import Evidence
    from deniable.inference import TestResult

LEVEL = 0.05
LOW, HIGH = 0.03, 0.06
SURE = 3.0
"""Standard errors of the benchmark's own chance that are allowed for."""

SHAPES = ((2, 2), (2, 3), (3, 3), (4, 4), (6, 6), (2, 2, 2), (2, 2, 2, 2))
LEVELS = (0.25, 0.5, 1.0, 2.0, 4.0)
WAYS = ("k-ary", "subset", "view", "blocks", "two-stage")
MARGINS = ("even", "skewed")
MOST_PEOPLE = 4_000_000
MOST_ROWS = 2e8
"""Reports drawn one by one in a line, beyond which it is left out."""

TABLES = 99
"""Tables that the paper's test simulates; the more, the oftener it accepts for a small cell."""

HALF = 0.5


def tested(source: Evidence) -> TestResult:
    """Return the default test of mutual independence."""
    observation = observe(source, source.names)
    return score_test(observation, mutual(observation.shape), "independent")


def speaks_from(ask: Ask) -> int | None:
    """Return about the fewest people of whom the test speaks nine times out of ten."""
    people, rng = 5 * ask.cells, np.random.default_rng(1)
    while people <= MOST_PEOPLE:
        found = [tested(one) for one in ask.surveys(ask.truth, people, 10, rng=rng)]
        if sum(not one.shortage for one in found) >= 9:
            return people
        people = math.ceil(people * 1.5)
    return None


def level(asked: argparse.Namespace) -> int:
    """Print the level over the grid; return how many places miss it."""
    missed = 0
    for shape, way, epsilon, margins in product(SHAPES, WAYS, LEVELS, MARGINS):
        ask = Ask(shape, way, epsilon, margins)
        too_large = way == "two-stage" and ask.cells > 16
        if too_large or not head_of(ask).startswith(asked.only):
            continue
        fewest = speaks_from(ask)
        if fewest is None:
            print(f"{head_of(ask)} too little data up to {MOST_PEOPLE:,} people", flush=True)
            continue
        for people in (fewest, 4 * fewest):
            if way == "subset" and ask.cells > 16 and people * asked.surveys > MOST_ROWS:
                continue
            missed += level_line(ask, people, asked.surveys)
    print(f"{missed} places of the grid miss the level by more than chance explains")
    return missed


def level_line(ask: Ask, people: int, times: int, highest: float = HIGH) -> bool:
    """Print one level; tell whether it misses by more than chance explains."""
    rng = np.random.default_rng([2, people])
    found = [tested(one) for one in ask.surveys(ask.truth, people, times, rng=rng)]
    spoken = [one.tail <= LEVEL for one in found if not one.shortage]
    wrong = sum(spoken) / max(len(spoken), 1)
    slack = SURE * math.sqrt(LEVEL * (1 - LEVEL) / max(len(spoken), 1))
    off = not LOW - slack <= wrong <= highest + slack
    mark = " MISSED" if off else ""
    print(f"{head_of(ask)} n = {people:<9,} {wrong:.4f} of {len(spoken)}{mark}", flush=True)
    return off


def head_of(ask: Ask) -> str:
    """Return a place of the grid as words."""
    shape = "×".join(map(str, ask.shape))
    return f"{shape} {ask.way} ε={ask.epsilon:g} {ask.margins}"


def associated(ask: Ask, people: int, power: float) -> np.ndarray | None:
    """Return a table whose score test of k-ary reports has a power; None if there is none.

    The association is along the diagonal: cells with equal places are commoner.
    """
    places = np.indices(ask.shape)
    same = np.all(places == places[0], axis=0).astype(float)
    for axis in range(same.ndim):  # without moving a margin
        others = tuple(a for a in range(same.ndim) if a != axis)
        share = ask.truth.sum(axis=others, keepdims=True)
        same -= (same * ask.truth).sum(axis=others, keepdims=True) / share
        same += (same * ask.truth).sum()
    direction = ask.truth * same
    channel = k_ary(ask.epsilon, ask.cells)
    truth = channel.head / 2**32
    seen = truth * ask.truth + (1 - truth) / ask.cells
    unit = people * truth**2 * float((direction**2 / seen).sum())
    size = math.sqrt(noncentrality_for(power, mutual(ask.shape).freedom) / unit)
    table: np.ndarray = ask.truth + size * direction
    return table if table.min() > 0 else None


def power(asked: argparse.Namespace) -> int:
    """Print the powers side by side; return how often the paper's is above ours."""
    missed = 0
    print("the paper's, the same reports, the best channel, two stages; power at .05")
    for shape, epsilon, margins in product(SHAPES, LEVELS, MARGINS):
        ask = Ask(shape, "k-ary", epsilon, margins)
        if not head_of(ask).startswith(asked.only):
            continue
        fewest = speaks_from(ask)
        truth = None if fewest is None else associated(ask, 4 * fewest, HALF)
        if fewest is None or truth is None:
            print(f"{head_of(ask)} no association that strong", flush=True)
            continue
        rates = [paper_rate(ask, truth, 4 * fewest, asked.surveys)]
        for way in ("k-ary", "subset", "two-stage"):
            if way == "two-stage" and ask.cells > 16:
                continue
            other = Ask(shape, way, epsilon, margins)
            rates.append(rate(other, truth, 4 * fewest, asked.surveys))
        slack = SURE * math.sqrt(0.25 / asked.surveys)
        worse = rates[0] > max(rates[1:]) + slack
        missed += worse
        shown = "  ".join(f"{one:.3f}" for one in rates)
        name = head_of(ask).replace(" k-ary", "")
        print(f"{name:24} n = {4 * fewest:<9,} {shown}{' MISSED' if worse else ''}", flush=True)
    return missed


def rate(ask: Ask, truth: np.ndarray, people: int, times: int) -> float:
    """Return how often the default test rejects; too little data rejects nothing."""
    rng = np.random.default_rng([3, people])
    found = [tested(one) for one in ask.surveys(truth, people, times, rng=rng)]
    return sum(one.tail <= LEVEL and not one.shortage for one in found) / times


def paper_rate(ask: Ask, truth: np.ndarray, people: int, times: int) -> float:
    """Return how often the paper's Monte Carlo test rejects, through k-ary channels."""
    rng = np.random.default_rng([3, people])
    hits = 0
    for one in ask.surveys(truth, people, times, rng=rng):
        seen = observe(one, one.names)
        found = monte_carlo_test(seen, mutual(seen.shape), "x", rng=rng, tables=TABLES)
        hits += found.tail <= LEVEL
    return hits / times


def wanted(asked: argparse.Namespace) -> int:
    """Print the target's own survey; return how many of its numbers miss."""
    people, times = 600_000, asked.surveys
    plain, staged = Ask((4, 4), "k-ary", 0.25), Ask((4, 4), "two-stage", 0.25)
    truth = associated(plain, people, asked.score)
    if truth is None:
        raise AssertionError
    paper = paper_rate(plain, truth, people, 4 * times)
    print(f"the paper's test, {TABLES} tables            {paper:.3f}")
    before, monte_carlo.FEWEST = monte_carlo.FEWEST, -math.inf
    freed = paper_rate(plain, truth, people, 4 * times)
    monte_carlo.FEWEST = before
    print(f"  without accepting for cells below 5  {freed:.3f}")
    print(f"score test of the same reports         {rate(plain, truth, people, 4 * times):.3f}")
    subset = rate(Ask((4, 4), "subset", 0.25), truth, people, times)
    print(f"score test, subset selection           {subset:.3f}", flush=True)
    found = rate(staged, truth, people, times)
    print(f"score test, two stages                 {found:.3f} {verdict(met=found >= 0.95)}")
    return (found < 0.95) + level_line(staged, people, times, 0.055)


def speed(asked: argparse.Namespace) -> int:
    """Print how long tests take; return how many are too slow."""
    del asked
    rng = np.random.default_rng(4)
    worst = 0.0
    for way in ("k-ary", "view"):
        ask = Ask((16, 16), way, 2.0)
        (source,) = ask.surveys(ask.truth, 1_000_000, 1, rng=rng)
        took = fastest(lambda source=source: tested(source))
        worst = max(worst, took)
        print(f"one test of 16 × 16, {way:6} {1e3 * took:8.1f} ms {verdict(met=took < 0.02)}")
    names = [f"q{place}" for place in range(40)]
    schema = Schema(tuple(Attribute.nominal(name, ["a", "b", "c"]) for name in names))
    design = design_for(Survey("pairs", schema, Privacy(1.0, "ask-one")))
    tally = rehearse(design, rng.integers(0, 3, (1_000_000, 40)))
    began = time.process_time()
    every_pair(tally, names, rng=rng)
    took = time.process_time() - began
    print(f"all pairs of 40 from a million {took:6.1f} s  {verdict(met=took < 60)}")
    return (worst >= 0.02) + (took >= 60)


QUESTIONS = {"level": level, "power": power, "wanted": wanted, "speed": speed}


def main() -> None:
    """Print what was asked for; leave with 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("question", nargs="?", choices=list(QUESTIONS))
    parser.add_argument("--surveys", type=int, default=1000, help="surveys of each line")
    parser.add_argument("--only", default="", help="places whose words begin so: 4×4 k-ary")
    parser.add_argument("--score", type=float, default=0.33, help="wanted: the score's power")
    asked = parser.parse_args()
    chosen = [asked.question] if asked.question else list(QUESTIONS)
    sys.exit(1 if sum(QUESTIONS[name](asked) for name in chosen) else 0)


if __name__ == "__main__":
    main()
