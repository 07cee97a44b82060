"""Do the intervals of a table hold as often as they say?

Draws surveys from known tables through real channels, estimates them, and counts how many 95 %
intervals hold the truth, for what a user sees: the table itself, margins, conditions, cells
all at once, and the default's tables out of a model of the whole joint. Where asymptotics
apply 94–96 % is looked for, in sparse tables 93 % or more in every cell. Where that cannot be
had the interval must say so: those are listed last.

    ./run bench intervals [--surveys 2000] [--quick]
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
from _measure import verdict

from deniable.channels import best, k_ary, optimized_unary, rounded_laplace, subset, two_coin
from deniable.estimation import Experiment, method_named
from deniable.estimation.study import Study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from deniable.estimation import Table

    Array = np.ndarray
    Held = tuple[Array, Array]

LOW, HIGH, SPARSE = 0.94, 0.96, 0.93
LEVEL = 0.95
SURE = 3.0
"""Standard errors of the benchmark's own chance that are allowed for."""

PAIR = np.array([[0.3, 0.2, 0.1], [0.05, 0.25, 0.1]])
SLOW = 0.2
"""Of the surveys: where a model of the whole joint is fitted to each."""

TOGETHER, APART = ((0, 1),), ((0,), (1,))
COINS = [
    two_coin(1.5, [*turn]) for turn in ([0.3, 0.2, 0.2, 0.1, 0.1, 0.1], [0.1] * 3 + [0.2, 0.2, 0.3])
]


def chain(seed: int, sizes: tuple[int, ...]) -> Array:
    """Return a joint distribution in which each attribute leans on the one before."""
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.full(sizes[0], 2.0))
    for before, size in pairwise(sizes):
        table = table[..., None] * rng.dirichlet(np.full(size, 1.0), before)
    return table


WHOLE = chain(5, (3, 4, 2, 3))
NAMES = ("a", "b", "c", "d")


def pair(*experiments: Experiment) -> Study:
    """Ask two attributes of one population."""
    return Study(("a", "b"), PAIR, experiments)


DENSE = {
    "two coins": pair(Experiment(20_000, (COINS[0],), TOGETHER)),
    "two coins, 2 blocks": pair(*(Experiment(10_000, (coin,), TOGETHER) for coin in COINS)),
    "k-ary": pair(Experiment(10_000, (k_ary(1.5, 6),), TOGETHER)),
    "k-ary, apart": pair(Experiment(20_000, (k_ary(1.0, 2), k_ary(1.0, 3)), APART)),
    "k-ary, 3 views": pair(
        Experiment(8000, (k_ary(1.5, 6),), TOGETHER),
        Experiment(8000, (k_ary(1.5, 2),), ((0,),)),
        Experiment(8000, (k_ary(1.5, 3),), ((1,),)),
    ),
    "subset": pair(Experiment(10_000, (subset(1.0, 6, 2),), TOGETHER)),
    "bits": pair(Experiment(10_000, (optimized_unary(1.5, 6),), TOGETHER)),
    "rounded Laplace": pair(Experiment(10_000, (rounded_laplace(5.0, 6),), TOGETHER)),
}


def alone(shares: list[float], people: int, channel: object) -> Study:
    """Ask one attribute."""
    return Study(("a",), np.array(shares), (Experiment(people, (channel,), ((0,),)),))  # type: ignore[arg-type]


RARE = [0.9, 0.06, 0.03, 0.01]
THIN = {
    "n = 1,000, ε = 2, rare": alone(RARE, 1000, k_ary(2.0, 4)),
    "n = 300, ε = 3, empty cells": alone([0.6, 0.4, 0.0, 0.0], 300, k_ary(3.0, 4)),
    "n = 50, ε = 1": alone([0.7, 0.3], 50, k_ary(1.0, 2)),
    "n = 100, ε = 4, rare": alone([0.97, 0.02, 0.01], 100, k_ary(4.0, 3)),
    "n = 2,000, subset, 8 empty": alone([0.8, 0.1, 0.05, 0.05, *[0.0] * 8], 2000, subset(1.0, 12)),
    "n = 2,000, bits, rare": alone(RARE, 2000, optimized_unary(1.0, 4)),
    "n = 500, apart, rare": Study(
        ("a", "b"),
        np.outer(RARE, [0.7, 0.3]),
        (Experiment(500, (k_ary(3.0, 4), k_ary(3.0, 2)), APART),),
    ),
    "n = 300, apart, 24 cells": Study(
        ("a", "b"), chain(2, (4, 6)), (Experiment(300, (k_ary(2.0, 4), k_ary(2.0, 6)), APART),)
    ),
}
TINY = {
    f"n = {people}, ε = 1": alone([0.8, 0.15, 0.05], people, k_ary(1.0, 3))
    for people in (5, 10, 20)
}


@dataclass(frozen=True)
class Case:
    """One line: what is shown to a user, and what is asked of it."""

    name: str
    held: Callable[[np.random.Generator], Iterator[Array]]
    sparse: bool = False
    share: float = 1.0
    """Of the surveys asked for: slow fits get fewer."""


def of(study: Study, method: str) -> Callable[[np.random.Generator], Iterator[Array]]:
    """Return which cells of each survey's table hold."""

    def held(rng: np.random.Generator) -> Iterator[Array]:
        while True:
            yield table_of(study, method, rng).interval(LEVEL).covers(study.truth).reshape(-1)

    return held


def table_of(study: Study, method: str, rng: np.random.Generator) -> Table:
    """Return one survey's table of all attributes."""
    return method_named(method).estimate(study.draw(rng), study.names, rng=rng)


def margins(study: Study) -> Callable[[np.random.Generator], Iterator[Array]]:
    """Return which cells of the marginal tables hold."""

    def held(rng: np.random.Generator) -> Iterator[Array]:
        while True:
            table = table_of(study, "maximum-likelihood", rng)
            yield np.concatenate(
                [
                    table.marginalize([name]).interval(LEVEL).covers(study.truth.sum(axis=1 - axis))
                    for axis, name in enumerate(study.names)
                ]
            )

    return held


def conditions(study: Study) -> Callable[[np.random.Generator], Iterator[Array]]:
    """Return which cells of the conditional tables hold."""

    def held(rng: np.random.Generator) -> Iterator[Array]:
        while True:
            table = table_of(study, "maximum-likelihood", rng)
            yield np.concatenate(
                [
                    table.condition({"a": row}).interval(LEVEL).covers(shares / shares.sum())
                    for row, shares in enumerate(study.truth)
                ]
            )

    return held


def at_once(study: Study) -> Callable[[np.random.Generator], Iterator[Array]]:
    """Return whether all cells hold at once."""

    def held(rng: np.random.Generator) -> Iterator[Array]:
        while True:
            interval = table_of(study, "unbiased", rng).interval(LEVEL, simultaneous=True)
            yield np.array([interval.covers(study.truth).all()])

    return held


def asked_apart(people: int, epsilon: float) -> Study:
    """Ask everybody every attribute, each with the whole ε."""
    channels = tuple(k_ary(epsilon, size) for size in WHOLE.shape)
    axes = tuple((axis,) for axis in range(WHOLE.ndim))
    return Study(NAMES, WHOLE, (Experiment(people, channels, axes),))


def asked_one_triple(people: int, epsilon: float) -> Study:
    """Ask each of the people one group of three attributes."""
    groups = list(combinations(range(WHOLE.ndim), 3))
    sizes = [math.prod(WHOLE.shape[axis] for axis in group) for group in groups]
    share = people // len(groups)
    return Study(
        NAMES,
        WHOLE,
        tuple(
            Experiment(share, (best(epsilon, size),), (group,))
            for group, size in zip(groups, sizes, strict=True)
        ),
    )


def whole_joint(study: Study) -> Callable[[np.random.Generator], Iterator[Array]]:
    """Return which cells of all the default's tables of two and three attributes hold."""

    def held(rng: np.random.Generator) -> Iterator[Array]:
        while True:
            give = method_named("default").prepare(study.draw(rng), rng=rng)
            found = []
            for width in (2, 3):
                for kept in combinations(range(WHOLE.ndim), width):
                    truth = WHOLE.sum(axis=tuple(a for a in range(WHOLE.ndim) if a not in kept))
                    table = give([NAMES[axis] for axis in kept])
                    found.append(table.interval(LEVEL).covers(truth).reshape(-1))
            yield np.concatenate(found)

    return held


def cases() -> list[Case]:
    """Return everything that is measured, in the order in which it is printed."""
    found = [Case(f"unbiased: {name}", of(study, "unbiased")) for name, study in DENSE.items()]
    apart = DENSE["k-ary, apart"]
    found += [
        Case(f"{method}: k-ary, apart", of(apart, method), share=0.25)
        for method in ("default", "maximum-likelihood", "projected")
    ]
    found += [
        Case("margins: k-ary, apart", margins(DENSE["k-ary, apart"])),
        Case("conditions: k-ary, apart", conditions(DENSE["k-ary, apart"])),
        Case(
            "whole joint: n = 20,000, ε = 2 each",
            whole_joint(asked_apart(20_000, 2.0)),
            share=SLOW,
        ),
        Case(
            "whole joint: n = 20,000, one triple, ε = 3",
            whole_joint(asked_one_triple(20_000, 3.0)),
            share=SLOW,
        ),
        Case(
            "whole joint: n = 4,000, ε = 1 each",
            whole_joint(asked_apart(4000, 1.0)),
            sparse=True,
            share=SLOW,
        ),
        Case("all at once: k-ary", at_once(DENSE["k-ary"]), sparse=True),
        Case("all at once: rare", at_once(THIN["n = 1,000, ε = 2, rare"]), sparse=True),
    ]
    return found + [
        Case(f"unbiased: {name}", of(study, "unbiased"), sparse=True)
        for name, study in THIN.items()
    ]


def measured(case: Case, surveys: int) -> bool:
    """Print one line and tell whether its target is met."""
    draws = case.held(np.random.default_rng(5))
    number = max(8, round(surveys * case.share))
    held = np.array([next(draws) for _ in range(number)])
    each = held.mean(axis=1)
    mean, noise = each.mean(), SURE * each.std(ddof=1) / np.sqrt(number)
    cells = held.mean(axis=0)
    if case.sparse:
        least = cells.min() if number >= 400 else mean
        spread = SURE * np.sqrt(SPARSE * (1 - SPARSE) / number) if number >= 400 else noise
        met = bool(least >= SPARSE - spread)
    else:
        met = bool(LOW - noise <= mean <= HIGH + noise)
    wanted = "93 % in every cell" if case.sparse else "94–96 %"
    print(
        f"{case.name:48}{number:6}{mean:9.1%}{cells.min():9.1%}{cells.max():9.1%}   "
        f"{wanted:20}{verdict(met=met)}",
        flush=True,
    )
    return met


def main() -> None:
    """Print the table; leave with 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--surveys", type=int, default=2000)
    parser.add_argument("--quick", action="store_true", help="a fifth of the surveys")
    asked = parser.parse_args()
    surveys = max(50, asked.surveys // (5 if asked.quick else 1))
    print(
        f"{'cells whose 95 % interval holds':48}{'n':>6}{'mean':>9}{'least':>9}{'most':>9}   wanted"
    )
    met = [measured(case, surveys) for case in cases()]
    print("\nWhere it cannot be had, and what the interval says:")
    for name, study in TINY.items():
        rng = np.random.default_rng(6)
        held, caveats = [], set()
        for _ in range(surveys):
            interval = table_of(study, "unbiased", rng).interval(LEVEL)
            held.append(interval.covers(study.truth))
            caveats.add(interval.caveat)
        met.append(all(caveats))
        print(f"  {name:20}{np.mean(held):8.1%}   {', '.join(sorted(caveats))}")
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
