"""The parser and the published JSON Schema give every survey document the same verdict."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from deniable.errors import SurveyFileError
from deniable.schema import Survey

SPEC = Path(__file__).parents[2] / "spec"
EXAMPLES = Path(__file__).parents[2] / "examples"
SCHEMA: dict[str, Any] = json.loads((SPEC / "survey.schema.json").read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def cases(name: str) -> list[Any]:
    """Read the vectors called ``name``."""
    found = json.loads((SPEC / "vectors" / "survey" / f"{name}.json").read_text("utf-8"))["cases"]
    return [pytest.param(case, id=case["comment"]) for case in found]


def test_the_schema_is_itself_a_schema() -> None:
    """The published JSON Schema is valid under the 2020-12 meta-schema."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("case", cases("good"))
def test_a_good_document_is_accepted_by_both(case: dict[str, Any]) -> None:
    """A good document has the cells that the vector states, and comes back from its own dump."""
    assert VALIDATOR.is_valid(case["survey"])
    survey = Survey.from_dict(case["survey"])
    assert list(survey.schema.sizes) == case["sizes"]
    assert VALIDATOR.is_valid(survey.to_dict())
    assert Survey.parse(survey.to_text("toml")) == survey
    assert Survey.parse(survey.to_text("json")) == survey


@pytest.mark.parametrize("case", cases("bad"))
def test_a_bad_document_is_refused_with_the_path_of_each_fault(case: dict[str, Any]) -> None:
    """The parser names every faulty path; the JSON Schema refuses what it can express."""
    with pytest.raises(SurveyFileError) as refusal:
        Survey.from_dict(case["survey"])
    paths = re.findall(r"(?:problem at |\n  )(.*?): ", str(refusal.value))
    assert paths == case["paths"]
    assert VALIDATOR.is_valid(case["survey"]) is not case["schema"]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.name)
def test_each_example_is_a_complete_survey(path: Path) -> None:
    """Each example is valid by parser and schema, and translated into all its languages."""
    survey = Survey.load(path)
    assert VALIDATOR.is_valid(survey.to_dict())
    assert survey.untranslated() == ()


def test_the_schema_knows_exactly_the_keys_of_the_parser() -> None:
    """A key added to one of the two and not to the other is noticed."""
    from deniable.schema.elements import ELEMENT_KEYS  # noqa: PLC0415
    from deniable.schema.privacy import DESIGNS, OPTIONS  # noqa: PLC0415
    from deniable.schema.privacy_table import PRIVACY_KEYS  # noqa: PLC0415
    from deniable.schema.surveyfile import PAGE_KEYS, SURVEY_KEYS  # noqa: PLC0415

    parts = SCHEMA["$defs"]
    elements = {
        "radiogroup": "choiceElement",
        "dropdown": "choiceElement",
        "boolean": "booleanElement",
        "rating": "ratingElement",
        "text": "numberElement",
    }
    assert set(SCHEMA["properties"]) == set(SURVEY_KEYS)
    assert set(parts["page"]["properties"]) == set(PAGE_KEYS)
    assert elements.keys() == ELEMENT_KEYS.keys()
    for sort, part in elements.items():
        assert set(parts[part]["properties"]) == set(ELEMENT_KEYS[sort])
    options = {key for keys in OPTIONS.values() for key in keys}
    assert set(parts["privacy"]["properties"]) == {*PRIVACY_KEYS, *options}
    branches = {
        branch["properties"]["design"]["const"]: set(branch["properties"]) - set(PRIVACY_KEYS)
        for branch in parts["privacy"]["oneOf"]
    }
    assert branches == {design: set(OPTIONS[design]) for design in DESIGNS}
