"""A fitted model, and what is asked of it later: other fits of the same reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError
from deniable.inference.regression.ascent import Peak, ascend, likelihood_of, moments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.inference.regression.model import Model
    from deniable.inference.regression.testimony import Testimony

    Array = NDArray[np.float64]

UNSEEN = 1e-10
"""Size below which a direction of the scaled outer products counts as unseen."""

STARTS = 4
"""Further starts, where the first ascent ended at a doubtful place."""

FAR = 8.0
"""A linear predictor: chances of 1 in 3,000."""

HARDLY_KNOWN = 2.0
"""A standard error, on the linear predictor, that makes odds known to a factor of 50."""

LOST = 30.0
"""A standard error, on the linear predictor, at which nothing at all is known."""


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A model at the maximum of the likelihood of some reports.

    Attributes:
        model: The model.
        testimony: The reports.
        peak: The maximum.
    """

    model: Model
    testimony: tuple[Testimony, ...]
    peak: Peak

    def covariance(self) -> Array:
        """Return the inverse of the observed information, for the coefficients.

        Where the likelihood is flat the variances are large or not positive; ``lost`` says
        where that is so.
        """
        information = self.peak.information
        scale = np.sqrt(np.maximum(np.abs(np.diag(information)), 1e-300))
        inverse = np.linalg.pinv(information / np.outer(scale, scale), rcond=1e-15, hermitian=True)
        result: Array = inverse / np.outer(scale, scale)
        n = self.model.coefficients
        return result[:n, :n]

    def reach(self) -> Array:
        """Return by how much each coefficient can make linear predictors differ."""
        each = [column.reach for column in self.model.columns]
        return np.tile(each, self.model.categories - 1)

    def lost(self) -> NDArray[np.bool_]:
        """Tell which coefficients have no finite estimate: the likelihood rises for ever."""
        error = np.sqrt(np.abs(np.diag(self.covariance()))) * self.reach()
        far = np.abs(self.peak.theta[: self.model.coefficients]) * self.reach() > FAR
        return far & (error > LOST)

    def settled(self) -> bool:
        """Tell whether the likelihood was found at rest, at a maximum."""
        scaled = _scaled(self.peak.information)
        return self.peak.at_rest and float(np.linalg.eigvalsh(scaled)[0]) > 0

    def doubtful(self) -> bool:
        """Tell whether there may be a better place: nowhere settled, or hardly anything known."""
        errors = np.sqrt(np.abs(np.diag(self.covariance()))) * self.reach()
        return not self.settled() or bool(self.lost().any() or np.any(errors > HARDLY_KNOWN))

    def holding(self, place: int, value: float) -> Peak:
        """Return the maximum with one coefficient held at a value."""
        free = np.ones(self.model.size, np.bool_)
        free[place] = False
        start = self.peak.theta.copy()
        row = np.linalg.pinv(self.peak.information, rcond=1e-12, hermitian=True)[place]
        if row[place] > 0 and not self.lost()[place]:
            start += (value - start[place]) * row / row[place]
        start[place] = value
        if likelihood_of(self.model, self.testimony, start) == -np.inf:
            start = self.model.start()
            start[place] = value
        return ascend(self.model, self.testimony, start, free)

    def keeping(self, kept: Sequence[int]) -> Fitted:
        """Return the fit of the model with some of the columns only."""
        model = self.model.keeping(kept)
        return fit(model, self.testimony)


def fit(model: Model, testimony: Sequence[Testimony]) -> Fitted:
    """Fit a model to reports.

    With few reports the likelihood may have several maxima; where the one that was found
    from even chances is a doubtful one, others are looked for.

    Raises:
        EstimationError: The reports do not determine every parameter.
    """
    found = Fitted(model, tuple(testimony), ascend(model, testimony, model.start()))
    _require_seen(found)
    if not found.doubtful():
        return found
    places = np.arange(1, model.coefficients + 1)
    for number in range(1, STARTS + 1):
        start = model.start()
        start[: model.coefficients] = np.cos(number * places) / found.reach()
        other = Fitted(model, found.testimony, ascend(model, testimony, start))
        if other.peak.likelihood > found.peak.likelihood:
            found = other
    return found


def _require_seen(fitted: Fitted) -> None:
    """Refuse a model that has directions in which no report's chance changes.

    The outer products of the score show them to within rounding; the second derivatives do
    not, for the likelihood is flat along a curve.
    """
    model = fitted.model
    _, outer, _ = moments(model, fitted.testimony, fitted.peak.theta)
    values, vectors = np.linalg.eigh(_scaled(outer))
    if values[0] > UNSEEN or fitted.lost().any():
        return
    share = np.abs(vectors[:, 0])
    share[: model.coefficients : len(model.columns)] /= 2  # an intercept is seldom what was asked
    worst = int(np.argmax(share))
    if worst < model.coefficients:
        what = f"the coefficient of {model.columns[worst % len(model.columns)].label}"
    else:
        what = "how the randomized predictors are distributed"
    problem = f"the reports do not determine {what}"
    expected = (
        "outcome and predictors asked of the same people, in groups counted together, and no "
        "predictor that follows from the others"
    )
    raise EstimationError(problem, expected=expected)


def _scaled(information: Array) -> Array:
    """Return a symmetric matrix with ones, or minus ones, on its diagonal."""
    scale = np.sqrt(np.maximum(np.abs(np.diag(information)), 1e-300))
    result: Array = information / np.outer(scale, scale)
    return result
