"""Does the test of association keep its level, what does it notice, and how long does it take?

level   rejections at .05 of true hypotheses over a grid of levels, shapes, channels, margins
        and designs, from the fewest people on of whom the test speaks: in [.03, .06], to
        within what the benchmark's own chance explains.
power   of the default test, through the best channel and in two stages, beside the paper's
        Monte Carlo test at the same ε, n and association.
wanted  4 × 4 cells, ε = ¼, n = 600,000, an association on which the paper's test has .28:
        at least .95 in two stages at a level of at most .055.
speed   one test of 16 × 16 cells, and all pairs of 40 attributes from a million reports.

    ./run bench tests [level|power|wanted|speed] [--surveys 200] [--only '4×4 k-ary' …]
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
from _rates import ALPHA, Grid, Rate, Score
from _surveys import Ask

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
STEP = 1.5

SHAPES = ((2, 2), (2, 3), (3, 3), (4, 4), (6, 6), (2, 2, 2), (2, 2, 2, 2))
LEVELS = (0.25, 0.5, 1.0, 2.0, 4.0)
WAYS = ("k-ary", "subset", "view", "blocks", "two-stage")
MARGINS = ("even", "skewed")
MOST_PEOPLE = 4_000_000

TABLES = 99
"""Tables that the paper's test simulates; the more, the oftener it accepts for a small cell."""

HALF = 0.5


def tested(source: Evidence) -> TestResult:
    """Return the default test of mutual independence."""
    observation = observe(source, source.names)
    return score_test(observation, mutual(observation.shape), "independent")


def speaks_from(ask: Ask) -> int | None:
    """Return about the fewest people of whom the test speaks nine times out of ten.

    Where a second channel takes long to find, those are taken that one stage needs.
    """
    if ask.way == "two-stage" and ask.cells > 9:
        return speaks_from(Ask(ask.shape, "subset", ask.epsilon, ask.margins))
    tries, rng = max(4, round(10 * lightness(ask))), np.random.default_rng(1)

    def speaks(step: int) -> bool:
        people = people_at(ask, step)
        found = [tested(one) for one in ask.surveys(ask.truth, people, tries, rng=rng)]
        return sum(not one.shortage for one in found) >= 0.9 * tries

    most = math.floor(math.log(MOST_PEOPLE / (5 * ask.cells)) / math.log(STEP))
    low, high = -1, 2
    while not speaks(high):
        if high == most:
            return None
        low, high = high, min(high + 5, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if speaks(middle) else (middle, high)
    return people_at(ask, high)


def people_at(ask: Ask, step: int) -> int:
    """Return so many people, more by half with every step."""
    return math.ceil(5 * ask.cells * STEP**step)


def lightness(ask: Ask) -> float:
    """Return the share of the usual number of surveys that a place is given."""
    if ask.way == "two-stage" and ask.cells > 9:
        return 0.1
    return 0.05 if ask.way == "subset" and ask.cells > 16 and ask.epsilon < 1 else 1.0


def level(asked: argparse.Namespace) -> int:
    """Print the level over the grid; return how many places miss it."""
    grid = Grid()
    for shape, way, epsilon, margins in product(SHAPES, WAYS, LEVELS, MARGINS):
        ask = Ask(shape, way, epsilon, margins)
        too_large = way == "two-stage" and ask.cells > 16
        alike = way == "subset" and ask.channels == Ask(shape, "k-ary", epsilon).channels
        if too_large or alike or not head_of(ask).startswith(tuple(asked.only) or ""):
            continue
        fewest = speaks_from(ask)
        if fewest is None:
            print(f"{head_of(ask)} too little data up to {MOST_PEOPLE:,} people", flush=True)
            continue
        for times in (1, 4):
            people = times * fewest
            name = f"{head_of(ask)} n = {people:,}"

            def count(
                number: int, more: int, names: list[str], ask: Ask = ask, people: int = people
            ) -> dict[str, Score]:
                surveys = max(20, round(asked.surveys * lightness(ask))) * more
                return {
                    name: Score(level_of(ask, people, surveys, seed=2 + number)) for name in names
                }

            grid.look({name: [*head_of(ask).split(), f"{times} × fewest"]}, count)
    return grid.verdict()


def level_of(ask: Ask, people: int, times: int, *, seed: int, highest: float = HIGH) -> Rate:
    """Return how many of the surveys of which the test speaks are rejected."""
    rng = np.random.default_rng([seed, people])
    found = [tested(one) for one in ask.surveys(ask.truth, people, times, rng=rng)]
    spoken = [one.tail <= LEVEL for one in found if not one.shortage]
    return Rate(sum(spoken), len(spoken), LOW, highest)


def head_of(ask: Ask) -> str:
    """Return a place of the grid as words."""
    shape = "×".join(map(str, ask.shape))
    return f"{shape} {ask.way} ε={ask.epsilon:g} {ask.margins}"


def associated(ask: Ask, people: int, power: float) -> np.ndarray | None:
    """Return a table that the score test notices with some power; None if there is none.

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
    tried = 0.1 * float((ask.truth / np.abs(direction).clip(1e-12)).min())
    # What is expected of very many people has the noncentrality for its statistic.
    many = 1e10
    unit = tested(ask.expected(ask.truth + tried * direction, many)).statistic / many
    wanted = noncentrality_for(power, mutual(ask.shape).freedom)
    table: np.ndarray = ask.truth + tried * math.sqrt(wanted / (people * unit)) * direction
    return table if table.min() > 0 else None


def power(asked: argparse.Namespace) -> int:
    """Print the powers side by side; return how often the paper's is above ours.

    Both tests are held to the same reports, and what only one of them rejects is compared
    (McNemar): of that at least half should be ours.
    """
    print("ours and the paper's, the same reports, power at .05; the share only ours rejects")
    grid = Grid()
    for shape, way, epsilon, margins in product(SHAPES, WAYS[:4], LEVELS, MARGINS):
        ask = Ask(shape, way, epsilon, margins)
        if not (ask.is_listed and head_of(ask).startswith(tuple(asked.only) or "")):
            continue
        people, truth = noticed(ask)
        if truth is None:
            print(f"{head_of(ask)} no association that strong", flush=True)
            continue

        def count(
            number: int,
            more: int,
            names: list[str],
            ask: Ask = ask,
            people: int = people,
            truth: np.ndarray = truth,
        ) -> dict[str, Score]:
            found = contest(ask, truth, people, asked.surveys * more, seed=7 + number)
            return dict.fromkeys(names, found)

        grid.look({f"{head_of(ask)} n = {people:,}": head_of(ask).split()}, count)
    return grid.verdict()


def noticed(ask: Ask) -> tuple[int, np.ndarray | None]:
    """Return a table of which the score test notices half, and of how many people."""
    people = speaks_from(ask) or MOST_PEOPLE
    for times in (4, 16, 64):
        truth = associated(ask, times * people, HALF)
        if truth is not None:
            return times * people, truth
    return people, None


def contest(ask: Ask, truth: np.ndarray, people: int, times: int, *, seed: int) -> Score:
    """Return which of two tests of the same surveys rejects where only one of them does."""
    rng = np.random.default_rng([seed, people])
    ours, paper, only_ours, only_one = 0, 0, 0, 0
    for one in ask.surveys(truth, people, times, rng=rng):
        seen = observe(one, one.names)
        found = score_test(seen, mutual(seen.shape), "x")
        mine = found.tail <= LEVEL and not found.shortage
        other = monte_carlo_test(seen, mutual(seen.shape), "x", rng=rng, tables=TABLES)
        theirs = other.tail <= LEVEL
        ours, paper = ours + mine, paper + theirs
        only_ours, only_one = only_ours + (mine and not theirs), only_one + (mine != theirs)
    told = f"ours {ours / times:.3f}, the paper's {paper / times:.3f}"
    return Score(Rate(only_ours, only_one, HALF, 1.0), told=told)


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
    kept = level_of(staged, people, times, seed=2, highest=0.055)
    off = kept.tail() < ALPHA
    print(f"rejected without association           {kept} {verdict(met=not off)}")
    return (found < 0.95) + off


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
    parser.add_argument("--surveys", type=int, default=200, help="surveys of a first look")
    parser.add_argument("--only", default=(), nargs="*", help="places that begin so: '4×4 k-ary'")
    parser.add_argument("--score", type=float, default=0.33, help="wanted: the score's power")
    asked = parser.parse_args()
    chosen = [asked.question] if asked.question else list(QUESTIONS)
    sys.exit(1 if sum(QUESTIONS[name](asked) for name in chosen) else 0)


if __name__ == "__main__":
    main()
