"""A column's cells are those that the schema gives each answer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.bulk.cells import cells_of
from deniable.bulk.domain import OUTSIDE, Codes, Declared
from deniable.errors import AnswerError, DataError
from deniable.schema import Attribute, Category

if TYPE_CHECKING:
    from deniable.bulk.domain import Domain

ATTRIBUTES = [
    Attribute.nominal("plain", ["no", "yes"]),
    Attribute.nominal("open", ["true", "false", "unsure"], missing="category"),
    Attribute.nominal("digits", ["0", "1", "7"], missing="category"),
    Attribute("coded", "ordinal", tuple(Category(c, n) for c, n in ((-5, "a"), (40, "b")))),
    Attribute("far", "nominal", tuple(Category(c, n) for c, n in ((-(10**12), "a"), (7, "b")))),
    Attribute.numeric("age", [18, 30, 65.5]),
    Attribute.numeric("income", [-math.inf, 0, 1e3, math.inf], missing="category"),
]
DOMAINS: list[Domain] = [*map(Declared, ATTRIBUTES), Codes("codes", 3), Codes("many", 2**22)]

SPELLINGS = ["no", "yes", "true", "false", "unsure", "a", "b", "NaN", "inf", "[18, 30)", ""]
SPELLINGS += ["0", "1", "7", "-5", "18", "30.0", "65.5", "+21", "1e3", "007", "1.0", " 20", "2"]
TEXTS = st.sampled_from(SPELLINGS) | st.floats(allow_nan=False, width=32).map(str)
INTEGERS = st.integers(-6, 70) | st.integers(-(2**62), 2**62) | st.sampled_from([-(10**12)])
KINDS = [
    st.lists(st.none() | INTEGERS).map(lambda x: pa.array(x, pa.int64())),
    st.lists(st.none() | st.integers(0, 2**64 - 1)).map(lambda x: pa.array(x, pa.uint64())),
    st.lists(st.none() | st.integers(-6, 70)).map(lambda x: pa.array(x, pa.int8())),
    st.lists(st.none() | st.integers(0, 70)).map(lambda x: pa.array(x, pa.uint8())),
    st.lists(st.none() | st.booleans()).map(lambda x: pa.array(x, pa.bool_())),
    st.lists(st.none() | st.floats() | st.integers(-6, 70).map(float)).map(
        lambda x: pa.array(x, pa.float64())
    ),
    st.lists(st.none() | TEXTS).map(lambda x: pa.array(x, pa.string())),
    st.lists(st.none() | TEXTS).map(lambda x: pa.array(x, pa.large_string())),
    st.lists(st.none() | TEXTS).map(lambda x: pa.array(x, pa.string()).dictionary_encode()),
    st.lists(st.none()).map(lambda x: pa.array(x, pa.null())),
    st.lists(st.none() | st.decimals(-9, 70, places=1)).map(
        lambda x: pa.array(x, pa.decimal128(9, 1))
    ),
]


def looked_up(domain: Domain, answer: object) -> int:
    """Ask the schema for one cell."""
    try:
        if answer is None or answer != answer:  # noqa: PLR0124 -- NaN
            return domain.missing()
        return domain.index(answer)
    except AnswerError:
        return OUTSIDE


@given(st.sampled_from(DOMAINS), st.lists(st.one_of(KINDS), min_size=1, max_size=1))
def test_a_column_is_read_as_the_schema_reads_each_answer(
    domain: Domain, arrays: list[pa.Array]
) -> None:
    """Whatever the type of a column, its cells are those of ``Attribute.index``."""
    column = pa.chunked_array([arrays[0], arrays[0]])
    cells, outside = cells_of(column, domain)
    wanted = [looked_up(domain, answer) for answer in column.to_pylist()]
    inside = np.array(wanted, np.int64) != OUTSIDE
    assert outside == np.count_nonzero(~inside)
    assert cells[inside].tolist() == [cell for cell in wanted if cell != OUTSIDE]


@pytest.mark.parametrize("domain", [Declared(a) for a in ATTRIBUTES if a.edges is not None])
def test_many_different_numbers_in_text_are_read_like_few(domain: Domain) -> None:
    """Thousands of different texts take a quicker way to the same cells."""
    rng = np.random.default_rng(4)
    texts = [f"{x:.3f}" for x in rng.normal(30, 400, 3000)] + ["18", "30", "65.5", "-7", "+20"]
    texts += ["", " 31 ", "1e2", "nonsense", "0.", ".5", "1" * 30, "-0.0", "inf"]
    cells, outside = cells_of(pa.chunked_array([pa.array(texts)]), domain)
    wanted = np.array([looked_up(domain, text or None) for text in texts])
    assert outside == np.count_nonzero(wanted == OUTSIDE) > 0
    assert np.array_equal(cells[wanted != OUTSIDE], wanted[wanted != OUTSIDE])


def cells_of_texts(domain: Domain, *texts: str) -> list[int]:
    """Return the cells of texts, ``OUTSIDE`` where there is none."""
    found = []
    for text in texts:
        cells, outside = cells_of(pa.chunked_array([pa.array([text])]), domain)
        found.append(OUTSIDE if outside else int(cells[0]))
    return found


@pytest.mark.parametrize(
    "domain",
    [
        Declared(Attribute.nominal("q", ["0", "1", "2", "-3"], missing="category")),
        Declared(Attribute.ordinal("q", ["0", "1", "2", "-3"])),
        Declared(Attribute.nominal("q", ["a", "b", "c"])),
        Codes("q", 3),
    ],
)
def test_a_whole_number_with_a_point_is_that_number(domain: Domain) -> None:
    """The text 1.0 means 1, as the number 1.0 does; pandas writes columns with a gap so."""
    assert cells_of_texts(domain, "0.0", "1.0", "2.00", "2.", "-0.0") == [0, 1, 2, 2, 0]
    wanted = cells_of_texts(domain, "-3", "9")
    assert cells_of_texts(domain, "-3.0", "9.0") == wanted
    none = ["1.5", "01.0", "1.0.0", ".0", " 1.0", "1,0", "1e0"]
    assert cells_of_texts(domain, *none) == [OUTSIDE] * len(none)


def test_a_category_called_like_a_number_with_a_point_keeps_its_name() -> None:
    """A version 1.0 among categories is not read as the code 1."""
    domain = Declared(Attribute.nominal("q", ["1.0", "2.0"]))
    assert cells_of_texts(domain, "1.0", "2.0", "1", "0.0") == [0, 1, 1, 0]


def test_a_column_without_rows_has_no_cells() -> None:
    """Nothing in, nothing out."""
    cells, outside = cells_of(pa.chunked_array([], pa.int8()), DOMAINS[0])
    assert (cells.size, outside) == (0, 0)


def test_a_column_of_lists_holds_no_answers() -> None:
    """What cannot be an answer at all is refused by the column's name and type."""
    with pytest.raises(DataError, match="'plain' holds no answers"):
        cells_of(pa.chunked_array([pa.array([[1], [2]])]), DOMAINS[0])
