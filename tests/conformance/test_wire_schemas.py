"""The JSON Schemas of the wire: good vectors pass, bad ones fail as far as a schema can tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

SPEC = Path(__file__).parents[2] / "spec"
KINDS = ("design", "block", "report", "tally")
SCHEMAS = {
    kind: json.loads((SPEC / f"{kind}.schema.json").read_text(encoding="utf-8")) for kind in KINDS
}
REGISTRY: Registry[Any] = Registry().with_resources(
    (schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values()
)
FILES = {"designs": "design", "blocks": "block", "received": "report", "tallies": "tally"}

# Sums, products, orders, references from one part to another: a schema cannot say them.
BEYOND_A_SCHEMA = {
    "designs": {
        "a channel over other cells than its group",
        "a channel that costs more than is promised",
        "a group of an attribute that does not exist",
        "epsilon 0",
        "epsilon 0.00",
        "a floor above 1",
        "fewer channels than views",
        "groups of a view that overlap",
        "more channels than groups",
        "two attributes of one name",
        "weights whose sum is beyond exact numbers",
    },
    "blocks": {
        "a channel over other cells",
        "a fixed design whose channels changed",
        "another design's",
    },
    "received": {
        "a group too many",
        "a view that was not offered",
        "another block's",
        "another design's",
        "k-ary cannot report [3]",
        "local-hash cannot report [0, 0, 3]",
        "local-hash cannot report [0, 0]",
        "local-hash cannot report [0, 11, 0]",
        "local-hash cannot report [11, 0, 0]",
        "matrix cannot report [3]",
        "subset cannot report [0, 0, 1]",
        "subset cannot report [0, 1, 2, 3]",
        "subset cannot report [0, 1, 9]",
        "subset cannot report [0, 1]",
        "subset cannot report [1, 0, 2]",
        "two-coin cannot report [0, 0]",
        "two-coin cannot report [3]",
        "unary cannot report [0, 4]",
        "unary cannot report [0]",
        "unary cannot report [4294967296, 0]",
    },
    "tallies": {
        "a block of another design",
        "a block that is not there",
        "a group that the view does not have",
        "a report of the wrong length",
        "a report that cannot occur",
        "a stratum given twice",
        "a view that was not offered",
        "fewer counts than reports",
    },
}
# What a schema never sees: the bytes before they are data.
BEFORE_DATA = (
    "a byte-order mark",
    "a key given twice",
    "a line at the end",
    "a number that is none",
    "a number written as",
    "an escape that is not needed",
    "another than was published",
    "half of a character",
    "keys out of order",
    "white space",
)


def said_by_schema(kind: str, text: str) -> bool:
    """Tell whether the text is JSON that the schema of its kind accepts."""
    try:
        data = json.loads(text)
    except ValueError:
        return False
    return Draft202012Validator(SCHEMAS[kind], registry=REGISTRY).is_valid(data)


def vectors(name: str) -> list[Any]:
    """Return the cases of one file that are about data, each with the file's name."""
    found = json.loads((SPEC / "vectors" / f"{name}.json").read_text(encoding="utf-8"))["cases"]
    return [
        pytest.param(name, case, id=f"{name}: {case['comment']}")
        for case in found
        if not case["comment"].startswith(BEFORE_DATA)
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_one(kind: str) -> None:
    """Each schema keeps the rules of JSON Schema 2020-12 and closes its objects."""
    Draft202012Validator.check_schema(SCHEMAS[kind])
    assert '"additionalProperties": true' not in json.dumps(SCHEMAS[kind])


@pytest.mark.parametrize(("name", "case"), [p for name in FILES for p in vectors(name)])
def test_a_schema_agrees_with_the_vectors(name: str, case: dict[str, Any]) -> None:
    """A good message passes; a bad one fails unless it is beyond what a schema can say."""
    kind, comment = FILES[name], case["comment"]
    valid = said_by_schema(kind, case[kind])
    if case["error"] is None:
        assert valid
    else:
        assert valid == (comment in BEYOND_A_SCHEMA[name])


def test_what_is_beyond_a_schema_is_in_the_vectors() -> None:
    """No comment of the list above has lost its vector."""
    for name in FILES:
        comments = {parameter.values[1]["comment"] for parameter in vectors(name)}
        assert sorted(BEYOND_A_SCHEMA[name] - comments) == []


def test_every_report_of_the_vectors_passes() -> None:
    """The reports that devices made are reports by the schema."""
    path = SPEC / "vectors" / "reports.json"
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    assert [case for case in cases if not said_by_schema("report", case["report"])] == []


def test_a_careless_schema_would_be_caught() -> None:
    """Without its closed objects the report schema would let an answer through."""
    report = json.loads((SPEC / "vectors" / "reports.json").read_text(encoding="utf-8"))
    leaking = {**json.loads(report["cases"][0]["report"]), "answer": [1]}
    assert not said_by_schema("report", json.dumps(leaking))
    open_schema = {k: v for k, v in SCHEMAS["report"].items() if k != "additionalProperties"}
    assert Draft202012Validator(open_schema, registry=REGISTRY).is_valid(leaking)
