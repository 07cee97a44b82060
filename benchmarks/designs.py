"""Ask each respondent one random pair, or split ε over a whole view?

The variance of a cell of a pair under the design ``views`` (every attribute asked, ε divided
among the groups) over that under ``ask-one`` (one pair, the whole ε), by the planner's closed
formulas at the same record-level ε; above 1 asking one pair is better. With --check some of
the figures are simulated.

    ./run bench designs [--check]
"""

from __future__ import annotations

import argparse

import numpy as np

from deniable.planning import check, plan
from deniable.schema import Attribute, Privacy, Schema, Survey

COUNTS = (6, 20, 36)
LEVELS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)


def main() -> None:
    """Print the ratios by number of attributes and level, and where the view begins to win."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="simulate the first of them")
    asked = parser.parse_args()
    for size in (2, 4):
        print(f"\nAttributes of {size} cells: variance of views k=2 over that of ask-one k=2")
        print("   d  " + "".join(f"ε = {level:<7g}" for level in LEVELS) + "view wins from ε")
        for count in COUNTS:
            ratios = [ratio_of(count, size, level) for level in LEVELS]
            print(
                f"  {count:>2}  " + "".join(f"{r:<11.3g}" for r in ratios) + crossing(count, size)
            )
    if asked.check:
        simulate(6, 2, 2.0)


def survey_of(count: int, size: int, epsilon: float) -> Survey:
    """Return a survey of equal attributes that asks one pair of each respondent."""
    names = [f"c{cell}" for cell in range(size)]
    attributes = tuple(Attribute.nominal(f"q{place}", names) for place in range(count))
    return Survey("bench", Schema(attributes), Privacy(epsilon, "ask-one", {"k": 2}))


def ratio_of(count: int, size: int, epsilon: float) -> float:
    """Return how many times the variance of a cell is larger under a whole view.

    All attributes are alike, so one pair stands for all.
    """
    made = plan(survey_of(count, size, epsilon), 1, tables=[["q0", "q1"]])
    one, view = made.option("ask-one k=2"), made.option("views k=2")
    return view.tables[0].variance / one.tables[0].variance


def crossing(count: int, size: int) -> str:
    """Return the level from which the view is better, to a tenth, if there is one below 44."""
    low, high = 1.0, 43.0
    if ratio_of(count, size, high) > 1:
        return "never"
    while high - low > 0.1:
        middle = (low + high) / 2
        low, high = (low, middle) if ratio_of(count, size, middle) < 1 else (middle, high)
    return f"{high:.1f}"


def simulate(count: int, size: int, epsilon: float) -> None:
    """Simulate one of the figures."""
    made = plan(survey_of(count, size, epsilon), 20_000, tables=[["q0", "q1"]])
    squares = {}
    for label in ("ask-one k=2", "views k=2"):
        found = check(made.looking_at(label), rng=np.random.default_rng(1), rounds=300)
        squares[label] = found.tables[0].simulated ** 2
    ratio = squares["views k=2"] / squares["ask-one k=2"]
    print(f"\nsimulated, d = {count}, {size} cells, ε = {epsilon:g}: {ratio:.2f}")
    print(f"by formula: {ratio_of(count, size, epsilon):.2f}")


if __name__ == "__main__":
    main()
