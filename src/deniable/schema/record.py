"""Record: a schema as plain data, for files and the wire, and back.

Unlike the survey file, which people write, this form says everything and has
one spelling only; the digest of a schema is taken of it.
"""

from __future__ import annotations

from typing import Final

from deniable.errors import SchemaError
from deniable.schema.attribute import KINDS, MISSING_POLICIES, MOST_CELLS, Attribute
from deniable.schema.category import Category
from deniable.schema.elements import plain_number, read_edge
from deniable.schema.place import Findings, Place

_ATTRIBUTE_KEYS: Final = ("name", "kind", "categories", "edges", "missing", "labels")
_CATEGORY_KEYS: Final = ("code", "name", "labels")


def attribute_record(attribute: Attribute) -> dict[str, object]:
    """Spell an attribute out."""
    record: dict[str, object] = {
        "name": attribute.name,
        "kind": attribute.kind,
        "categories": [
            {"code": category.code, "name": category.name, "labels": dict(category.labels)}
            for category in attribute.categories
        ],
        "missing": attribute.missing,
        "labels": dict(attribute.labels),
    }
    if attribute.edges is not None:
        record["edges"] = [plain_number(edge) for edge in attribute.edges]
    return record


def attributes_from(record: object) -> tuple[Attribute, ...]:
    """Read the attributes of a schema's record.

    Raises:
        SchemaError: Listing everything that is wrong with the record.
    """
    findings = Findings()
    place = Place(record, "", findings)
    table = place.table(("attributes",), required=("attributes",))
    read = [_attribute(item) for item in table["attributes"].items()] if table else []
    findings.refuse("the schema")
    return tuple(attribute for attribute in read if attribute is not None)


def _attribute(place: Place) -> Attribute | None:
    table = place.table(_ATTRIBUTE_KEYS, required=("name", "kind", "categories"))
    if table is None or not {"name", "kind", "categories"} <= table.keys():
        return None
    faults_before = len(place.findings.found)
    name = table["name"].text()
    kind = table["kind"].one_of(KINDS)
    missing = table["missing"].one_of(MISSING_POLICIES) if "missing" in table else "refuse"
    categories = [_category(item) for item in table["categories"].items(most=MOST_CELLS)]
    edges = [read_edge(item) for item in table["edges"].items()] if "edges" in table else None
    labels = _labels(table["labels"]) if "labels" in table else {}
    if len(place.findings.found) > faults_before or name is None:
        return None
    try:
        return Attribute(
            name,
            next(known for known in KINDS if known == kind),
            tuple(category for category in categories if category is not None),
            None if edges is None else tuple(edge for edge in edges if edge is not None),
            "category" if missing == "category" else "refuse",
            labels,
        )
    except SchemaError as error:
        place.fault(error.problem)
        return None


def _category(place: Place) -> Category | None:
    table = place.table(_CATEGORY_KEYS, required=("code", "name"))
    if table is None or not {"code", "name"} <= table.keys():
        return None
    code = table["code"].integer()
    name = table["name"].text()
    labels = _labels(table["labels"]) if "labels" in table else {}
    if code is None or name is None:
        return None
    try:
        return Category(code, name, labels)
    except SchemaError as error:
        place.fault(error.problem)
        return None


def _labels(place: Place) -> dict[str, str]:
    if not isinstance(place.value, dict):
        place.fault("expected a table from locale to text")
        return {}
    read = {key: place.below(str(key), text).text() for key, text in place.value.items()}
    return {key: text for key, text in read.items() if text is not None}
