"""What a regression found: coefficients, odds ratios, tests, and predicted chances."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from deniable.errors import EstimationError, nearest
from deniable.inference.confidence import Normal, Unknown
from deniable.inference.estimate import Estimate
from deniable.inference.regression import logit
from deniable.inference.regression.coefficient import CITATION, coefficient_of
from deniable.inference.regression.fitted import HARDLY_KNOWN
from deniable.inference.result import TestResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.inference.confidence import Confidence
    from deniable.inference.regression.coefficient import By, Coefficient
    from deniable.inference.regression.fitted import Fitted
    from deniable.inference.regression.regress import Question

    Array = NDArray[np.float64]

UNSETTLED = "the likelihood did not come to rest"


@dataclass(frozen=True, slots=True, eq=False)
class Regression:
    """A fitted regression.

    Attributes:
        question: What was regressed on what.
        coefficients: For each category but the reference, the intercept first.
        likelihood: The log-likelihood of the reports, up to a constant of the reports.
        people: How many respondents it rests on.
        by: How intervals and p-values were found.
        fitted: The model at its maximum, for later questions.
        shortage: Why the data are too few, or empty.
        notes: What to keep in mind; each a sentence without a full stop.
        citation: Where it comes from.
    """

    question: Question
    coefficients: tuple[Coefficient, ...]
    likelihood: float
    people: int
    by: By
    fitted: Fitted
    shortage: str = ""
    notes: tuple[str, ...] = field(default=())
    citation: str = CITATION

    def __getitem__(self, label: str) -> Coefficient:
        """Return a coefficient by its label; with several outcomes ``"often: sex=female"``."""
        found = {self._label(coefficient): coefficient for coefficient in self.coefficients}
        if label not in found:
            problem = f"there is no coefficient {label!r}"
            raise EstimationError(problem, expected=nearest(label, list(found)))
        return found[label]

    def covariance(self) -> Array:
        """Return the covariance of the coefficients, in their order."""
        return self.fitted.covariance()

    def without(self, *terms: str) -> Regression:
        """Return the regression of the same reports with some terms left out."""
        labels = self.question.formula.labels
        for term in terms:
            if term not in labels:
                problem = f"the regression has no term {term!r}"
                raise EstimationError(problem, expected=nearest(term, list(labels)))
        columns = self.fitted.model.columns
        kept = [place for place, column in enumerate(columns) if column.term not in terms]
        formula = self.question.formula
        left = tuple(term for term in formula.terms if ":".join(term) not in terms)
        question = replace(self.question, formula=replace(formula, terms=left))
        return regression_of(question, self.fitted.keeping(kept), self.people, self.by, self.notes)

    def against(self, smaller: Regression) -> TestResult:
        """Test a smaller regression of the same reports against this one: likelihood ratio.

        Raises:
            EstimationError: It is none: another source, or terms that this one does not have.
        """
        mine, others = self.fitted, smaller.fitted
        labels = [column.label for column in mine.model.columns]
        within = all(column.label in labels for column in others.model.columns)
        alike = mine.testimony == others.testimony
        freedom = mine.model.size - others.model.size
        if not within or not alike or freedom <= 0:
            problem = "the regressions are not nested"
            expected = "a regression and one of it .without(…) some of its terms"
            raise EstimationError(problem, expected=expected)
        kept = smaller.question.formula.labels
        gone = [term for term in self.question.formula.labels if term not in kept]
        given = f" given {_listed(kept)}" if kept else ""
        statistic = max(2 * (self.likelihood - smaller.likelihood), 0.0)
        return TestResult(
            hypothesis=f"{self.question.outcome} does not depend on {_listed(gone)}{given}",
            method="likelihood-ratio",
            statistic=statistic,
            freedom=freedom,
            tail=float(special.chdtrc(freedom, statistic)),
            people=self.people,
            shortage=smaller.shortage if smaller.shortage == UNSETTLED else "",
            citation="Wilks (1938), on the likelihood of the reports",
        )

    def term_tests(self) -> tuple[TestResult, ...]:
        """Test each term that no interaction holds against the regression without it."""
        terms = self.question.formula.terms
        free = [one for one in terms if not any(set(one) < set(other) for other in terms)]
        return tuple(self.against(self.without(":".join(term))) for term in free)

    def predict(self, given: Mapping[str, str | float]) -> tuple[Estimate, ...]:
        """Return the chance of each category of the outcome among people like these.

        Args:
            given: For every predictor a category, or a number.
        """
        formula = self.question.formula
        names = {name for term in formula.terms for name in term}
        if names != set(given):
            problem = "a prediction names every predictor once"
            raise EstimationError(problem, given=sorted(given), expected=", ".join(sorted(names)))
        values = {n: np.array([formula.codings[n].value(v)]) for n, v in given.items()}
        columns = formula.columns({}, values, (1, 1))
        model = replace(self.fitted.model, columns=columns)
        theta, every = self.fitted.peak.theta, slice(None)
        chance, design = model.chances(theta, every)[0, 0], model.design(every)[0, 0]
        slopes = np.einsum("yk,j->ykj", logit.slopes(chance), design).reshape(len(chance), -1)
        covariance = self.covariance()
        order = [model.reference, *model.others]
        found = dict(zip(order, zip(chance, slopes, strict=True), strict=True))
        return tuple(
            self._chance(place, *found[place], covariance, given) for place in range(len(chance))
        )

    def __str__(self) -> str:
        """Say the regression in lines."""
        head = f"{self.question.outcome} on {_listed(self.question.formula.labels) or 'nothing'}"
        lines = [f"{head} ({self.people:,} people)"]
        for one in self.coefficients:
            low, high, level = one.estimate.interval()
            lines.append(
                f"  {self._label(one)}: {one.estimate.value:.4g}, {level:.0%} interval "
                f"{low:.4g} to {high:.4g}, p = {one.p_value:.3g}"
            )
        if self.shortage:
            lines.append(f"  too little data: {self.shortage}")
        return "\n".join(lines)

    def _label(self, coefficient: Coefficient) -> str:
        if len(self.question.categories) == 2:  # noqa: PLR2004
            return coefficient.label
        return f"{coefficient.category}: {coefficient.label}"

    def _chance(
        self,
        place: int,
        chance: float,
        slope: Array,
        covariance: Array,
        given: Mapping[str, str | float],
    ) -> Estimate:
        error = math.sqrt(max(float(slope @ covariance @ slope), 0.0))
        category = self.question.categories[place]
        confidence: Confidence = Unknown()
        if not self.fitted.lost().any():
            turned = error / (chance * (1 - chance))
            confidence = Normal(float(chance), turned, "logit", 0.0, 1.0)
        known = not isinstance(confidence, Unknown)
        return Estimate(
            name=f"P({self.question.outcome} = {category})",
            of=tuple(f"{name}={value}" for name, value in given.items()),
            value=float(chance),
            standard_error=error if known else math.nan,
            confidence=confidence,
            how="delta" if known else "unknown",
            error_how="delta" if known else "unknown",
            people=self.people,
            citation=self.citation,
            notes=() if known else ("some coefficients have no finite estimate",),
        )


def regression_of(
    question: Question, fitted: Fitted, people: int, by: By, notes: Sequence[str]
) -> Regression:
    """Return the record of a fitted model."""
    model = fitted.model
    coefficients = []
    for place in range(model.coefficients):
        category = question.categories[model.others[place // len(model.columns)]]
        names = (question.outcome, category)
        coefficients.append(coefficient_of(fitted, place, names, people, by))
    return Regression(
        question,
        tuple(coefficients),
        fitted.peak.likelihood,
        people,
        by,
        fitted,
        _shortage(question, fitted, coefficients),
        tuple(notes),
    )


def _shortage(question: Question, fitted: Fitted, coefficients: Sequence[Coefficient]) -> str:
    """Say why the data are too few, or nothing."""
    if not fitted.settled():
        return UNSETTLED
    lost = [one for one in coefficients if math.isnan(one.estimate.standard_error)]
    if lost:
        which = _listed(tuple(dict.fromkeys(one.label for one in lost)))
        return (
            f"{question.outcome} = {lost[0].category} is estimated at nobody or at everybody "
            f"somewhere, so that {which} has no finite estimate (separation)"
        )
    both = zip(coefficients, fitted.reach(), strict=True)
    wide = [one for one, reach in both if one.estimate.standard_error * reach > HARDLY_KNOWN]
    if wide:
        which = _listed(tuple(dict.fromkeys(one.label for one in wide)))
        return f"the reports hardly tell anything about {which}"
    return ""


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
