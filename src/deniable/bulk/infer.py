"""Infer a schema from a data frame that its holder already has.

The domain that comes out depends on the data: that a category exists, or how
far a number reaches, may itself tell something about a person. So this is for a
holder's own file, and what it proposes is to be read, and declared, by a person
before anything made with it leaves the house. A warning says which attributes
that concerns. Never infer a schema from what respondents answered.
"""

from __future__ import annotations

import math
import unicodedata
import warnings
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import narwhals as nw

from deniable.bulk.source import check_columns, in_our_words, known_frame, names_of
from deniable.errors import DataError, SchemaError
from deniable.schema import Attribute, Category, Schema
from deniable.schema.attribute import is_missing
from deniable.schema.bins import edges_fault
from deniable.schema.category import missing_code, missing_name, natural_codes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from deniable.schema.attribute import Kind

MOST_WHOLE_NUMBERS: Final = 20
"""A column of more different whole numbers than this is numeric, not nominal."""

MOST_CATEGORIES: Final = 256
"""A column of more different texts than this more likely names people than kinds of people."""

_WANTED_BINS: Final = 8
_ROUND_STEPS: Final = (1, 2, 2.5, 5, 10)


class DomainFromDataWarning(UserWarning):
    """The domain of an attribute was read off the data, and may reveal some of them."""


def infer_schema(
    frame: Any,  # noqa: ANN401 -- any frame that Narwhals knows
    *,
    columns: Iterable[str] | None = None,
    bins: Mapping[str, Sequence[float]] | None = None,
    missing_words: Collection[str] = ("?",),
    most_categories: int = MOST_CATEGORIES,
) -> Schema:
    """Propose a schema for the columns of a data frame.

    Enumerations keep their declared order and are ordinal. Truth values become
    no and yes. Texts, and up to 20 different whole numbers, become nominal
    categories in sorted order, a number being its own code. Other numbers fall
    into the bins given for them, or else into about eight of round width, open
    at both ends. A column with nulls gets a category for the missing answer.

    Args:
        frame: A pandas, Polars, Arrow, DuckDB or other frame, lazy or not.
        columns: Those to take; all without it.
        bins: Edges by column, declared rather than inferred.
        missing_words: Texts that stand for a missing answer. One column may use one of them.
        most_categories: Columns with more different texts are refused.

    Raises:
        DataError: Listing every column that cannot be asked as it is.
    """
    known = known_frame(frame)
    there = names_of(known)
    names = list(there if columns is None else columns)
    declared = dict(bins or {})
    check_columns([*dict.fromkeys((*names, *declared))], there)
    with in_our_words():
        return _proposed(known.lazy(), names, declared, tuple(missing_words), most_categories)


def _proposed(
    lazy: nw.LazyFrame[Any],
    names: Sequence[str],
    declared: Mapping[str, Sequence[float]],
    missing_words: tuple[str, ...],
    most_categories: int,
) -> Schema:
    dtypes = lazy.collect_schema()
    attributes, faults, read_off = [], [], []
    for name in names:
        column = _Column(lazy, name, dtypes[name], missing_words, most_categories)
        try:
            attributes.append(column.attribute(declared.get(name)))
        except (DataError, SchemaError) as error:
            told = repr(name) in error.problem
            faults.append(error.problem if told else f"column {name!r}: {error.problem}")
        if name not in declared and not isinstance(dtypes[name], nw.Enum | nw.Boolean):
            read_off.append(name)
    if faults:
        raise DataError("no schema fits these data: " + "; ".join(faults))
    if read_off:
        warnings.warn(
            f"the domains of {', '.join(read_off)} were read off the data; check that they tell"
            " nothing about a person, and declare them",
            DomainFromDataWarning,
            stacklevel=3,
        )
    return Schema(tuple(attributes))


@dataclass(frozen=True, slots=True)
class _Column:
    """One column, looked at through at most three queries."""

    frame: nw.LazyFrame[Any]
    name: str
    dtype: nw.dtypes.DType
    missing_words: tuple[str, ...]
    most_categories: int

    def attribute(self, edges: Sequence[float] | None) -> Attribute:
        if self.dtype.is_nested() or self.dtype.is_temporal() or self.dtype == nw.Binary:
            raise DataError(
                f"column {self.name!r} is of type {self.dtype}, which has no categories"
            )
        seen = self._distinct()
        declared = self._declared()
        if len(seen) == 1 and not declared and edges is None:
            raise DataError(f"column {self.name!r} does not vary; leave it out")
        missing = [word for word in self.missing_words if word in seen or word in declared]
        if len(missing) > 1:
            raise DataError(
                f"column {self.name!r} has {len(missing)} different words for a missing answer"
            )
        has_missing = bool(missing) or any(map(is_missing, seen))
        values = [value for value in seen if not is_missing(value) and value not in missing]
        kind, categories, bounds = self._answers(values, edges)
        if has_missing:
            name = missing[0] if missing else missing_name([one.name for one in categories])
            codes = [category.code for category in categories]
            categories = (*categories, Category(missing_code(codes), name))
        return Attribute(
            self.name, kind, categories, bounds, "category" if has_missing else "refuse"
        )

    def _declared(self) -> tuple[str, ...]:
        return tuple(map(str, self.dtype.categories)) if isinstance(self.dtype, nw.Enum) else ()

    def _answers(
        self, values: list[object], edges: Sequence[float] | None
    ) -> tuple[Kind, tuple[Category, ...], tuple[float, ...] | None]:
        if edges is not None or self._is_numeric(values):
            bins = self._round_edges() if edges is None else edges
            numeric = Attribute.numeric(self.name, bins)
            return "numeric", numeric.categories, numeric.edges
        if isinstance(self.dtype, nw.Enum):
            words = (word for word in self._declared() if word not in self.missing_words)
            return "ordinal", _named(words), None
        if values and all(isinstance(value, bool) for value in values):
            return "nominal", _named(("no", "yes")), None
        if all(isinstance(value, str) for value in values):
            texts = {unicodedata.normalize("NFC", str(value)) for value in values}
            return "nominal", _named(sorted(texts)), None
        if all(map(_is_whole, values)):
            return "nominal", _named(map(str, sorted(set(map(_whole, values))))), None
        raise DataError(f"column {self.name!r} holds values of several types")

    def _is_numeric(self, values: list[object]) -> bool:
        numbers = [value for value in values if _is_number(value)]
        if len(numbers) < max(1, len(values)):
            return False
        return len(values) > MOST_WHOLE_NUMBERS or not all(map(_is_whole, numbers))

    def _distinct(self) -> list[object]:
        """Return the different values, as far as they are few enough to matter."""
        few = self.most_categories + len(self.missing_words) + 2
        distinct = self.frame.select(nw.col(self.name)).unique().head(few).collect()
        # Each library has a null of its own; None stands for all of them from here on.
        seen: list[object] = distinct[self.name].drop_nulls().to_list()
        if distinct[self.name].is_null().any():
            seen.append(None)
        if len(seen) == few and not any(map(_is_number, seen)):
            raise DataError(
                f"column {self.name!r} has more than {self.most_categories} different texts, as"
                " names of people would; leave it out or raise the limit"
            )
        return seen

    def _round_edges(self) -> tuple[float, ...]:
        column = nw.col(self.name)
        numbers = self.frame.select(column)
        if not self.dtype.is_integer():
            numbers = numbers.select(column.cast(nw.Float64)).filter(column.is_finite())
        ends = numbers.select(column.min().alias("low"), column.max().alias("high")).collect()
        low, high = (
            math.nan if one is None else float(one) for one in (*ends["low"], *ends["high"])
        )
        edges = round_edges(low, high) if math.isfinite(high - low) else ()
        if edges_fault(edges):
            raise DataError(
                f"column {self.name!r} holds numbers that no round bins suit; declare bins"
            )
        return edges


def round_edges(low: float, high: float) -> tuple[float, ...]:
    """Divide the line into about eight bins of round width, open at both ends.

    >>> round_edges(17, 90)
    (-inf, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, inf)
    """
    width = (high - low) / _WANTED_BINS or 1.0
    power = 10.0 ** math.floor(math.log10(width))
    step = power * next(factor for factor in _ROUND_STEPS if factor * power >= width * (1 - 1e-9))
    first = math.floor(low / step) + 1
    last = max(first, math.ceil(high / step) - 1)
    inner = (float(f"{place * step:.12g}") for place in range(first, last + 1))
    return (-math.inf, *inner, math.inf)


def _named(names: Iterable[str]) -> tuple[Category, ...]:
    listed = list(names)
    codes = natural_codes(listed)
    return tuple(Category(code, name) for code, name in zip(codes, listed, strict=True))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return _is_number(value) and float(value).is_integer()  # type: ignore[arg-type]


def _whole(value: object) -> int:
    return int(value)  # type: ignore[call-overload, no-any-return]
