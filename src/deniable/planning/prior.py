"""Prior: a guess of how the answers are distributed, to plan with.

Tables of some attributes each, independent of each other; attributes of none are even.
"""

from __future__ import annotations

import csv
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import DataError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from deniable.schema import Schema

    Array = NDArray[np.float64]

WEIGHTS = ("share", "estimate", "count", "n", "weight")
"""Names of a column that says how many people are in a cell."""


@dataclass(frozen=True, eq=False)
class Prior:
    """A guess of the whole joint distribution.

    Attributes:
        tables: Some attributes and the shares of their cells, no attribute in two.
    """

    tables: tuple[tuple[tuple[str, ...], Array], ...]

    def truth(self, names: Sequence[str], sizes: Sequence[int]) -> Array:
        """Return the shares of the cells of some attributes, in their order."""
        result = np.ones(())
        order: list[str] = []
        for known, table in self.tables:
            kept = [name for name in known if name in names]
            if kept:
                dropped = tuple(axis for axis, name in enumerate(known) if name not in kept)
                result = np.multiply.outer(result, table.sum(axis=dropped))
                order += kept
        for name, size in zip(names, sizes, strict=True):
            if name not in order:
                result = np.multiply.outer(result, np.full(size, 1 / size))
                order.append(name)
        return np.ascontiguousarray(result.transpose([order.index(name) for name in names]))


def prior_of(
    tables: Mapping[Any, ArrayLike],  # a mapping's keys are invariant: names and tuples mix
    schema: Schema,
) -> Prior:
    """Return a prior from tables of weights by attribute or attributes, checked.

    Weights need not sum to one; those below zero, as unbiased estimates have them, count as 0.

    Raises:
        DataError: A table does not fit its attributes, or an attribute is in two.
    """
    found: list[tuple[tuple[str, ...], Array]] = []
    taken: set[str] = set()
    for key, given in tables.items():
        names = (key,) if isinstance(key, str) else tuple(key)
        for name in names:
            if name not in schema.names:
                problem = f"the prior names an attribute {name!r} that the survey does not ask"
                raise DataError(problem, expected=nearest(name, schema.names))
        if taken & set(names) or len(set(names)) < len(names):
            problem = "an attribute is in two tables of the prior"
            twice = sorted(taken & set(names)) or list(names)
            raise DataError(problem, given=twice, expected="every attribute in one table at most")
        taken.update(names)
        table = np.maximum(np.asarray(given, np.float64), 0)
        shape = tuple(schema[name].size for name in names)
        if table.shape != shape or not np.all(np.isfinite(table)) or not table.sum() > 0:
            problem = f"the prior of {', '.join(names)} does not fit"
            raise DataError(problem, given=table.shape, expected=f"shares of {shape} cells")
        found.append((names, table / table.sum()))
    return Prior(tuple(found))


def read_prior(path: Path, schema: Schema) -> Prior:
    """Read a guess from a file.

    Three forms: JSON, ``{"smokes": [0.7, 0.3], "age": {"young": 0.4, "old": 0.6}}``; CSV with
    a column for each attribute and one called share or count; the CSV that ``deniable
    estimate --format csv`` writes.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the prior {path.name} cannot be read") from error
    if path.suffix.lower() == ".json":
        return prior_of(_from_json(text, path.name, schema), schema)
    rows = list(csv.DictReader(text.splitlines()))
    heads = list(rows[0]) if rows else []
    if {"table", "cell", "estimate"} <= set(heads):
        return prior_of(_from_estimates(rows, schema), schema)
    weight = next((head for head in heads if head.lower() in WEIGHTS), None)
    names = tuple(head for head in heads if head in schema.names)
    if weight is None or not names:
        problem = f"the prior {path.name} has no column of shares, or no attribute"
        expected = "columns named as attributes, and one called share or count"
        raise DataError(problem, given=heads, expected=expected)
    cells = (([row[name] for name in names], row[weight]) for row in rows)
    return prior_of({names: _laid_out(names, cells, schema)}, schema)


def _from_json(text: str, file: str, schema: Schema) -> dict[tuple[str, ...] | str, ArrayLike]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise DataError(
            f"the prior {file} is not JSON", expected='{"smokes": [0.7, 0.3]}'
        ) from error
    if not isinstance(document, dict):
        problem = f"the prior {file} has no attributes"
        raise DataError(problem, expected='an object such as {"smokes": [0.7, 0.3]}')
    found: dict[tuple[str, ...] | str, ArrayLike] = {}
    for name, shares in document.items():
        if isinstance(shares, dict):
            cells = (([category], share) for category, share in shares.items())
            found[name] = _laid_out((name,), cells, schema)
        elif isinstance(shares, list) and all(isinstance(share, int | float) for share in shares):
            found[name] = shares
        else:
            problem = f"the prior of {name!r} is no list of shares"
            raise DataError(problem, expected="one number for each category, in their order")
    return found


def _from_estimates(
    rows: Sequence[Mapping[str, str]], schema: Schema
) -> dict[tuple[str, ...] | str, ArrayLike]:
    tables = dict.fromkeys(row["table"] for row in rows)
    return {
        tuple(table.split(",")): _laid_out(
            tuple(table.split(",")),
            ((row["cell"].split(","), row["estimate"]) for row in rows if row["table"] == table),
            schema,
        )
        for table in tables
    }


def _laid_out(
    names: Sequence[str], cells: Iterable[tuple[Sequence[str], Any]], schema: Schema
) -> Array:
    """Return the weights by cell; categories are named, or numbered from 0."""
    for name in names:
        schema.position(name)
    result = np.zeros([schema[name].size for name in names])
    for categories, given in cells:
        if len(categories) != len(names):
            problem = "a cell of the prior does not have one category for each attribute"
            raise DataError(problem, given=len(categories), expected=str(len(names)))
        place = tuple(_place(schema, n, c) for n, c in zip(names, categories, strict=True))
        result[place] += _number(given)
    return result


def _place(schema: Schema, name: str, category: str) -> int:
    known = schema[name].cell_names
    if category in known:
        return known.index(category)
    if category.isdecimal() and int(category) < len(known):
        return int(category)
    problem = f"the attribute {name!r} has no category {category!r}"
    raise DataError(problem, expected=nearest(category, known))


def _number(given: object) -> float:
    try:
        number = float(given)  # type: ignore[arg-type]  # what is no number is refused below
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        problem = "a share of the prior is no number"
        raise DataError(problem, given=given, expected="such as 0.25")
    return number
