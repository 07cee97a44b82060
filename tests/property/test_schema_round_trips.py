"""What holds for every schema and every document, not only for those that someone thought of."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deniable.errors import AnswerError, SchemaError, SurveyFileError
from deniable.schema import Attribute, Category, Element, Page, Privacy, Schema, Survey
from deniable.schema.canonical import canonical_json, spell_number
from deniable.schema.category import text_fault
from deniable.schema.elements import ELEMENT_KEYS
from deniable.schema.notation import parse_text, to_toml
from deniable.schema.privacy import DESIGNS, OPTIONS
from deniable.schema.surveyfile import PAGE_KEYS, SURVEY_KEYS

identifiers = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,8}", fullmatch=True)
# Characters with which a notation or a normal form may have trouble, and a few that are plain.
names = st.text("ab01.,-\"'\\#é年\u0301\u017f😀", min_size=1, max_size=6)
texts = st.text("ab01 \"'\\#\n\té年\u0301\x80😀", min_size=1, max_size=8).filter(
    lambda text: text_fault(text) is None
)
labels: st.SearchStrategy[dict[str, str]] = st.just({}) | st.fixed_dictionaries(
    {"default": texts}, optional={"de": texts, "it": texts}
)
edges = st.lists(
    st.floats(-1e12, 1e12, allow_nan=False) | st.integers(-100, 100).map(float),
    min_size=2,
    max_size=6,
    unique=True,
).map(sorted)


@st.composite
def attributes(draw: st.DrawFn, name: str = "a") -> Attribute:
    """Draw an attribute of any kind, labelled or not."""
    missing = draw(st.sampled_from(["refuse", "category"]))
    if draw(st.booleans()):
        bare = Attribute.numeric(name, draw(edges.filter(lambda found: len(found) > 2)))
        found, kind = bare.categories, "numeric"
    else:
        answers = draw(st.lists(names, min_size=2, max_size=6, unique=True))
        kind = draw(st.sampled_from(["nominal", "ordinal"]))
        try:
            bare = Attribute.nominal(name, answers)
        except SchemaError:  # names alike once normalized
            bare = Attribute.nominal(name, ["x", "y"])
        found = bare.categories
    categories = [Category(c.code, c.name, draw(labels)) for c in found]
    if missing == "category":
        taken = {category.name for category in categories}
        extra = draw(names.map(lambda name: f"no {name}").filter(lambda name: name not in taken))
        categories.append(Category(-1 - max(abs(c.code) for c in categories), extra, draw(labels)))
    return Attribute(name, kind, tuple(categories), bare.edges, missing, draw(labels))  # type: ignore[arg-type]


@st.composite
def surveys(draw: st.DrawFn) -> Survey:
    """Draw a survey of up to four attributes on one or two pages."""
    asked = draw(st.lists(identifiers, min_size=1, max_size=4, unique_by=str.lower))
    schema = Schema(tuple(draw(attributes(name)) for name in asked))
    elements = [
        Element(
            attribute.name,
            draw(st.sampled_from(_widgets(attribute))),
            draw(labels),
        )
        for attribute in schema.attributes
    ]
    cut = draw(st.integers(0, len(elements)))
    pages = [
        Page(f"part {number}", tuple(part), draw(labels), draw(labels))
        for number, part in enumerate((elements[:cut], elements[cut:]))
        if part
    ]
    privacy = Privacy(
        draw(st.floats(1e-3, 100) | st.integers(1, 8)),
        draw(st.sampled_from(["ask-one", "independent", "joint"])),
        draw(st.sampled_from([{}, {"channel": "subset"}, {"block_size": 10}])),
        draw(st.integers(1, 5)),
        draw(st.sampled_from(["respondent", "attribute"])),
    )
    return Survey(
        "s-1", schema, privacy, tuple(pages), draw(labels), draw(labels), "en", ("en", "de", "it")
    )


def _widgets(attribute: Attribute) -> list[Any]:
    if attribute.kind == "numeric":
        return ["number", "range"]
    return ["radiogroup", "dropdown"] + ["rating"] * (attribute.kind == "ordinal")


@given(surveys())
def test_a_survey_comes_back_from_either_notation(survey: Survey) -> None:
    """Dumping and loading changes nothing, and so not the digest."""
    for notation in ("toml", "json"):
        back = Survey.parse(survey.to_text(notation), notation)
        assert back == survey
        assert back.digest() == survey.digest()
    assert Schema.from_dict(json.loads(canonical_json(survey.schema.to_dict()))) == survey.schema


@given(attributes())
def test_every_cell_is_found_by_its_name_and_its_code(attribute: Attribute) -> None:
    """The index is the inverse of cell_names, and of the codes where answers are categories."""
    for cell, category in enumerate(attribute.categories):
        assert attribute.index(category.name) == cell
        if attribute.kind != "numeric":
            assert attribute.index(category.code) == cell
            assert attribute.index(str(category.code)) == cell


@given(edges.filter(lambda found: len(found) > 2), st.floats(allow_nan=False))
@example([0.0, 1.0, 2.0], 2.0)
@example([0.0, 1.0, 2.0], 1.0)
def test_a_number_falls_into_the_bin_that_contains_it(bounds: list[float], number: float) -> None:
    """The bin found by bisection is the one found by comparing with every edge."""
    attribute = Attribute.numeric("a", bounds)
    inside = [
        cell
        for cell, (low, high) in enumerate(pairwise(bounds))
        if low <= number < high or (number == high == bounds[-1])
    ]
    if inside:
        assert [attribute.index(number)] == inside
        assert [attribute.index(repr(number))] == inside
    else:
        with pytest.raises(AnswerError):
            attribute.index(number)


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(5e-324)
@example(1e21)
@example(123456789012345680000.0)
@example(1e-7)
@example(0.000001)
def test_a_spelled_number_reads_back_as_itself(number: float) -> None:
    """The spelling loses nothing and is a number in JSON and in TOML's grammar of plain values."""
    assert float(spell_number(number)) == number
    assert float(json.loads(spell_number(number))) == number


KEYS = sorted(
    {
        *SURVEY_KEYS,
        *PAGE_KEYS,
        *(key for keys in ELEMENT_KEYS.values() for key in keys),
        *(key for keys in OPTIONS.values() for key in keys),
        *("epsilon", "level", "design", "repeats", "value", "text", "code", "en", "default"),
    }
)
WORDS = ["x", "", "refuse", "category", "number", "inf", "-inf", *ELEMENT_KEYS, *DESIGNS]
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(WORDS)
    | st.text(st.characters(), max_size=5)
)
documents = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=8)
    ),
    max_leaves=30,
)


@given(documents)
def test_any_document_is_a_survey_or_one_survey_file_error(document: object) -> None:
    """Reading never fails in another way, whatever the document."""
    with pytest.raises(SurveyFileError):
        Survey.from_dict(document)


@given(documents, st.lists(st.integers(0, 50), min_size=1, max_size=3), st.booleans())
def test_any_change_to_a_good_document_is_read_or_refused(
    patch: object,
    path: list[int],
    delete: bool,  # noqa: FBT001 -- drawn
) -> None:
    """A good document with anything put anywhere is a survey, which comes back, or an error."""
    document: Any = json.loads(json.dumps(GOOD))
    bearer, key = document, None
    for step in path:
        keys: list[Any] = list(bearer) if isinstance(bearer, dict) else list(range(len(bearer)))
        key = keys[step % len(keys)]
        if not isinstance(bearer[key], dict | list) or not bearer[key] or step is path[-1]:
            break
        bearer = bearer[key]
    if delete:
        del bearer[key]
    else:
        bearer[key] = patch
    try:
        survey = Survey.from_dict(document)
    except SurveyFileError:
        return
    assert Survey.parse(survey.to_text()) == survey


GOOD = {
    "deniable": 1,
    "name": "s",
    "title": {"en": "T", "de": "T"},
    "locale": "en",
    "locales": ["en", "de"],
    "privacy": {"epsilon": 1, "design": "ask-one", "groups": [["a", "b"], ["c"]]},
    "pages": [
        {
            "name": "p",
            "elements": [
                {"type": "radiogroup", "name": "a", "choices": ["x", {"value": "y", "code": 7}]},
                {"type": "text", "name": "b", "inputType": "number", "bins": [0, 1, "inf"]},
                {"type": "rating", "name": "c", "rateMin": 0, "rateMax": 3, "missing": "category"},
            ],
        }
    ],
}


plain = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=4), inner, max_size=3
        )
    ),
    max_leaves=10,
)


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=6), plain, max_size=5
    )
)
@example({"pages": [{"elements": [{"x": 1}]}], "privacy": {}, "a": [[], {}]})
def test_toml_comes_back_as_it_was_written(document: dict[str, Any]) -> None:
    """The emitter's text parses to the same values, to the last bit of every float."""
    for key in ("pages", "elements", "privacy"):
        if key != "privacy" and not _all_tables(document.get(key)):
            document.pop(key, None)
    back = parse_text(to_toml(document), "toml", "it")
    assert back == document


def _all_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)
