"""How honest are regressions: their coefficients, standard errors, intervals and p-values?

Draws surveys from known logistic and multinomial models through real channels, regresses
each, and holds the coefficients to the truth: bias in standard errors, standard error over
standard deviation, and how often 95 % intervals (by profile likelihood, and Wald's) hold the
truth. A coefficient that is 0 in truth shows how often its p-value is below .05. Beside them
stands what a regression of the reports as if they were answers would have said. What is
looked for: coverage of 94–96 % (so type I error of .04–.06), standard errors within 5 %, each
to within what chance explains: places outside are looked at again, as ``_rates`` says.

    ./run bench regression [--surveys 100] [--only NAME]
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from _rates import Grid, Rate, Ratio, Score

from deniable.channels import best, k_ary
from deniable.errors import EstimationError
from deniable.estimation import Batch, Evidence, Experiment
from deniable.estimation.study import Study
from deniable.inference.regression import regress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.inference.regression import Regression

    Array = NDArray[np.float64]

LOW, HIGH = 0.94, 0.96
MOST_OFF = 0.05

SEX_AGE = np.array([[0.2, 0.2, 0.15], [0.1, 0.2, 0.15]])


def table_of(background: Array, predictors: Array) -> Array:
    """Return P(y, x) for a background and linear predictors with the axes (x…, y)."""
    odds = np.exp(predictors)
    chance = odds / odds.sum(axis=-1, keepdims=True)
    return np.moveaxis(background[..., None] * chance, -1, 0)


def smokes_on_sex_and_age(rare: float = -0.5) -> tuple[Array, dict[str, float]]:
    """Return a logistic model in which the second age does not differ from the first."""
    truth = {"(intercept)": rare, "sex=1": 0.8, "age=1": 0.0, "age=2": 0.6}
    eta = np.zeros((2, 3, 2))
    eta[..., 1] = rare + np.array([[0.0], [0.8]]) + np.array([0.0, 0.0, 0.6])
    return table_of(SEX_AGE, eta), truth


def party_on_sex() -> tuple[Array, dict[str, float]]:
    """Return a multinomial model with three outcomes."""
    truth = {"1: (intercept)": 0.3, "1: sex=1": 0.0, "2: (intercept)": -0.4, "2: sex=1": 0.9}
    eta = np.zeros((2, 3))
    eta[:, 1], eta[:, 2] = 0.3, np.array([-0.4, 0.5])
    return table_of(np.array([0.55, 0.45]), eta), truth


@dataclass(frozen=True, slots=True)
class Survey:
    """A model, and how it is asked."""

    name: str
    predictors: tuple[str, ...]
    table: Array
    truth: dict[str, float]
    experiments: tuple[Experiment, ...]

    @property
    def study(self) -> Study:
        """Return the survey as a study that can be drawn."""
        return Study(("y", *self.predictors), self.table, self.experiments)


def surveys_of() -> list[Survey]:
    """Return the grid."""
    smokes, rare, party = smokes_on_sex_and_age(), smokes_on_sex_and_age(-2.2), party_on_sex()
    two = ("sex", "age")

    def apart(epsilon: float, people: float, sizes: tuple[int, ...]) -> tuple[Experiment, ...]:
        channels = tuple(k_ary(epsilon, size) for size in sizes)
        return (Experiment(people, channels, tuple((axis,) for axis in range(len(sizes)))),)

    def together(epsilon: float, people: float, cells: int, axes: int) -> tuple[Experiment, ...]:
        return (Experiment(people, (best(epsilon, cells),), (tuple(range(axes)),)),)

    pairs = tuple(
        Experiment(20_000, (k_ary(2.0, size),), (axes,))
        for axes, size in (((0, 1), 4), ((0, 2), 6), ((1, 2), 6))
    )
    outcome_only = (
        Experiment(5_000, (k_ary(1.0, 2), k_ary(20.0, 2), k_ary(20.0, 3)), ((0,), (1,), (2,))),
    )
    return [
        Survey("each apart, ε = 2 each, n = 20,000", two, *smokes, apart(2, 20_000, (2, 2, 3))),
        Survey("each apart, ε = 1 each, n = 30,000", two, *smokes, apart(1, 30_000, (2, 2, 3))),
        Survey("one cell, ε = 1, n = 50,000", two, *smokes, together(1, 50_000, 12, 3)),
        Survey("subsets, ε = ½, n = 200,000", two, *smokes, together(0.5, 200_000, 12, 3)),
        Survey("pairs, one asked, ε = 2, n = 60,000", two, *smokes, pairs),
        Survey("outcome only, ε = 1, n = 5,000", two, *smokes, outcome_only),
        Survey("nearly plain, ε = 20, n = 1,000", two, *smokes, apart(20, 1_000, (2, 2, 3))),
        Survey("rare outcome, ε = 2 each, n = 20,000", two, *rare, apart(2, 20_000, (2, 2, 3))),
        Survey(
            "three outcomes, ε = 2 each, n = 10,000", ("sex",), *party, apart(2, 10_000, (3, 2))
        ),
        Survey("three outcomes, one cell, ε = 1", ("sex",), *party, together(1, 30_000, 6, 2)),
    ]


@dataclass(slots=True)
class Fared:
    """How one coefficient fared."""

    values: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    profile: int = 0
    wald: int = 0
    rejected: int = 0
    naive: list[float] = field(default_factory=list)

    def score(self, truth: float) -> Score:
        """Return the coverage of the profile's interval, and the ratio of the errors."""
        count = len(self.values)
        spread = float(np.std(self.values))
        ratio = Ratio(
            float(np.mean(self.errors)) / spread, 1 / math.sqrt(2 * max(count, 1)), MOST_OFF
        )
        bias = (float(np.mean(self.values)) - truth) / spread
        what = "power" if truth else "type I"
        told = f"{truth:+.2f}, bias {bias:+.2f} sd, Wald {self.wald / count:.3f}, {what} "
        told += f"{self.rejected / count:.3f}"
        told += f", naive {np.mean(self.naive):+.2f}" if self.naive else ""
        return Score(Rate(self.profile, count, LOW, HIGH), ratio, told)


def main() -> None:
    """Print the grid; leave with 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--surveys", type=int, default=100, help="surveys of a first look")
    parser.add_argument("--only", default="", help="surveys whose name holds this")
    asked = parser.parse_args()
    grid = Grid()
    for survey in surveys_of():
        if asked.only in survey.name:
            report(grid, survey, asked.surveys)
    sys.exit(1 if grid.verdict() else 0)


def report(grid: Grid, survey: Survey, surveys: int) -> None:
    """Print a line for each coefficient."""
    print(survey.name)
    places = {f"{survey.name}: {label}": label for label in survey.truth}

    def count(number: int, times: int, open_: list[str]) -> dict[str, Score]:
        fared, refused = fare(survey, surveys * times, seed=7 + number)
        if refused:
            print(f"  {refused} of {surveys * times} surveys said: too little data")
        return {place: fared[places[place]].score(survey.truth[places[place]]) for place in open_}

    grid.look({place: [survey.name, "all together"] for place in places}, count)


def fare(survey: Survey, count: int, *, seed: int) -> tuple[dict[str, Fared], int]:
    """Return how each coefficient fared, and how often there was too little data."""
    rng = np.random.default_rng(seed)
    found = {label: Fared() for label in survey.truth}
    refused = 0
    study = survey.study
    for _ in range(count):
        evidence = study.draw(rng)
        fitted = regress(evidence, "y", survey.predictors)
        if fitted.shortage:
            refused += 1
            continue
        naive = plainly(evidence, survey)
        for label, one in found.items():
            add(one, fitted, label, survey.truth[label])
            if naive is not None:
                one.naive.append(naive[label].estimate.value)
    return found, refused


def add(score: Fared, found: Regression, label: str, truth: float) -> None:
    """Add what one survey said of a coefficient."""
    one = found[label]
    score.values.append(one.estimate.value)
    score.errors.append(one.estimate.standard_error)
    score.profile += one.estimate.interval().holds(truth)
    score.wald += abs(one.z - truth / one.estimate.standard_error) < 1.959964
    score.rejected += one.p_value <= 0.05


def plainly(evidence: Evidence, survey: Survey) -> Regression | None:
    """Regress the reports as if they were answers, where they are cells."""
    (batch, *others) = evidence.batches
    if others or any(channel.width > 1 for channel in batch.channels):
        return None
    channels = tuple(k_ary(30.0, channel.size) for channel in batch.channels)
    taken = Batch(batch.groups, channels, batch.reports, batch.counts)
    try:
        return regress(
            Evidence(evidence.names, evidence.sizes, (taken,)), "y", survey.predictors, by="wald"
        )
    except EstimationError:
        return None


if __name__ == "__main__":
    main()
