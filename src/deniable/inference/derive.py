"""A measure derived from a table, with its uncertainty.

The delta method (Wang eq. 24) takes the measure for straight over the width of a standard
error. Where it is, that method is used; for ratios whose denominator may be 0, Fieller's
way; near a table where the slope vanishes (χ² and V near independence, entropy near even
shares), a parametric bootstrap: reports drawn through the recorded channels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError
from deniable.estimation.covariance import Dispersion
from deniable.inference.arrangement import Arrangement, arrange
from deniable.inference.bend import bend_of
from deniable.inference.catalogue import measure_named
from deniable.inference.confidence import Fieller, Normal, Unknown, slope_of
from deniable.inference.estimate import Estimate
from deniable.inference.measure import Measure, Setting
from deniable.inference.measures.association import independent
from deniable.inference.replicas import nearest_proper_each, replicas_of
from deniable.inference.reversal import Problem, reverse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.estimation.covariance import Covariance
    from deniable.estimation.table import Table
    from deniable.inference.bend import Bend
    from deniable.inference.confidence import Confidence
    from deniable.inference.estimate import How
    from deniable.inference.form import Form

    Array = NDArray[np.float64]

DRAWS = 2_000
"""Replicas of the table; a simulated standard error is then within 1.6 % of its limit."""

HALF_A_PERSON = 0.5

OWN = {"", "maximum-likelihood", "joint-em", "unbiased", "projected"}
"""Methods whose tables differ from the reports' own by no more than being proper."""

SAME = 0.1
"""Standard errors by which a cell of two tables may differ before it is worth a word."""

PARTLY = "{:,} respondents were asked all of it; what others told of parts is left out"

UNKNOWN = "this method of estimation does not say how sure its table is"


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """A measure, and the table that it is derived from.

    Attributes:
        measure: The measure.
        form: The measure for this table's shape.
        shares: The proper shares, arranged.
        whole: The proper shares of the whole table.
        covariance: Of the whole table.
        arrangement: How the arranged cells follow from the whole table's.
    """

    measure: Measure
    form: Form
    shares: Array
    whole: Array
    covariance: Covariance
    arrangement: Arrangement

    @property
    def centre(self) -> Array:
        """Return the unprojected shares, arranged."""
        return self.arrangement.apply(self.covariance.centre.reshape(-1))

    def dispersion(self) -> Array:
        """Return the covariance matrix of the arranged cells."""
        return _dispersion(self.covariance, self.arrangement)


def derive(
    table: Table,
    measure: str,
    *,
    rng: np.random.Generator,
    of: Mapping[str, Sequence[str]] | None = None,
    draws: int = DRAWS,
) -> Estimate:
    """Return a measure of a table, with its standard error and what its intervals follow from.

    Args:
        table: An estimated table.
        measure: A name in ``MEASURES``.
        rng: Draws the replicas of the bootstrap, where it is needed.
        of: For measures of two answers: for an attribute the answer, and what it is compared
            with; without the second, all others. By default the last category of attributes
            with two, compared with the first.
        draws: How many replicas the bootstrap draws.

    Raises:
        EstimationError: The measure is not one of such a table.
    """
    found = measure_named(measure)
    arrangement = arrange(table, found.asks, of or {})
    whole = _honest(table)
    shares = arrangement.apply(whole.reshape(-1))
    if found.asks == "pair":
        _require_occurring(shares, table.people, found)
    noise = _noise(table.covariance, shares, table.people) if found.asks == "pair" else math.nan
    form = found.make(Setting(shares.shape, table.people, noise))
    value = float(form.whole.value(shares))
    estimate = Estimate(
        name=found.name,
        of=table.names,
        value=value,
        standard_error=math.nan,
        confidence=Unknown(),
        how="unknown",
        error_how="unknown",
        people=table.people,
        citation=found.citation,
        notes=(*arrangement.notes, *_apart(table, whole)),
    )
    if table.covariance is None:
        return replace(estimate, notes=(*estimate.notes, UNKNOWN))
    if table.covariance.people < table.people:
        told = PARTLY.format(table.covariance.people)
        estimate = replace(estimate, notes=(*estimate.notes, told))
    case = _Case(found, form, shares, whole, table.covariance, arrangement)
    return _judged(estimate, case, rng, draws)


def _judged(estimate: Estimate, case: _Case, rng: np.random.Generator, draws: int) -> Estimate:
    """Return the estimate with its uncertainty, by whichever way is right for it."""
    dispersion = case.dispersion()
    bend = bend_of(case.form, case.shares, dispersion, case.measure.scale)
    error, error_how = _error(case, bend, rng, draws)
    confidence, how = _confidence(case, bend, dispersion, estimate.value, rng, draws)
    return replace(
        estimate, standard_error=error, confidence=confidence, how=how, error_how=error_how
    )


def _confidence(
    case: _Case,
    bend: Bend,
    dispersion: Array,
    value: float,
    rng: np.random.Generator,
    draws: int,
) -> tuple[Confidence, How]:
    measure = case.measure
    if bend.straight_on_scale:
        error = bend.error * slope_of(measure.scale, value)
        return Normal(value, error, measure.scale, measure.least, measure.most), "delta"
    if case.form.fraction is not None:
        return _fieller(case, dispersion), "fieller"
    if case.form.path is None:
        return Unknown(), "unknown"
    problem = Problem(case.form, case.shares, case.centre, replicas_of(case.covariance))
    return reverse(problem, rng=rng, draws=draws), "bootstrap"


def _fieller(case: _Case, dispersion: Array) -> Fieller:
    """Return Fieller's ratio at the unprojected shares, whose variance is known."""
    if case.form.fraction is None:
        raise AssertionError
    numerator, denominator = case.form.fraction
    centre = case.centre
    above, below = (part.slope(centre).reshape(-1) for part in case.form.fraction)
    variances = (
        float(above @ dispersion @ above),
        float(above @ dispersion @ below),
        float(below @ dispersion @ below),
    )
    least = 0.0 if case.form.carried == "log" else case.measure.least
    above_zero, below_zero = float(numerator.value(centre)), float(denominator.value(centre))
    return Fieller(
        above_zero if least < 0 else max(above_zero, 0.0),  # neither is negative in truth
        max(below_zero, 0.0),
        variances,
        least,
        case.measure.most,
        case.form.carried,
    )


def _error(case: _Case, bend: Bend, rng: np.random.Generator, draws: int) -> tuple[float, How]:
    """Return the delta method's standard error, or that of the measure over proper replicas."""
    if bend.straight:
        return bend.error, "delta"
    drawn = replicas_of(case.covariance).draw(case.whole, draws, rng)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = case.form.whole.value(case.arrangement.apply(nearest_proper_each(drawn)))
    if not np.all(np.isfinite(values)):
        return math.nan, "unknown"
    return float(np.std(values)), "bootstrap"


def _noise(covariance: Covariance | None, shares: Array, people: int) -> float:
    """Return E φ̂² where nothing is associated: Σ Var(π̂_ij − π̂_i·π̂_j)/(π_i·π_j).

    It is (r − 1)(c − 1)/(n − 1) for plain answers.
    """
    rows, columns = shares.shape
    if covariance is None:
        return float((rows - 1) * (columns - 1) / max(people - 1, 1))
    product = independent(shares)
    there = covariance
    if isinstance(covariance, Dispersion) and all(
        lens.complete for _, sight in covariance.parts for lens in sight.lenses
    ):  # it knows how it would be at other shares
        there = replace(covariance, centre=product)
    kept = np.kron(_away_from(shares.sum(axis=1)), _away_from(shares.sum(axis=0)))
    variance: Array = np.sum((kept @ there.dense()) * kept, axis=1)
    return float(np.sum(variance / product.reshape(-1)))


def _away_from(margin: Array) -> Array:
    """Return I − p·1ᵀ: what is left of a margin's error where it is taken away."""
    result: Array = np.eye(margin.size) - margin[:, None]
    return result


def _dispersion(covariance: Covariance, arrangement: Arrangement) -> Array:
    if arrangement.weights is None:
        return covariance.dense()
    shape = covariance.centre.shape
    return covariance.between(arrangement.weights.reshape(-1, *shape))


def _honest(table: Table) -> Array:
    """Return the proper shares whose sampling distribution the covariance describes.

    A model's table is smoothed towards independence, by an amount that its covariance does
    not know; an interval around a measure of it would hold the truth too seldom.
    """
    return _proper(table.estimate if table.covariance is None else table.covariance.centre)


def _proper(shares: Array) -> Array:
    if shares.min() >= 0 and math.isclose(float(shares.sum()), 1, abs_tol=1e-9):
        return shares
    return nearest_proper_each(shares.reshape(1, -1)).reshape(shares.shape)


def _apart(table: Table, shares: Array) -> tuple[str, ...]:
    """Say that the table shown is another one than the measure is derived from."""
    near = SAME * np.nan_to_num(table.standard_error, nan=np.inf)
    if table.method in OWN or np.all(np.abs(table.estimate - shares) <= near):
        return ()
    return (f"derived from the reports themselves, not from the table of {table.method}",)


def _require_occurring(shares: Array, people: int, measure: Measure) -> None:
    least = min(float(shares.sum(axis=axis).min()) for axis in (0, 1))
    if least * people < HALF_A_PERSON:
        problem = f"{measure.name} needs categories that occur, and one is estimated to have nobody"
        raise EstimationError(problem, expected="more people, or that category joined to another")
