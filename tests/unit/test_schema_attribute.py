"""Attributes and schemas: which cell an answer has, and what is refused."""

from __future__ import annotations

import base64
import hashlib
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable.errors import AnswerError, SchemaError
from deniable.schema import Attribute, Category, Schema

SEX = Attribute.nominal("sex", ["female", "male"])
AGE = Attribute.numeric("age", [18, 30, 65])
OPEN = Attribute.numeric("income", [-math.inf, 0, 1000, math.inf], missing="category")
SMOKES = Attribute.nominal("smokes", ["no", "yes"], missing="category")
YEARS = Attribute.nominal("year", ["1999", "2001"])


@pytest.mark.parametrize(
    ("attribute", "answer", "cell"),
    [
        (SEX, "female", 0),
        (SEX, 1, 1),
        (SEX, "1", 1),
        (SEX, 1.0, 1),
        (SEX, np.int8(1), 1),
        (SMOKES, True, 1),
        (SMOKES, "False", 0),
        (SMOKES, None, 2),
        (SMOKES, "", 2),
        (SMOKES, math.nan, 2),
        (SMOKES, Decimal("NaN"), 2),
        (SMOKES, "missing", 2),
        (SMOKES, -1, 2),
        (YEARS, "2001", 1),
        (YEARS, 2001, 1),
        (AGE, 18, 0),
        (AGE, 29.999, 0),
        (AGE, 30, 1),
        (AGE, "30.0", 1),
        (AGE, " 3e1 ", 1),
        (AGE, 65, 1),
        (AGE, Decimal(18), 0),
        (AGE, Fraction(59, 2), 0),
        (AGE, np.float32(18), 0),
        (AGE, "[30, 65]", 1),
        (OPEN, -1e300, 0),
        (OPEN, 1e300, 2),
        (OPEN, None, 3),
    ],
)
def test_an_answer_has_the_cell_that_its_name_code_or_number_says(
    attribute: Attribute, answer: object, cell: int
) -> None:
    """Names, codes, truth values, numbers and their spellings in a file lead to the same cell."""
    assert attribute.index(answer) == cell


OUTSIDE: list[tuple[Attribute, object]] = [
    (SEX, "xyzzy"),
    (SEX, 2),
    (SEX, 0.5),
    (SEX, True),
    (SEX, None),
    (SEX, ""),
    (SEX, b"female"),
    (SEX, ["female"]),
    (SEX, "01"),
    (YEARS, 0),
    (AGE, 17.99),
    (AGE, 65.01),
    (AGE, "4_0"),
    (AGE, "nan"),
    (AGE, "٣٠"),
    (AGE, True),
    (AGE, math.inf),
    (AGE, 10**400),
    (AGE, Decimal("sNaN")),
    (OPEN, math.inf),
    (OPEN, -math.inf),
]


@pytest.mark.parametrize(("attribute", "answer"), OUTSIDE, ids=str)
def test_an_answer_outside_the_domain_is_refused_without_being_named(
    attribute: Attribute, answer: object
) -> None:
    """The error names attribute and domain; neither it nor what it chains holds the answer."""
    with pytest.raises(AnswerError) as refusal:
        attribute.index(answer)
    assert attribute.name in str(refusal.value)
    assert refusal.value.__context__ is None
    assert refusal.value.given is None
    if isinstance(answer, str) and answer:
        assert answer not in str(refusal.value)


def test_a_missing_cell_is_the_last_and_explicit() -> None:
    """A missing answer that is a category counts among the cells; the answers are without it."""
    assert (SMOKES.size, SMOKES.missing_cell, SEX.missing_cell) == (3, 2, None)
    assert SMOKES.cell_names == ("no", "yes", "missing")
    assert [category.name for category in SMOKES.answers] == ["no", "yes"]


def named(*names: str) -> tuple[Category, ...]:
    """Make categories of names, coded by their places."""
    return tuple(Category(code, name) for code, name in enumerate(names))


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({"name": "1st"}, "cannot be the name"),
        ({"name": "a b"}, "cannot be the name"),
        ({"name": "a" * 65}, "cannot be the name"),
        ({"kind": "cardinal"}, "unknown kind"),
        ({"missing": "skip"}, "missing='skip'"),
        ({"categories": named("x")}, "has 1 cells"),
        ({"categories": ()}, "has 0 cells"),
        ({"categories": named("x", "x")}, "name 'x' twice"),
        ({"categories": named("é", "e\u0301")}, "name 'é' twice"),
        ({"categories": (Category(1, "x"), Category(1, "y"))}, "code 1 twice"),
        ({"categories": (Category(2, "1"), Category(1, "2"))}, "name of one category and code"),
        ({"edges": (0, 1)}, "if and only if"),
        ({"kind": "numeric"}, "if and only if"),
        ({"kind": "numeric", "edges": (0, 1, 2)}, "not named after its bins"),
        ({"kind": "numeric", "edges": (0, math.nan)}, "not a number"),
        ({"labels": {"en": "\ud800"}}, "cannot be printed"),
    ],
)
def test_an_attribute_that_cannot_be_asked_is_refused(
    arguments: dict[str, Any], fault: str
) -> None:
    """Names, kinds, codes and edges are checked when the record is made."""
    usual: dict[str, Any] = {"name": "a", "kind": "nominal", "categories": named("x", "y")}
    with pytest.raises(SchemaError, match=fault):
        Attribute(**(usual | arguments))


@pytest.mark.parametrize(
    ("code", "name"),
    [(True, "x"), (1.0, "x"), (2**53, "x"), (0, ""), (0, " x"), (0, "x\n"), (0, "x" * 201), (0, 1)],
)
def test_a_category_needs_a_whole_code_and_a_printable_name(code: object, name: object) -> None:
    """True is no code, and white space that nobody sees is no name."""
    with pytest.raises(SchemaError):
        Category(code, name)  # type: ignore[arg-type]  # that is the point


def test_a_name_is_found_in_either_normal_form() -> None:
    """An accent typed as one character or as two is the same name."""
    attribute = Attribute.nominal("drink", ["cafe\u0301", "tea"])
    assert attribute.cell_names[0] == "café"
    assert attribute.index("cafe\u0301") == attribute.index("café") == 0


def test_labels_fall_back_from_region_to_language_to_default_to_name() -> None:
    """Whoever reads a survey always sees some text."""
    category = Category(0, "yes", {"default": "Yes", "de": "Ja"})
    assert [category.label(code) for code in ("de-AT", "de", "fr")] == ["Ja", "Ja", "Yes"]
    assert Category(0, "yes").label("de") == "yes"
    assert SEX.label() == "sex"


def test_encoding_a_record_follows_the_order_of_the_schema() -> None:
    """Cells come in the schema's order, and an attribute not mentioned is not answered."""
    schema = Schema((SEX, SMOKES))
    assert schema.encode({"smokes": "yes", "sex": "female"}) == (0, 1)
    assert schema.encode({"sex": "male"}) == (1, 2)
    with pytest.raises(AnswerError, match="not answered"):
        schema.encode({"smokes": "yes"})


def test_an_answer_to_no_attribute_is_refused_without_its_key() -> None:
    """A key might itself be an answer, so the error counts it instead of naming it."""
    with pytest.raises(AnswerError) as refusal:
        Schema((SEX,)).encode({"sex": "male", "secret": 1})
    assert "secret" not in str(refusal.value)
    assert "'sex'" in str(refusal.value)


@pytest.mark.parametrize(
    ("names", "fault"),
    [((), "empty"), (("a", "a"), "two attributes"), (("Age", "age"), "differ in case")],
)
def test_a_schema_names_each_of_its_attributes_once(names: tuple[str, ...], fault: str) -> None:
    """Nothing to ask, or two things by one name, is no schema."""
    with pytest.raises(SchemaError, match=fault):
        Schema(tuple(Attribute.nominal(name, ["x", "y"]) for name in names))


def test_an_unknown_attribute_is_answered_with_the_nearest() -> None:
    """A typo in a name is met with the name that was meant."""
    with pytest.raises(SchemaError, match="expected 'sex'"):
        Schema((SEX, AGE))["sec"]


def test_the_digest_is_that_of_the_canonical_record() -> None:
    """The canonical text is spelled out here, so that other languages can check theirs."""
    schema = Schema((Attribute.numeric("height", [-math.inf, 1.5, 2]),))
    spelled = (
        '{"attributes":[{"categories":[{"code":0,"labels":{},"name":"(-inf, 1.5)"},'
        '{"code":1,"labels":{},"name":"[1.5, 2]"}],"edges":["-inf",1.5,2],"kind":"numeric",'
        '"labels":{},"missing":"refuse","name":"height"}]}'
    )
    hashed = base64.urlsafe_b64encode(hashlib.sha256(spelled.encode()).digest())
    assert schema.digest() == hashed.decode().rstrip("=")


def test_everything_a_schema_says_counts_in_its_digest() -> None:
    """Order, texts and codes change the digest; reading the record back does not."""
    schema = Schema((SEX, OPEN))
    assert Schema.from_dict(schema.to_dict()) == schema
    asked = Attribute("sex", "nominal", SEX.categories, labels={"default": "Your sex?"})
    coded = Attribute("sex", "nominal", (Category(1, "female"), Category(2, "male")))
    others = [Schema((OPEN, SEX)), Schema((asked, OPEN)), Schema((coded, OPEN))]
    assert len({schema.digest(), *(other.digest() for other in others)}) == 4


@pytest.mark.parametrize(
    ("record", "path"),
    [
        ([], "the top level"),
        ({"attributes": [{"name": "a", "kind": "nominal"}]}, r"attributes\[0\]"),
        (
            {"attributes": [{"name": "a", "kind": "odd", "categories": [{"code": 0, "name": 1}]}]},
            r"attributes\[0\]\.kind",
        ),
        (
            {"attributes": [{"name": "a", "kind": "nominal", "categories": [], "colour": 1}]},
            "unknown key 'colour'",
        ),
    ],
)
def test_a_record_that_is_no_schema_is_refused_with_a_path(record: object, path: str) -> None:
    """Every fault of a record is told with its place."""
    with pytest.raises(SchemaError, match=path):
        Schema.from_dict(record)


def test_records_travel_between_processes_and_can_be_keys() -> None:
    """Pickling keeps equality, lookup and hash."""
    schema = Schema((SEX, SMOKES, OPEN))
    twin = pickle.loads(pickle.dumps(schema))  # noqa: S301 -- our own bytes
    assert twin == schema
    assert hash(twin) == hash(schema)
    assert twin.encode({"sex": "male", "income": 5}) == (1, 2, 1)
