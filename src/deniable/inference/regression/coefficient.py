"""A coefficient of a regression: its estimate, its odds ratio, and whether it may be 0."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from scipy import special

from deniable.inference.confidence import Normal, Unknown
from deniable.inference.estimate import Estimate
from deniable.inference.regression.column import INTERCEPT
from deniable.inference.regression.profile import Exponential, Profile

if TYPE_CHECKING:
    from deniable.inference.confidence import Confidence
    from deniable.inference.regression.fitted import Fitted

By: TypeAlias = Literal["likelihood", "wald"]
"""How intervals and p-values are found."""

CITATION = "Maddala (1983); Blair, Imai & Zhou (2015); by the likelihood of the reports"


@dataclass(frozen=True, slots=True, eq=False)
class Coefficient:
    """One coefficient of the linear predictor.

    Attributes:
        category: The outcome's category whose odds it is of.
        label: What it multiplies: ``"sex=female"``.
        term: The term it belongs to: ``"sex"``.
        estimate: The coefficient, a difference of log odds.
        odds_ratio: Its exponential.
        z: The coefficient over its standard error.
        p_value: Of the hypothesis that it is 0.
    """

    category: str
    label: str
    term: str
    estimate: Estimate
    odds_ratio: Estimate
    z: float
    p_value: float


def coefficient_of(
    fitted: Fitted, place: int, names: tuple[str, str], people: int, by: By
) -> Coefficient:
    """Return the coefficient at a place.

    Args:
        fitted: The model at its maximum.
        place: The place among its coefficients.
        names: The outcome, and its category whose odds the coefficient is of.
        people: How many respondents it rests on.
        by: How its interval and its p-value are found.
    """
    column = fitted.model.columns[place % len(fitted.model.columns)]
    error = _error(fitted, place)
    known = math.isfinite(error)
    at = float(fitted.peak.theta[place])
    value = at if known else math.copysign(math.inf, at)
    confidence: Confidence = Unknown()
    if by == "likelihood":
        confidence = Profile(fitted, place, error)
    elif known:
        confidence = Normal(value, error, "plain", -math.inf, math.inf)
    estimate = Estimate(
        name=column.label,
        of=names,
        value=value,
        standard_error=error,
        confidence=confidence,
        how="likelihood" if by == "likelihood" else "formula" if known else "unknown",
        error_how="likelihood" if known else "unknown",
        people=people,
        citation=CITATION,
    )
    z = value / error if known else math.nan
    p_value = _p_value(fitted, place, z, by)
    return Coefficient(
        names[1], column.label, column.term, estimate, _odds_ratio(estimate), z, p_value
    )


def _error(fitted: Fitted, place: int) -> float:
    """Return the standard error by the observed information; NaN where there is none."""
    variance = float(fitted.covariance()[place, place])
    return math.nan if fitted.lost()[place] or variance <= 0 else math.sqrt(variance)


def _odds_ratio(estimate: Estimate) -> Estimate:
    value = math.exp(min(estimate.value, 700.0)) if estimate.value < math.inf else math.inf
    unknown = isinstance(estimate.confidence, Unknown)
    return replace(
        estimate,
        name="odds at the references"
        if estimate.name == INTERCEPT
        else f"odds ratio of {estimate.name}",
        value=value,
        standard_error=value * estimate.standard_error,
        confidence=Unknown() if unknown else Exponential(estimate.confidence),
        error_how="unknown" if math.isnan(estimate.standard_error) else "delta",
    )


def _p_value(fitted: Fitted, place: int, z: float, by: By) -> float:
    if by == "wald":
        return float(2 * special.ndtr(-abs(z)))
    held = fitted.holding(place, 0.0)
    deviance = 2 * (fitted.peak.likelihood - held.likelihood)
    return float(special.chdtrc(1, max(deviance, 0.0)))
