"""Schemas inferred from data frames: the same from every library, and warned about."""

from __future__ import annotations

import math
import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from deniable.bulk.infer import DomainFromDataWarning, infer_schema, round_edges
from deniable.errors import DataError
from deniable.schema import Attribute, Schema

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS: dict[str, list[Any]] = {
    "sex": ["male", "female", None, "female"] * 10,
    "smokes": [True, False, True, True] * 10,
    "children": [2, 0, 10, 2] * 10,
    "age": list(range(18, 58)),
    "income": [1.5, 2.25, None, 11.0] * 10,
    "job": ["?", "b", "a", "a"] * 10,
}

FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "arrow": pa.table,
    "duckdb": lambda columns: duckdb.from_arrow(pa.table(columns)),
}


def inferred(frame: Any, **options: Any) -> Schema:  # noqa: ANN401 -- any frame
    """Infer without the warning, which has a test of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DomainFromDataWarning)
        return infer_schema(frame, **options)


@pytest.mark.parametrize("library", FRAMES)
def test_every_library_gives_the_same_schema(library: str) -> None:
    """Whatever holds the data, the proposal is the same, and encodes those very data."""
    schema = inferred(FRAMES[library](COLUMNS))
    assert [(a.name, a.kind) for a in schema.attributes] == [
        ("sex", "nominal"),
        ("smokes", "nominal"),
        ("children", "nominal"),
        ("age", "numeric"),
        ("income", "numeric"),
        ("job", "nominal"),
    ]
    assert schema["sex"].cell_names == ("female", "male", "missing")
    assert schema["smokes"].cell_names == ("no", "yes")
    assert [(c.code, c.name) for c in schema["children"].categories] == [
        (0, "0"),
        (2, "2"),
        (10, "10"),
    ]
    assert schema["age"].cell_names[:2] == ("(-inf, 20)", "[20, 25)")
    assert schema["income"].missing == "category"
    assert schema["job"].cell_names == ("a", "b", "?")
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
    assert schema.encode(rows[0]) == (1, 1, 1, 0, 0, 2)
    assert all(len(schema.encode(row)) == 6 for row in rows)


@pytest.mark.parametrize(
    "column",
    [
        pl.DataFrame({"mood": pl.Series(["low", None], dtype=pl.Enum(["low", "mid", "high"]))}),
        pd.DataFrame(
            {"mood": pd.Categorical(["low", None], categories=["low", "mid", "high"], ordered=True)}
        ),
        "select 'low'::enum('low', 'mid', 'high') as mood union all select null",
    ],
    ids=["polars", "pandas", "duckdb"],
)
def test_an_enumeration_keeps_its_declared_order(column: object) -> None:
    """Declared categories come along, seen in the data or not, and nothing is warned about."""
    if isinstance(column, str):  # a query; a relation kept until the end of Python is a leak
        column = duckdb.sql(column)
    expected = Attribute.ordinal("mood", ["low", "mid", "high"], missing="category")
    assert infer_schema(column).attributes == (expected,)


def test_whole_numbers_beside_nulls_are_still_categories() -> None:
    """Pandas turns whole numbers beside nulls into floats; they are codes all the same."""
    schema = inferred(pd.DataFrame({"year": [1.0, 2.0, None]}))
    assert schema["year"].cell_names == ("1", "2", "missing")
    assert schema["year"].index(2.0) == 1


def test_declared_bins_are_taken_and_other_columns_left() -> None:
    """Columns and bins that are named are the ones used, and declared bins need no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schema = infer_schema(
            pd.DataFrame(COLUMNS), columns=["age", "smokes"], bins={"age": [0, 30, 99]}
        )
    assert schema.names == ("age", "smokes")
    assert schema["age"].edges == (0, 30, 99)


def test_domains_read_off_the_data_are_warned_about_by_name() -> None:
    """The warning names the attributes whose domain may tell something, and no others."""
    with pytest.warns(DomainFromDataWarning, match="of sex, children, age, income, job were"):
        infer_schema(pl.DataFrame(COLUMNS))


@pytest.mark.parametrize(
    ("columns", "options", "told"),
    [
        ({"a": ["x", "x"]}, {}, "'a' does not vary"),
        ({"a": [None, None]}, {}, "'a'"),
        ({"a": [f"person {n}" for n in range(300)]}, {}, "names of people"),
        ({"a": pd.to_datetime(["2020-01-01", "2021-01-01"])}, {}, "'a' is of type Datetime"),
        ({"a": [b"x", b"y"]}, {}, "'a'"),
        ({"a": [["x"], ["y"]]}, {}, "'a' is of type List"),
        ({"a": ["?", "NA", "x"]}, {"missing_words": ["?", "NA"]}, "2 different words"),
        ({"a": [" x", "y"]}, {}, "'a'.*begins or ends with a space"),
        ({"a": [math.inf, -math.inf]}, {}, "'a' holds numbers that no round bins suit"),
        ({"a": [-1e308, 0.5, 1e308]}, {}, "'a' holds numbers that no round bins suit"),
        ({"a": [10**17 + n for n in range(30)]}, {}, "'a' holds numbers that no round bins suit"),
        ({"my column": ["x", "y"]}, {}, "cannot be the name"),
        ({"a": ["x", "y"]}, {"columns": ["b"]}, "lack the column 'b'"),
        ({"a": ["x", "y"]}, {"bins": {"b": [0, 1]}}, "lack the column 'b'"),
        ({"a": [1.5, 2.5]}, {"bins": {"a": [2, 1]}}, "do not increase"),
    ],
)
def test_columns_that_cannot_be_asked_are_refused_by_name(
    columns: dict[str, Any], options: dict[str, Any], told: str
) -> None:
    """Each refusal names the column and what is the matter with it."""
    with pytest.raises(DataError, match=told):
        inferred(pl.DataFrame(columns), **options)
    if columns.keys() == {"a"} and not isinstance(columns["a"], pd.Index):
        with pytest.raises(DataError):
            inferred(pa.table(columns), **options)


def test_an_empty_text_is_a_missing_answer() -> None:
    """What randomizing takes for no answer, inferring does too, under a name that is free."""
    schema = inferred(pl.DataFrame({"a": ["", "missing", "present"]}))
    assert schema["a"].cell_names == ("missing", "present", "not answered")
    assert schema["a"].index("") == schema["a"].missing_cell


def test_nought_has_one_sign() -> None:
    """Arrow tells 0 from -0; as a category they are one."""
    assert inferred(pa.table({"a": [-0.0, 0.0, 1.0]}))["a"].cell_names == ("0", "1")


def test_one_name_in_two_normal_forms_is_one_category() -> None:
    """An accent typed in two ways is one answer, not an error that would quote it."""
    schema = inferred(pl.DataFrame({"drink": ["caf\u00e9", "cafe\u0301", "tea"]}))
    assert schema["drink"].cell_names == ("café", "tea")


def test_all_columns_at_fault_are_told_at_once_without_their_values() -> None:
    """Two bad columns are one error, which holds nothing that stands in them."""
    with pytest.raises(DataError) as refusal:
        inferred(pl.DataFrame({"a": [" secret", "y"], "b": ["secret", "secret"]}))
    assert "'b'" in str(refusal.value)
    assert "space" in str(refusal.value)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-3, 1e6), (17, 90), (0.001, 0.0011), (5, 5), (1e9, 1e9 + 1)]
)
def test_bins_read_off_the_data_are_few_round_and_open(low: float, high: float) -> None:
    """About eight bins, edges inside the range or nearly, and no number falls outside."""
    edges = round_edges(low, high)
    assert edges[0] == -edges[-1] == float("-inf")
    assert 2 <= len(edges) - 1 <= 11
    steps = {f"{high - low:.4e}".partition("e")[0] for low, high in pairwise(edges[1:-1])}
    assert steps < {"1.0000", "2.0000", "2.5000", "5.0000"}
    assert len(steps) <= 1
    Attribute.numeric("a", edges)
