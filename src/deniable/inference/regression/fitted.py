"""A fitted model, and what is asked of it later: other fits of the same reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError
from deniable.inference.regression.ascent import Peak, ascend, likelihood_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.inference.regression.model import Model
    from deniable.inference.regression.testimony import Testimony

    Array = NDArray[np.float64]

UNSEEN = 1e-9
"""Relative size below which a direction of the scaled information counts as unseen."""

FAR = 8.0
"""A linear predictor: chances of 1 in 3,000."""

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
        """Return by how much each coefficient can change a linear predictor."""
        each = [
            float(np.abs(column.cells).max() * np.abs(column.rows).max())
            for column in self.model.columns
        ]
        return np.tile(np.maximum(each, 1e-300), self.model.categories - 1)

    def lost(self) -> NDArray[np.bool_]:
        """Tell which coefficients have no finite estimate: the likelihood rises for ever."""
        error = np.sqrt(np.abs(np.diag(self.covariance()))) * self.reach()
        far = np.abs(self.peak.theta[: self.model.coefficients]) * self.reach() > FAR
        return far & (error > LOST)

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

    Raises:
        EstimationError: The reports do not determine every parameter.
    """
    peak = ascend(model, testimony, model.start())
    found = Fitted(model, tuple(testimony), peak)
    _require_seen(found)
    return found


def _require_seen(fitted: Fitted) -> None:
    """Refuse a model that has directions which no report tells anything about."""
    information = fitted.peak.information
    scale = np.sqrt(np.maximum(np.abs(np.diag(information)), 1e-300))
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    if values[0] > UNSEEN or fitted.lost().any():
        return
    model = fitted.model
    worst = int(np.argmax(np.abs(vectors[:, 0])))
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
