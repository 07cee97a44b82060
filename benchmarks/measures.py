"""How honest are derived measures: their standard errors and their intervals?

Draws surveys from known tables through real channels and derives every measure from each.
Where the delta method was used, its standard error is held beside the standard deviation of
the estimates; every 95 % interval is held to the truth, however it was found. What is looked
for: a ratio within 5 % of 1, coverage of 94–96 % (each to within what chance explains).

    ./run bench measures [--surveys 400] [--quick] [--only TABLE] [--method default]
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

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

    Array = NDArray[np.float64]

LOW, HIGH = 0.94, 0.96
MOST_OFF = 0.05
SURE = 3.0
"""Standard errors of the benchmark's own chance that are allowed for."""

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
class Score:
    """How one measure fared in one survey design."""

    values: list[float]
    errors: list[float]
    inside: int = 0
    outside: int = 0

    @property
    def coverage(self) -> float:
        """Return the share of intervals that hold the truth."""
        return self.inside / max(self.inside + self.outside, 1)


def true_value(name: str, truth: Array, people: int) -> float:
    """Return a measure of the true table."""
    noise = math.prod(size - 1 for size in truth.shape) / people
    arranged = truth[::-1, ::-1] if MEASURES[name].asks == "two by two" else truth
    return round(MEASURES[name].make(Setting(truth.shape, people, noise)).truth(arranged), 9)


def main() -> None:
    """Print the grid; leave with 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--surveys", type=int, default=400, help="surveys of each design")
    parser.add_argument("--quick", action="store_true", help="fewer surveys")
    parser.add_argument("--only", default="", help="tables whose name holds this")
    parser.add_argument("--method", default="maximum-likelihood", help="how tables are estimated")
    asked = parser.parse_args()
    surveys = 100 if asked.quick else asked.surveys
    missed = 0
    for (name, truth), (way, epsilon, people) in product(TABLES.items(), SETTINGS):
        if asked.only in name:
            missed += report(Survey(name, truth, way, epsilon, people), surveys, asked.method)
    print(f"{missed} of the lines above miss a target by more than chance explains")
    sys.exit(1 if missed else 0)


def report(survey: Survey, surveys: int, method: str) -> int:
    """Print a line for each measure; return how many miss a target."""
    rng = np.random.default_rng(7)
    scores: dict[str, Score] = {}
    hows: dict[str, Counter[str]] = {}
    names = [name for name in MEASURES if fits(name, survey.truth)]
    targets = {name: true_value(name, survey.truth, survey.people) for name in names}
    for table in survey.tables(surveys, method, rng):
        for name in names:
            found = derive(table, name, rng=rng, draws=500)
            score = scores.setdefault(name, Score([], []))
            hows.setdefault(name, Counter())[found.how] += 1
            score.values.append(found.value)
            if found.error_how == "delta":
                score.errors.append(found.standard_error)
            holds = found.interval().holds(targets[name])
            score.inside += holds
            score.outside += not holds
    print(f"{survey.name}, {survey.way}, ε = {survey.epsilon:g}, n = {survey.people:,}")
    return sum(line(name, scores[name], hows[name], surveys) for name in names)


def fits(name: str, truth: Array) -> bool:
    """Tell whether a measure is one of such a table."""
    return MEASURES[name].asks != "two by two" or truth.shape == (2, 2)


def line(name: str, score: Score, how: Counter[str], surveys: int) -> bool:
    """Print one line; tell whether a target is missed beyond chance."""
    slack = SURE * math.sqrt(0.05 * 0.95 / surveys)
    wrong = not LOW - slack <= score.coverage <= HIGH + slack
    ratio = math.nan
    if len(score.errors) > 0.9 * surveys:
        ratio = float(np.mean(score.errors) / np.std(score.values))
        wrong |= abs(ratio - 1) > MOST_OFF + SURE / math.sqrt(2 * surveys)
    ways = ", ".join(f"{way} {count / surveys:.0%}" for way, count in how.most_common())
    mark = " *" if wrong else ""
    print(f"  {name:20} coverage {score.coverage:.3f}  se/sd {ratio:5.3f}  {ways}{mark}")
    return wrong


if __name__ == "__main__":
    main()
