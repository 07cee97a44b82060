"""Every test by name, and the three questions they answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError, nearest
from deniable.estimation.observation import observe
from deniable.inference import central, groups, monte_carlo, plain, rao_scott, ratio, score
from deniable.inference.hypothesis import Given
from deniable.inference.independence import Independence
from deniable.inference.procedure import Procedure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deniable.estimation.observation import Observation, Source
    from deniable.inference.central import NoisyTable
    from deniable.inference.hypothesis import Hypothesis
    from deniable.inference.procedure import Tester
    from deniable.inference.result import TestResult

    Settled = Callable[[Observation, Hypothesis, str], TestResult]


def _without_dice(test: Settled) -> Tester:
    """Give a test that throws no dice the signature of those that do."""

    def run(
        observation: Observation, hypothesis: Hypothesis, name: str, *, rng: np.random.Generator
    ) -> TestResult:
        del rng
        return test(observation, hypothesis, name)

    return run


TESTS: dict[str, Procedure] = {
    procedure.name: procedure
    for procedure in (
        Procedure(
            "score",
            score.CITATION,
            "the efficient score of the reports at the fit of the hypothesis",
            _without_dice(score.score_test),
        ),
        Procedure(
            "likelihood-ratio",
            ratio.CITATION,
            "twice the gain in likelihood of the full table over the hypothesis",
            _without_dice(ratio.ratio_test),
            loses=("near the edge of the simplex it keeps below its level and loses power",),
        ),
        Procedure(
            "chi-square-on-reports",
            plain.CITATION,
            "Pearson's χ² of the reports, where the attributes were randomized apart",
            _without_dice(plain.plain_test),
            loses=("blocks are compared one by one, so small blocks cost power",),
        ),
        Procedure(
            "rao-scott",
            rao_scott.CITATION,
            "χ² of the debiased table, scaled to the moments that it truly has",
            _without_dice(rao_scott.rao_scott_test),
            loses=(
                "a quadratic form of unequal parts has less power than the score",
                "it is refused where a category is estimated to be empty",
            ),
        ),
        Procedure(
            "monte-carlo",
            monte_carlo.CITATION,
            "the paper's: two-step MLE, and a threshold simulated from its fit",
            monte_carlo.monte_carlo_test,
            loses=(
                "it accepts whenever a cell of any fit is below 5",
                "every cell weighs alike, whatever the channel did to it",
            ),
        ),
        Procedure(
            "laplace",
            "Imran section 7.3, as a baseline",
            "plain χ² of a trusted party's table with Laplace noise",
            of_trusted=central.laplace_test,
            loses=(
                "it takes the noise for association and rejects true hypotheses far too often",
                "whoever counts holds the true answers",
            ),
            keeps_level=False,
        ),
        Procedure(
            "mc-indep",
            "Gaboardi et al. (2016), as compared in Imran section 7.3",
            "two-step MLE and Monte Carlo on a trusted party's table with Laplace noise",
            of_trusted=central.mc_indep_test,
            loses=(
                "it accepts whenever a cell of any fit is below 5",
                "whoever counts holds the true answers",
            ),
        ),
    )
}
"""The tests, the default one first."""


def procedure_named(name: str) -> Procedure:
    """Return a test, or say which there are."""
    if name not in TESTS:
        problem = f"there is no test called {name!r}"
        raise EstimationError(problem, expected=nearest(name, TESTS))
    return TESTS[name]


def independence_test(
    source: Source | NoisyTable,
    attributes: Sequence[str],
    *,
    rng: np.random.Generator,
    given: Sequence[str] = (),
    method: str = "score",
) -> TestResult:
    """Test whether attributes are independent of each other, given others or outright.

    Args:
        source: A tally, evidence, or a trusted party's table of these attributes in order.
        attributes: At least two.
        rng: Where a test throws dice.
        given: The attributes conditioned on.
        method: A name in ``TESTS``.
    """
    procedure = procedure_named(method)
    if len(attributes) < 2:  # noqa: PLR2004
        problem = "independence is between at least two attributes"
        raise EstimationError(problem, given=list(attributes), expected="such as smokes and age")
    seen = _seen(source, (*attributes, *given))
    parts = tuple((axis,) for axis in range(len(attributes)))
    axes = tuple(range(len(attributes), len(attributes) + len(given)))
    hypothesis = Independence(seen.shape, parts, axes)
    return _noted(
        procedure.test(seen, hypothesis, independence_of(attributes, given), rng=rng), seen
    )


def fit_test(
    source: Source | NoisyTable,
    attributes: Sequence[str],
    shares: np.typing.ArrayLike,
    *,
    rng: np.random.Generator,
    method: str = "score",
) -> TestResult:
    """Test whether the table of some attributes is a given distribution: goodness of fit.

    Args:
        source: A tally, evidence, or a trusted party's table of these attributes in order.
        attributes: At least one.
        shares: The distribution, one axis for each attribute, or flat with the last one
            running fastest.
        rng: Where a test throws dice.
        method: A name in ``TESTS``.
    """
    procedure = procedure_named(method)
    seen = _seen(source, tuple(attributes))
    table = np.asarray(shares, dtype=np.float64)
    if table.size != int(np.prod(seen.shape)):
        problem = "the distribution does not fit the table"
        expected = f"{int(np.prod(seen.shape))}"
        raise EstimationError(problem, given=f"{table.size} shares", expected=expected)
    name = f"{_listed(attributes)} {'follows' if len(attributes) == 1 else 'follow'} the shares"
    hypothesis = Given(table.reshape(seen.shape))
    return _noted(procedure.test(seen, hypothesis, f"{name} given", rng=rng), seen)


def groups_test(sources: Sequence[Source], attributes: Sequence[str]) -> TestResult:
    """Test whether groups of people, one source each, have the same table: homogeneity.

    Each may have been asked through another design.
    """
    observations = [observe(source, attributes) for source in sources]
    count = len(observations)
    which = "both groups" if count == 2 else f"all {count} groups"  # noqa: PLR2004 -- both
    return groups.equality_test(observations, f"{_listed(attributes)}: the same in {which}")


def independence_of(names: Sequence[str], given: Sequence[str] = ()) -> str:
    """Return the hypothesis as words.

    >>> independence_of(["smokes", "age"], ["sex"])
    'smokes and age are independent given sex'
    """
    condition = f" given {_listed(given)}" if given else ""
    return f"{_listed(names)} are independent{condition}"


def _noted(result: TestResult, seen: Observation | NoisyTable) -> TestResult:
    """Say how many were asked everything, if others were asked some of it."""
    if isinstance(seen, central.NoisyTable):
        return result
    together = round(sum(sight.people for sight in seen.covering))
    if together >= seen.people:
        return result
    told = f"{together:,} of them were asked all of it; the others tell of the margins only"
    return replace(result, notes=(*result.notes, told))


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _seen(source: Source | NoisyTable, names: tuple[str, ...]) -> Observation | NoisyTable:
    if not isinstance(source, central.NoisyTable):
        return observe(source, names)
    if len(source.shape) != len(names):
        problem = "the table has another number of attributes"
        raise EstimationError(problem, given=len(source.shape), expected=f"{len(names)}")
    return source
