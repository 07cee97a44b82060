"""How honest are derived measures: their standard errors and their intervals?

Draws surveys from known tables through real channels and derives every measure from each.
Where the delta method was used, its standard error is held beside the standard deviation of
the estimates; every 95 % interval is held to the truth, however it was found. What is looked
for: a ratio within 5 % of 1, coverage of 94–96 %, each to within what chance explains: places
outside are looked at again with more surveys, as ``_rates`` says. A measure that says that
its interval is not to be had is counted apart.

    ./run bench measures [--surveys 200] [--only TABLE] [--method default]
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from _rates import Grid, Rate, Ratio, Score

from deniable.channels import best, k_ary
from deniable.estimation.bound import Experiment, likelihood_of
from deniable.estimation.evidence import Batch, Evidence
from deniable.estimation.registry import estimate
from deniable.inference.catalogue import MEASURES
from deniable.inference.derive import derive
from deniable.inference.measure import Setting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from deniable.channels import Channel
    from deniable.estimation.table import Table
    from deniable.inference import Estimate

    Array = NDArray[np.float64]

LOW, HIGH = 0.94, 0.96
MOST_OFF = 0.05
ORDINAL = np.array([[0.18, 0.10, 0.04], [0.10, 0.16, 0.10], [0.04, 0.10, 0.18]])
NEARLY = np.outer([0.2, 0.3, 0.5], [0.3, 0.3, 0.4])
PULL = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
TABLES = {
    "2×2 strong": np.array([[0.3, 0.2], [0.1, 0.4]]),
    "2×2 rare": np.array([[0.82, 0.08], [0.06, 0.04]]),
    "2×2 independent": np.outer([0.3, 0.7], [0.4, 0.6]),
    "3×3 ordinal": ORDINAL,
    "3×3 weak": NEARLY + 0.02 * PULL,
    "3×3 independent": NEARLY,
    "4×4 even": np.full((4, 4), 1 / 16) + 0.02 * (np.eye(4) - 0.25),
}
SETTINGS = [
    ("one cell", 1.0, 20_000),
    ("one cell", 2.0, 2_000),
    ("apart", 2.0, 20_000),
    ("best", 0.5, 100_000),
    ("one cell", 20.0, 1_000),
]


@dataclass(frozen=True, slots=True)
class Survey:
    """A table, and how it is asked."""

    name: str
    truth: Array
    way: str
    epsilon: float
    people: int

    def channels(self) -> tuple[tuple[Channel, ...], tuple[tuple[int, ...], ...]]:
        """Return the channels and which attributes each is of."""
        if self.way == "apart":
            each = tuple(k_ary(self.epsilon / 2, size) for size in self.truth.shape)
            return each, ((0,), (1,))
        make = best if self.way == "best" else k_ary
        return (make(self.epsilon, self.truth.size),), ((0, 1),)

    def tables(self, surveys: int, method: str, rng: np.random.Generator) -> Iterator[Table]:
        """Yield the estimated table of each of many surveys."""
        channels, groups = self.channels()
        experiment = Experiment(self.people, channels, groups)
        seen = likelihood_of(experiment, self.truth.shape) @ self.truth.reshape(-1)
        listed = list(product(*(list(channel.reports()) for channel in channels)))
        columns = tuple(np.array([one[g] for one in listed]) for g in range(len(groups)))
        for counts in rng.multinomial(self.people, seen / seen.sum(), size=surveys):
            batch = Batch(groups, channels, columns, counts.astype(np.int64))
            evidence = Evidence(("a", "b"), self.truth.shape, (batch,))
            yield estimate(evidence, ["a", "b"], rng=rng, method=method)


@dataclass(slots=True)
class Fared:
    """How one measure fared in one survey design."""

    values: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    hows: Counter[str] = field(default_factory=Counter)
    inside: int = 0

    def add(self, found: Estimate, truth: float) -> None:
        """Add what one survey said."""
        self.hows[found.how] += 1
        self.values.append(found.value)
        if found.error_how == "delta":
            self.errors.append(found.standard_error)
        self.inside += found.interval().holds(truth)

    def score(self) -> Score:
        """Return the coverage, and the ratio where the delta method was the rule."""
        times = len(self.values)
        ratio = None
        if len(self.errors) > 0.9 * times:
            values = np.array(self.values)
            spread = float(np.std(values))
            # The standard deviation's own error knows how heavy the tails are.
            beyond = float(np.mean((values - values.mean()) ** 4)) / spread**4 - 1
            error = math.sqrt(max(beyond, 0.5) / (4 * times))
            ratio = Ratio(float(np.mean(self.errors)) / spread, error, MOST_OFF)
        known = times - self.hows["unknown"]
        ways = ", ".join(f"{way} {count / times:.0%}" for way, count in self.hows.most_common())
        return Score(Rate(self.inside, known, LOW, HIGH), ratio, ways)


def true_value(name: str, truth: Array, people: int) -> float:
    """Return a measure of the true table."""
    noise = math.prod(size - 1 for size in truth.shape) / people
    arranged = truth[::-1, ::-1] if MEASURES[name].asks == "two by two" else truth
    return round(MEASURES[name].make(Setting(truth.shape, people, noise)).truth(arranged), 9)


def main() -> None:
    """Print the grid; leave with 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--surveys", type=int, default=200, help="surveys of a first look")
    parser.add_argument("--only", default="", help="tables whose name holds this")
    parser.add_argument("--method", default="maximum-likelihood", help="how tables are estimated")
    asked = parser.parse_args()
    grid = Grid()
    for (name, truth), (way, epsilon, people) in product(TABLES.items(), SETTINGS):
        if asked.only in name:
            report(grid, Survey(name, truth, way, epsilon, people), asked.surveys, asked.method)
    sys.exit(1 if grid.verdict() else 0)


def report(grid: Grid, survey: Survey, surveys: int, method: str) -> None:
    """Print a line for each measure."""
    head = f"{survey.name}, {survey.way}, ε = {survey.epsilon:g}, n = {survey.people:,}"
    print(head)
    named = {f"{head}: {name}": name for name in MEASURES if fits(name, survey.truth)}
    targets = {
        place: true_value(name, survey.truth, survey.people) for place, name in named.items()
    }

    def count(number: int, times: int, places: list[str]) -> dict[str, Score]:
        rng = np.random.default_rng(7 + number)
        fared = {place: Fared() for place in places}
        for table in survey.tables(surveys * times, method, rng):
            for place in places:
                found = derive(table, named[place], rng=rng, draws=500)
                fared[place].add(found, targets[place])
        return {place: one.score() for place, one in fared.items()}

    grid.look({place: [name, survey.name] for place, name in named.items()}, count)


def fits(name: str, truth: Array) -> bool:
    """Tell whether a measure is one of such a table."""
    return MEASURES[name].asks != "two by two" or truth.shape == (2, 2)


if __name__ == "__main__":
    main()
