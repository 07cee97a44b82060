"""Table: an estimated distribution over the cells of some attributes, and how sure it is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import EstimationError, nearest
from deniable.estimation import comparison, presentation
from deniable.estimation.interval import Interval, comparisons_of, quantile, score_bounds
from deniable.estimation.part import marginal_covariance, ratio_covariance, summed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.estimation.collected import Collected
    from deniable.estimation.covariance import Covariance, Curve

    Array = NDArray[np.float64]

UNKNOWN = "this method says nothing about chance, and no reports carry the whole table"
FEW_PEOPLE = 30


@dataclass(frozen=True, slots=True)
class Axis:
    """One attribute of a table and the names of its categories."""

    name: str
    categories: tuple[str, ...]

    def place(self, category: str | int) -> int:
        """Return the place of a category, given by name or by place."""
        if isinstance(category, int) and 0 <= category < len(self.categories):
            return category
        if category in self.categories:
            return self.categories.index(str(category))
        problem = f"the attribute {self.name!r} has no such category"
        expected = ", ".join(map(repr, self.categories[:8]))
        raise EstimationError(problem, given=category, expected=expected)


@dataclass(frozen=True, eq=False)
class Table:
    """An estimated distribution.

    Attributes:
        axes: The attributes, in the order of the array's axes.
        estimate: The share of each cell.
        people: How many respondents' reports it rests on.
        method: The estimator's name in the registry.
        citation: Where the estimator comes from.
        design: The digest of the design under which the reports were made.
        covariance: How sure its unprojected form is, or None where nobody can say.
        notes: What a reader must know, such as what a classic estimator loses.
        reason: Why this method was chosen, if something chose it.
        collected: How the reports were made, if that is known.
        among: The attributes and categories of those whose shares these are; empty for all.
    """

    axes: tuple[Axis, ...]
    estimate: Array
    people: int
    method: str
    citation: str = ""
    design: str = ""
    covariance: Covariance | None = None
    notes: tuple[str, ...] = ()
    reason: str = ""
    collected: Collected | None = None
    among: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is no table."""
        if self.estimate.shape != self.shape:
            problem = "an estimate does not fit its attributes"
            raise EstimationError(problem, given=self.estimate.shape, expected=f"{self.shape}")
        if not np.all(np.isfinite(self.estimate)):
            problem = "an estimate holds a share that is no number"
            raise EstimationError(problem, expected="finite shares")

    @property
    def names(self) -> tuple[str, ...]:
        """Return the attributes' names."""
        return tuple(axis.name for axis in self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the attributes' numbers of categories."""
        return tuple(len(axis.categories) for axis in self.axes)

    @property
    def is_proper(self) -> bool:
        """Tell whether the shares are a distribution: none negative, sum 1."""
        return bool(self.estimate.min() >= 0) and math.isclose(self.estimate.sum(), 1, abs_tol=1e-6)

    @cached_property
    def curve(self) -> Curve | None:
        """Return how each cell's variance depends on its true share."""
        return None if self.covariance is None else self.covariance.curve()

    @property
    def variance(self) -> Array:
        """Return the variance of each cell's unprojected estimate; NaN where unknown."""
        if self.covariance is None or self.curve is None:
            return np.full(self.shape, np.nan)
        return np.maximum(self.curve.at(np.clip(self.covariance.centre, 0, 1)), 0)

    @property
    def standard_error(self) -> Array:
        """Return the standard error of each cell's unprojected estimate; NaN where unknown."""
        result: Array = np.sqrt(self.variance)
        return result

    @property
    def worth(self) -> Array:
        """Return how many plain answers would tell each cell as precisely; NaN where unknown.

        k = π(1 − π)/Var, with π no nearer to 0 or 1 than a standard error.
        """
        error = np.minimum(self.standard_error, 0.5)
        share = np.clip(self.estimate, error, 1 - error)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.minimum(share * (1 - share) / self.variance, self.people)

    @property
    def total_worth(self) -> float:
        """Return how many plain answers would give the whole table the same squared error."""
        share = np.clip(self.estimate, 0, 1)
        total = float(self.variance.sum())
        if not total > 0:
            return math.nan if math.isnan(total) else float(self.people)
        return min(float(np.sum(share * (1 - share))) / total, float(self.people))

    def interval(self, level: float = 0.95, *, simultaneous: bool = False) -> Interval:
        """Return an interval for each cell's true share.

        Args:
            level: The probability with which it holds the truth.
            simultaneous: Whether all cells' intervals shall hold at once (Bonferroni).
        """
        comparisons = comparisons_of(self.estimate.size) if simultaneous else 1
        if self.covariance is None or self.curve is None:
            nothing = np.full(self.shape, np.nan)
            return Interval(nothing, nothing, level, simultaneous, UNKNOWN)
        z = quantile(level, comparisons=comparisons)
        low, high = score_bounds(self.covariance.centre, self.curve, z)
        caveat = "" if self.people >= FEW_PEOPLE else f"only {self.people} people answered"
        return Interval(low, high, level, simultaneous, caveat)

    def marginalize(self, names: Sequence[str]) -> Table:
        """Return the table of some of the attributes, in the order given."""
        kept = [self._axis(name) for name in names]
        if not kept or len(set(kept)) != len(kept):
            problem = "a marginal table needs different attributes"
            raise EstimationError(problem, given=list(names), expected=", ".join(self.names))
        axes = tuple(self.axes[axis] for axis in kept)
        found = self.covariance
        covariance = None if found is None else marginal_covariance(found, kept, self.people)
        return self._derived(axes, summed(self.estimate, kept), covariance)

    def condition(self, given: Mapping[str, str | int]) -> Table:
        """Return the distribution of the other attributes among those of the given categories.

        The intervals are Fieller's: wide, up to all of [0, 1], if so few are in the condition
        that their own share may be 0.
        """
        fixed = {self._axis(name): self._find(name, value) for name, value in given.items()}
        rest = [axis for axis in range(len(self.axes)) if axis not in fixed]
        if not fixed or not rest:
            problem = "a condition fixes at least one attribute and leaves at least one"
            raise EstimationError(problem, given=list(given), expected=", ".join(self.names))
        index = tuple(fixed.get(axis, slice(None)) for axis in range(len(self.axes)))
        share = float(self.estimate[index].sum())
        if share <= 0:
            problem = "nobody is estimated to be in the condition"
            raise EstimationError(problem, given=dict(given), expected="a category that occurs")
        axes = tuple(self.axes[axis] for axis in rest)
        covariance = (
            None
            if self.covariance is None
            else ratio_covariance(self.covariance, index, self.people)
        )
        named = [(self.axes[axis].name, self.axes[axis].categories[fixed[axis]]) for axis in fixed]
        found = self._derived(axes, self.estimate[index] / share, covariance)
        return replace(found, among=(*self.among, *named))

    def compare(self, other: Table | Array) -> comparison.Comparison:
        """Return every distance of this table from another, or from an array of true shares."""
        if isinstance(other, Table):
            reference = other.marginalize(self.names).estimate
        else:
            reference = np.asarray(other, dtype=np.float64)
        return comparison.compare(self.estimate, reference, self.people)

    def named(self, categories: Mapping[str, Sequence[str]]) -> Table:
        """Return the table with the categories' names instead of their places."""
        axes = tuple(
            Axis(axis.name, tuple(categories.get(axis.name, axis.categories))) for axis in self.axes
        )
        return replace(self, axes=axes)

    def noting(self, *notes: str, reason: str | None = None) -> Table:
        """Return the table with notes added, and with another reason if one is given."""
        told = self.reason if reason is None else reason
        return replace(self, notes=(*self.notes, *notes), reason=told)

    def tidy(self, level: float = 0.95, *, simultaneous: bool = False) -> dict[str, list[Any]]:
        """Return one row for each cell as columns, for any data frame."""
        return presentation.tidy(self, self.interval(level, simultaneous=simultaneous))

    def to_frame(
        self,
        backend: presentation.Backend = "pandas",
        level: float = 0.95,
        *,
        simultaneous: bool = False,
    ) -> Any:  # noqa: ANN401 -- its kind is the caller's choice
        """Return the tidy table as a frame of pandas, Polars or PyArrow."""
        return presentation.frame(self.tidy(level, simultaneous=simultaneous), backend)

    def __str__(self) -> str:
        """Return the table as text, 80 columns wide."""
        return presentation.text(self, self.interval())

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        return presentation.html(self, self.interval())

    def _axis(self, name: str) -> int:
        if name not in self.names:
            problem = f"the table has no attribute {name!r}"
            raise EstimationError(problem, expected=nearest(name, self.names))
        return self.names.index(name)

    def _find(self, name: str, value: str | int) -> int:
        return self.axes[self._axis(name)].place(value)

    def _derived(
        self, axes: tuple[Axis, ...], estimate: Array, covariance: Covariance | None
    ) -> Table:
        return replace(self, axes=axes, estimate=estimate, covariance=covariance)


def plain_axes(names: Sequence[str], shape: Sequence[int]) -> tuple[Axis, ...]:
    """Return axes whose categories are called by their places."""
    return tuple(
        Axis(name, tuple(map(str, range(size)))) for name, size in zip(names, shape, strict=True)
    )
