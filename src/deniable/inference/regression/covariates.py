"""Plain covariates: what is known of each respondent openly, row by row beside the reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from deniable.errors import EstimationError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from narwhals.typing import IntoDataFrame
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

MOST_CATEGORIES = 50
"""A column of texts with more different ones is a name or a remark and no category."""


@dataclass(frozen=True, slots=True, eq=False)
class Covariates:
    """Plain columns as numbers.

    Attributes:
        values: For each column its categories' places or its numbers; NaN where unknown.
        categories: For each column its categories, in order; none if it is a number.
        length: The number of rows.
    """

    values: Mapping[str, Array]
    categories: Mapping[str, tuple[str, ...]]
    length: int

    def known(self) -> NDArray[np.bool_]:
        """Tell for each row whether every column is known."""
        rows = np.ones(self.length, np.bool_)
        for column in self.values.values():
            rows &= np.isfinite(column)
        return rows


def covariates_of(
    frame: IntoDataFrame | None,
    names: Sequence[str],
    declared: Mapping[str, Sequence[str]],
) -> Covariates:
    """Return some columns of a frame.

    Args:
        frame: A frame that Narwhals knows, or None if there is none.
        names: The columns.
        declared: The categories of a column, in order, where they are known. Otherwise texts
            and truth values are categories in alphabetical order, and numbers are numbers.
    """
    if frame is None:
        return Covariates({}, {}, 0)
    found = nw.from_native(frame, eager_only=True)
    values: dict[str, Array] = {}
    categories: dict[str, tuple[str, ...]] = {}
    for name in names:
        if name not in found.columns:
            problem = f"there is no attribute and no covariate {name!r}"
            raise EstimationError(problem, expected=nearest(name, found.columns))
        values[name], categories[name] = _column(found[name], declared.get(name))
    return Covariates(values, categories, len(found))


def _column(
    column: nw.Series[Any], declared: Sequence[str] | None
) -> tuple[Array, tuple[str, ...]]:
    if declared is None and column.dtype.is_numeric():
        return column.cast(nw.Float64).to_numpy().astype(np.float64), ()
    absent = column.is_null().to_numpy()
    texts = [None if gone else _text(one) for one, gone in zip(column, absent, strict=True)]
    known = tuple(declared or sorted({text for text in texts if text is not None}))
    if len(known) > MOST_CATEGORIES:
        problem = f"the covariate {column.name!r} has {len(known)} different texts"
        raise EstimationError(problem, expected=f"at most {MOST_CATEGORIES} categories")
    places: dict[str | None, float] = {text: float(place) for place, text in enumerate(known)}
    return np.array([places.get(text, np.nan) for text in texts]), known


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool | np.bool_) else str(value)
