"""Regression of an attribute on others, through the channels that their reports came through.

Logistic where the outcome has two categories, else multinomial. Outcome, predictors, or
both may have been randomized, together or apart; what is plainly known of the respondents
may stand beside the reports. The likelihood is that of the reports, Σ_cells P(report |
cell)·π(x)·P(y | x; β): Maddala (1983) and Scheers & Dayton (1988) for a randomized outcome,
Blair, Imai & Zhou (2015) for randomized predictors, here for any number of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.counting import Recorded
from deniable.errors import EstimationError, nearest
from deniable.estimation.evidence import Evidence
from deniable.estimation.observation import evidence_of, observe
from deniable.estimation.sight import merged
from deniable.inference.regression.background import AnyTable, Dependent
from deniable.inference.regression.covariates import Covariates, covariates_of
from deniable.inference.regression.fitted import fit
from deniable.inference.regression.formula import (
    Coding,
    Formula,
    coding_of,
    names_of,
    place_of,
    terms_of,
)
from deniable.inference.regression.model import Model
from deniable.inference.regression.recorded import (
    INEXACT,
    evidence_of_records,
    names_and_sizes,
    sheet_of,
)
from deniable.inference.regression.result import Regression, regression_of
from deniable.inference.regression.testimony import listed, sighted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from narwhals.typing import IntoDataFrame
    from numpy.typing import NDArray

    from deniable.estimation.observation import Source
    from deniable.inference.regression.background import Background
    from deniable.inference.regression.coefficient import By

    Array = NDArray[np.float64]

APART = (
    "groups of a view were counted apart, as if other people had answered them; standard "
    "errors are then not quite right"
)


@dataclass(frozen=True, slots=True)
class Said:
    """How a person wants the categories called and coded."""

    categories: Mapping[str, Sequence[str]]
    reference: Mapping[str, str]
    scores: Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class Question:
    """What is regressed on what, and how the predictors are coded.

    Attributes:
        outcome: The attribute, or plain covariate, that is explained.
        categories: Its categories.
        reference: The place of the one that the others are compared with.
        formula: The predictors.
        randomized: Those attributes of the reports that are met, the outcome first if it is one.
        sizes: Their numbers of categories.
    """

    outcome: str
    categories: tuple[str, ...]
    reference: int
    formula: Formula
    randomized: tuple[str, ...]
    sizes: tuple[int, ...]

    @property
    def hidden(self) -> dict[str, int]:
        """Return the randomized predictors and their numbers of categories."""
        both = zip(self.randomized, self.sizes, strict=True)
        return {name: size for name, size in both if name != self.outcome}

    def cells(self) -> dict[str, Array]:
        """Return, for each randomized predictor, its category's place in each cell."""
        shape = tuple(self.hidden.values())
        grid = np.indices(shape).astype(np.float64)
        return {name: each.reshape(-1) for name, each in zip(self.hidden, grid, strict=True)}


def regress(
    source: Source | Recorded,
    outcome: str,
    predictors: Sequence[str],
    *,
    covariates: IntoDataFrame | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
    reference: Mapping[str, str] | None = None,
    scores: Mapping[str, Sequence[float]] | None = None,
    by: By = "likelihood",
) -> Regression:
    """Return the maximum-likelihood regression of an outcome on predictors.

    Args:
        source: A tally, evidence, or records. Records where there are covariates.
        outcome: An attribute, or a covariate with categories.
        predictors: Terms: ``sex``, ``sex:age`` for an interaction, ``sex*age`` for both and it.
        covariates: A frame with what is plainly known, row by row the respondents.
        categories: Names of the categories of attributes; order of those of covariates.
        reference: The category that the others are compared with; the first by default.
        scores: Attributes that enter as numbers: one for each category, or none for 0, 1, 2 …
        by: How intervals and p-values are found: by the profile likelihood, or Wald's way.

    Raises:
        EstimationError: An attribute is not known, or the reports do not determine the
            coefficients.
    """
    terms = terms_of(predictors)
    known = _known(source)
    plain = tuple(name for name in (outcome, *names_of(terms)) if name not in known)
    if plain and covariates is None:
        problem = f"there is no attribute {plain[0]!r} in the design"
        raise EstimationError(problem, expected=nearest(plain[0], list(known)))
    given = covariates_of(covariates, plain, categories or {})
    said = Said(categories or {}, reference or {}, scores or {})
    question = _question(known, outcome, terms, given, said)
    if plain:
        return _beside(source, question, given, by)
    return _alone(source, question, by)


def _alone(source: Source | Recorded, question: Question, by: By) -> Regression:
    """Return a regression in which everything was randomized."""
    if isinstance(source, Recorded):
        source = evidence_of_records(source)
    observation = observe(source, question.randomized)
    if not observation.exact:
        raise EstimationError(INEXACT, expected="a regression on all attributes of the group")
    cells = int(np.prod(list(question.hidden.values())))
    columns = question.formula.columns(question.cells(), {}, (cells, 1))
    model = Model(len(question.categories), question.reference, columns, AnyTable(cells))
    testimony = sighted(merged(observation.sights), question.sizes)
    views = {(sight.block, sight.view) for sight in observation.sights}
    notes = (APART,) if len(views) < len(observation.sights) else ()
    return regression_of(question, fit(model, [testimony]), observation.people, by, notes)


def _beside(source: Source | Recorded, question: Question, given: Covariates, by: By) -> Regression:
    """Return a regression of reports beside plain covariates."""
    if not isinstance(source, Recorded | Evidence):
        problem = "a tally has forgotten which report stands beside which covariates"
        raise EstimationError(problem, expected="the reports themselves, as records")
    if not question.randomized:
        problem = "nothing in this regression was randomized"
        raise EstimationError(problem, expected="an attribute of the reports in it")
    sheet = sheet_of(source, question.randomized)
    total = source.total if isinstance(source, Recorded) else source.people
    if total != given.length:
        problem = f"there are {given.length:,} rows of covariates for {total:,} reports"
        raise EstimationError(problem, expected="row by row the same respondents")
    known = given.known()[sheet.rows]
    sheet = sheet.among(known)
    if not sheet.rows.size:
        problem = "no row has all covariates"
        raise EstimationError(problem, expected="rows without missing values")
    values = np.stack([column[sheet.rows] for column in given.values.values()], axis=1)
    names = list(given.values)
    likelihoods, report = sheet.likelihoods, sheet.report
    if question.outcome in names:
        place = names.index(question.outcome)
        likelihoods, report = _with_outcome(
            likelihoods, report, values[:, place].astype(np.int64), len(question.categories)
        )
        values, names = np.delete(values, place, axis=1), names[:place] + names[place + 1 :]
    distinct, row = np.unique(values, axis=0, return_inverse=True)
    rows = dict(zip(names, distinct.T, strict=True))
    model = _model(question, rows, len(distinct))
    testimony = listed(likelihoods, report, row.reshape(-1), parameters=model.size)
    left_out = int(np.sum(~known))
    notes = (f"{left_out:,} respondents without all covariates are left out",) if left_out else ()
    return regression_of(question, fit(model, testimony), len(sheet.rows), by, notes)


def _model(question: Question, rows: Mapping[str, Array], length: int) -> Model:
    cells = int(np.prod(list(question.hidden.values())))
    columns = question.formula.columns(question.cells(), rows, (cells, length))
    background: Background = AnyTable(cells)
    if cells > 1 and rows:
        openly = Formula(tuple((name,) for name in rows), question.formula.codings)
        design = [column.rows for column in openly.columns({}, rows, (1, length))]
        background = Dependent(cells, np.stack(design, axis=1))
    return Model(len(question.categories), question.reference, columns, background)


def _with_outcome(
    likelihoods: Array, report: NDArray[np.int64], outcome: NDArray[np.int64], categories: int
) -> tuple[Array, NDArray[np.int64]]:
    """Return likelihoods over (y, x) where y was given plainly: 0 for every other outcome."""
    kinds = len(likelihoods)
    openly = np.eye(categories)[:, None, :, None] * likelihoods[None, :, None, :]
    return openly.reshape(categories * kinds, -1), outcome * kinds + report


def _known(source: Source | Recorded) -> dict[str, int]:
    """Return the attributes that were randomized and their numbers of categories."""
    if isinstance(source, Recorded):
        return names_and_sizes(source)
    return names_and_sizes(evidence_of(source))


def _question(
    known: Mapping[str, int],
    outcome: str,
    terms: tuple[tuple[str, ...], ...],
    given: Covariates,
    said: Said,
) -> Question:
    """Settle the categories, the references and the codings."""
    predictors = names_of(terms)
    if outcome in predictors:
        problem = f"the outcome {outcome!r} is among its own predictors"
        raise EstimationError(problem, expected="other attributes")
    for name in (*said.reference, *said.scores):
        if name not in (outcome, *predictors):
            problem = f"{name!r} is not in the regression"
            raise EstimationError(problem, expected=nearest(name, [outcome, *predictors]))

    def categories_of(name: str) -> tuple[str, ...]:
        if name in known:
            return tuple(said.categories.get(name) or map(str, range(known[name])))
        return given.categories[name]

    codings: dict[str, Coding] = {
        name: coding_of(name, categories_of(name), said.reference, said.scores)
        for name in predictors
    }
    of_outcome = categories_of(outcome)
    if len(of_outcome) < 2:  # noqa: PLR2004
        problem = f"the outcome {outcome!r} has no two categories"
        raise EstimationError(problem, expected="an attribute, or a covariate with categories")
    wanted = said.reference.get(outcome, of_outcome[0])
    place = place_of(outcome, of_outcome, wanted)
    randomized = tuple(name for name in (outcome, *predictors) if name in known)
    sizes = tuple(known[name] for name in randomized)
    return Question(outcome, of_outcome, place, Formula(terms, codings), randomized, sizes)
