"""Elements of a survey file: one table to one attribute, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from deniable.errors import SchemaError
from deniable.schema.attribute import (
    ATTRIBUTE_NAME,
    MISSING_POLICIES,
    MOST_CELLS,
    NAME_RULE,
    Attribute,
)
from deniable.schema.bins import bin_names, edges_fault
from deniable.schema.canonical import MOST_EXACT
from deniable.schema.category import MISSING_NAME, Category, missing_code
from deniable.schema.choices import read_choice, read_choices, written_choice, written_choices
from deniable.schema.frozen import NO_TEXTS
from deniable.schema.page import Element
from deniable.schema.place import shown
from deniable.schema.texts import written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from deniable.schema.attribute import Kind, MissingPolicy
    from deniable.schema.frozen import FrozenMap
    from deniable.schema.page import Widget
    from deniable.schema.place import Place
    from deniable.schema.texts import Languages

_COMMON: Final = ("type", "name", "title", "description", "isRequired", "missing")
ELEMENT_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "radiogroup": (*_COMMON, "choices", "ordered"),
    "dropdown": (*_COMMON, "choices", "ordered"),
    "boolean": (*_COMMON, "labelFalse", "labelTrue"),
    "rating": (*_COMMON, "rateMin", "rateMax", "rateValues"),
    "text": (*_COMMON, "inputType", "bins", "binTexts"),
}
_ALL_KEYS: Final = tuple(dict.fromkeys(key for keys in ELEMENT_KEYS.values() for key in keys))
_INFINITE: Final = {"-inf": float("-inf"), "inf": float("inf")}
BOOLEAN_NAMES: Final = ("no", "yes")
_RATING: Final = (1, 5)


@dataclass(frozen=True, slots=True)
class _Answers:
    """What an element's own keys say: the cells, short of that for a missing answer."""

    kind: Kind
    widget: Widget
    categories: tuple[Category, ...]
    edges: tuple[float, ...] | None = None


def read_element(place: Place, languages: Languages) -> tuple[Attribute, Element] | None:
    """Read one element; None if anything about it is wrong."""
    faults_before = len(place.findings.found)
    sort = place.value.get("type") if isinstance(place.value, dict) else None
    known = ELEMENT_KEYS.get(sort, _ALL_KEYS) if isinstance(sort, str) else _ALL_KEYS
    table = place.table(known, required=("type", "name"))
    if table is None:
        return None
    name = read_name(table["name"]) if "name" in table else None
    sort = table["type"].one_of(ELEMENT_KEYS) if "type" in table else None
    texts = {key: languages.read(table[key]) for key in ("title", "description") if key in table}
    answers = _READERS[sort](place, table, languages) if sort else None
    missing, categories = _read_missing(table, answers.categories if answers else (), languages)
    if name is None or answers is None or len(place.findings.found) > faults_before:
        return None
    try:
        attribute = Attribute(
            name, answers.kind, categories, answers.edges, missing, texts.get("title") or NO_TEXTS
        )
    except SchemaError as error:
        place.fault(error.problem)
        return None
    return attribute, Element(name, answers.widget, texts.get("description") or NO_TEXTS)


def read_name(place: Place) -> str | None:
    """Read the name of an attribute."""
    name = place.text()
    if name is not None and not ATTRIBUTE_NAME.fullmatch(name):
        place.fault(f"{shown(name)} cannot be the name of an attribute; expected {NAME_RULE}")
        return None
    return name


def _read_choice_answers(
    place: Place, table: dict[str, Place], languages: Languages
) -> _Answers | None:
    if "choices" not in table:
        place.fault("the key 'choices' is missing")
        return None
    ordered = table["ordered"].truth() if "ordered" in table else False
    widget: Widget = "dropdown" if table["type"].value == "dropdown" else "radiogroup"
    categories = read_choices(table["choices"], languages)
    return _Answers("ordinal" if ordered else "nominal", widget, categories)


def _read_boolean(_: Place, table: dict[str, Place], languages: Languages) -> _Answers:
    keys = ("labelFalse", "labelTrue")
    texts = [languages.read(table[key]) if key in table else None for key in keys]
    return _Answers(
        "nominal",
        "boolean",
        tuple(
            Category(code, name, text or NO_TEXTS)
            for code, (name, text) in enumerate(zip(BOOLEAN_NAMES, texts, strict=True))
        ),
    )


def _read_rating(place: Place, table: dict[str, Place], languages: Languages) -> _Answers | None:
    if "rateValues" in table:
        for key in ("rateMin", "rateMax"):
            if key in table:
                table[key].fault("'rateValues' already lists every value")
        return _Answers("ordinal", "rating", read_choices(table["rateValues"], languages))
    low, high = (
        table[key].integer() if key in table else otherwise
        for key, otherwise in zip(("rateMin", "rateMax"), _RATING, strict=True)
    )
    if low is None or high is None:
        return None
    if not 1 <= high - low < MOST_CELLS or max(abs(low), abs(high)) > MOST_EXACT:
        place.fault(f"'rateMax' must exceed 'rateMin', and by less than {MOST_CELLS}")
        return None
    scale = tuple(Category(value, str(value)) for value in range(low, high + 1))
    return _Answers("ordinal", "rating", scale)


def _read_numeric(place: Place, table: dict[str, Place], languages: Languages) -> _Answers | None:
    widget = table["inputType"].one_of(("number", "range")) if "inputType" in table else None
    if "inputType" not in table:
        place.fault("free text is not collected; expected inputType 'number' or 'range'")
    if "bins" not in table:
        place.fault("the key 'bins' is missing; a number is put into bins before it is randomized")
        return None
    edges = [read_edge(edge) for edge in table["bins"].items(most=MOST_CELLS)]
    if not edges or any(edge is None for edge in edges):
        return None
    bounds = tuple(edge for edge in edges if edge is not None)
    fault = edges_fault(bounds)
    if fault:
        table["bins"].fault(f"the list {fault}")
        return None
    names = bin_names(bounds)
    texts: list[FrozenMap[str] | None] = [None] * len(names)
    if "binTexts" in table:
        texts = [languages.read(text) for text in table["binTexts"].items(most=MOST_CELLS)]
        if texts and len(texts) != len(names):
            table["binTexts"].fault(f"there are {len(texts)} texts for {len(names)} bins")
    if len(texts) != len(names) or widget is None:
        return None
    categories = tuple(
        Category(code, name, text or NO_TEXTS)
        for code, (name, text) in enumerate(zip(names, texts, strict=True))
    )
    return _Answers("numeric", "range" if widget == "range" else "number", categories, bounds)


def read_edge(place: Place) -> float | None:
    """Read the edge of a bin: a number, or the text of an infinite one."""
    value = place.value
    if isinstance(value, str):
        if value not in _INFINITE:
            place.fault(f"{shown(value)} is not a number, '-inf' or 'inf'")
        return _INFINITE.get(value)
    if isinstance(value, float) and math.isinf(value):  # which TOML can write
        return value
    number = place.number()
    return None if number is None else float(number)


_READERS: Final[Mapping[str, Callable[[Place, dict[str, Place], Languages], _Answers | None]]] = {
    "radiogroup": _read_choice_answers,
    "dropdown": _read_choice_answers,
    "boolean": _read_boolean,
    "rating": _read_rating,
    "text": _read_numeric,
}


def _read_missing(
    table: dict[str, Place], answers: tuple[Category, ...], languages: Languages
) -> tuple[MissingPolicy, tuple[Category, ...]]:
    required = table["isRequired"].truth() if "isRequired" in table else None
    codes = [category.code for category in answers]
    extra = Category(missing_code(codes), MISSING_NAME)
    policy: MissingPolicy = "category" if required is False else "refuse"
    if "missing" in table:
        place = table["missing"]
        policy = "refuse" if place.value == "refuse" else "category"
        if isinstance(place.value, dict):
            choice = read_choice(place, languages, otherwise=MISSING_NAME)
            extra = choice.category(extra.code) if choice else extra
        else:
            place.one_of(MISSING_POLICIES)
        if required is not None and required != (policy == "refuse"):
            table["isRequired"].fault("this contradicts 'missing'; leave one of the two out")
    return policy, (*answers, extra) if policy == "category" else answers


def written_element(attribute: Attribute, element: Element) -> dict[str, object]:
    """Write an attribute and its element as one table, the inverse of ``read_element``."""
    numeric = attribute.kind == "numeric"
    table: dict[str, object] = {
        "type": "text" if numeric else element.widget,
        "name": attribute.name,
    }
    if attribute.labels:
        table["title"] = written(attribute.labels)
    if element.description:
        table["description"] = written(element.description)
    table |= _written_bins(attribute, element) if numeric else _written_answers(attribute, element)
    if attribute.missing == "category":
        table["missing"] = _written_missing(attribute)
    return table


def _written_bins(attribute: Attribute, element: Element) -> dict[str, object]:
    table: dict[str, object] = {
        "inputType": element.widget,
        "bins": [plain_number(edge) for edge in attribute.edges or ()],
    }
    if any(category.labels for category in attribute.answers):
        table["binTexts"] = [
            written(category.labels) if category.labels else category.name
            for category in attribute.answers
        ]
    return table


def plain_number(number: float) -> int | float | str:
    """Write a number as every notation can: 18 for 18.0, text for the infinite."""
    if math.isinf(number):
        return str(number)
    return int(number) if number.is_integer() and abs(number) <= MOST_EXACT else number


def _written_answers(attribute: Attribute, element: Element) -> dict[str, object]:
    answers = attribute.answers
    if element.widget == "boolean":
        keys = zip(("labelFalse", "labelTrue"), answers, strict=True)
        return {key: written(answer.labels) for key, answer in keys if answer.labels}
    if element.widget == "rating":
        return {"rateValues": written_choices(answers)}
    table: dict[str, object] = {"choices": written_choices(answers)}
    return table | {"ordered": True} if attribute.kind == "ordinal" else table


def _written_missing(attribute: Attribute) -> object:
    last = attribute.categories[-1]
    usual = missing_code([category.code for category in attribute.answers])
    choice = written_choice(last, with_code=last.code != usual)
    if choice == MISSING_NAME:
        return "category"
    return choice if isinstance(choice, dict) else {"value": choice}


def element_fault(attribute: Attribute, element: Element) -> str | None:
    """Say why ``element`` cannot put ``attribute`` to people, if it cannot."""
    if (attribute.kind == "numeric") != (element.widget in {"number", "range"}):
        return f"cannot be asked by a {element.widget} element, being {attribute.kind}"
    if element.widget == "rating" and attribute.kind != "ordinal":
        return "cannot be asked by a rating element, being without order"
    plain = [Category(code, name) for code, name in enumerate(BOOLEAN_NAMES)]
    bare = [Category(answer.code, answer.name) for answer in attribute.answers]
    if element.widget == "boolean" and (bare != plain or attribute.kind != "nominal"):
        return "cannot be asked by a boolean element, its answers not being 'no' (0) and 'yes' (1)"
    return None
