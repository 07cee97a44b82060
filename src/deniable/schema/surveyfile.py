"""The survey file, whole: a document to the parts of a survey, and back.

The format is a closed subset shaped like SurveyJS, with a table ``privacy``;
``spec/survey.schema.json`` says the same for other programs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypedDict, cast

from deniable.errors import SchemaError
from deniable.schema.category import name_fault
from deniable.schema.elements import plain_number, read_element, written_element
from deniable.schema.frozen import NO_TEXTS
from deniable.schema.page import Page
from deniable.schema.place import Findings, Place, shown
from deniable.schema.privacy import (
    DESIGNS,
    LEVELS,
    OPTIONS,
    Privacy,
    epsilon_fault,
    frozen,
    membership_faults,
    option_faults,
)
from deniable.schema.schema import Schema
from deniable.schema.texts import LOCALE, LOCALE_RULE, Languages, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from deniable.schema.attribute import Attribute
    from deniable.schema.frozen import FrozenMap
    from deniable.schema.page import Element
    from deniable.schema.survey import Survey

FORMAT_VERSION: Final = 1
SURVEY_KEYS: Final = (
    "deniable",
    "name",
    "title",
    "description",
    "locale",
    "locales",
    "privacy",
    "pages",
)
PAGE_KEYS: Final = ("name", "title", "description", "elements")
PRIVACY_KEYS: Final = ("epsilon", "level", "design", "repeats")
_OPTION_KEYS: Final = tuple(dict.fromkeys(key for keys in OPTIONS.values() for key in keys))
_MOST_LOCALES: Final = 200
SURVEY_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}", re.ASCII)
SURVEY_NAME_RULE: Final = "at most 64 lower-case letters, digits and '-', as in 'health-2026'"


class SurveyParts(TypedDict):
    """The fields of a survey."""

    name: str
    schema: Schema
    privacy: Privacy
    pages: tuple[Page, ...]
    title: FrozenMap[str]
    description: FrozenMap[str]
    locale: str
    locales: tuple[str, ...]


def read_survey(document: object, source: str) -> SurveyParts:
    """Read a whole document.

    Raises:
        SurveyFileError: Listing everything that is wrong with the document.
    """
    findings = Findings()
    parts = _read_parts(Place(document, "", findings))
    findings.refuse(source)
    if parts is None:
        raise AssertionError("a document without faults has all its parts")
    return parts


def _read_parts(place: Place) -> SurveyParts | None:
    table = place.table(SURVEY_KEYS, required=("deniable", "name", "privacy", "pages"))
    if table is None:
        return None
    if "deniable" in table and table["deniable"].integer() not in {None, FORMAT_VERSION}:
        table["deniable"].fault(f"this version of the format is unknown; expected {FORMAT_VERSION}")
    name = _read_survey_name(table["name"]) if "name" in table else None
    languages = _read_languages(table)
    texts = {
        key: languages.read(table[key]) or NO_TEXTS if key in table else NO_TEXTS
        for key in ("title", "description")
    }
    privacy = _read_privacy(table["privacy"]) if "privacy" in table else None
    pages, attributes = _read_pages(table["pages"], languages) if "pages" in table else ((), ())
    schema = _read_schema(place, attributes)
    if privacy and schema:
        for key, fault in membership_faults(privacy, schema.names):
            table["privacy"].below(key, None).fault(f"this {fault}")
    if place.findings.found or name is None or privacy is None or schema is None:
        return None
    spoken = {locale for _, found in texts_of(schema, pages, **texts) for locale in found}
    others = sorted(spoken - {"default", languages.own})
    return SurveyParts(
        name=name,
        schema=schema,
        privacy=privacy,
        pages=pages,
        title=texts["title"],
        description=texts["description"],
        locale=languages.own,
        locales=languages.offered or (languages.own, *others),
    )


def texts_of(
    schema: Schema,
    pages: Sequence[Page],
    title: Mapping[str, str],
    description: Mapping[str, str],
) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Walk all localized texts of a survey that has them, each with the name of what bears it."""
    yield "the survey's title", title
    yield "the survey's description", description
    for page in pages:
        yield f"the title of page {page.name!r}", page.title
        yield f"the description of page {page.name!r}", page.description
        for element in page.elements:
            yield f"the description of {element.attribute!r}", element.description
    for attribute in schema.attributes:
        yield f"the title of {attribute.name!r}", attribute.labels
        for category in attribute.categories:
            yield f"the answer {category.name!r} to {attribute.name!r}", category.labels


def _read_survey_name(place: Place) -> str | None:
    name = place.text()
    if name is not None and not SURVEY_NAME.fullmatch(name):
        place.fault(f"{shown(name)} cannot name a survey; expected {SURVEY_NAME_RULE}")
        return None
    return name


def _read_languages(table: Mapping[str, Place]) -> Languages:
    own = _read_locale(table["locale"]) if "locale" in table else None
    if "locales" not in table:
        return Languages(own or Languages().own)
    listed = [(place, _read_locale(place)) for place in table["locales"].items(most=_MOST_LOCALES)]
    offered = tuple(locale for _, locale in listed if locale is not None)
    for number, (place, locale) in enumerate(listed):
        if locale is not None and locale in offered[:number]:
            place.fault(f"the locale {locale!r} occurs twice")
    own = own or Languages().own
    if offered and own not in offered:
        table["locales"].fault(f"the survey's own language, {own!r}, is not among them")
    return Languages(own, offered or None)


def _read_locale(place: Place) -> str | None:
    locale = place.text()
    if locale is not None and not LOCALE.fullmatch(locale):
        place.fault(f"{shown(locale)} is not a locale; expected {LOCALE_RULE}")
        return None
    return locale


def _read_privacy(place: Place) -> Privacy | None:
    faults_before = len(place.findings.found)
    named = place.value.get("design", DESIGNS[0]) if isinstance(place.value, dict) else None
    design = next((known for known in DESIGNS if known == named), None)
    options = OPTIONS[design] if design else _OPTION_KEYS
    table = place.table((*PRIVACY_KEYS, *options), required=("epsilon",))
    if table is None:
        return None
    if "epsilon" in table:
        fault = epsilon_fault(table["epsilon"].value)
        if fault:
            table["epsilon"].fault(f"the level of privacy {fault}")
    if "design" in table:
        table["design"].one_of(DESIGNS)
    level = table["level"].one_of(LEVELS) if "level" in table else LEVELS[0]
    repeats = table["repeats"].integer() if "repeats" in table else 1
    if repeats is not None and repeats < 1:
        table["repeats"].fault("expected a whole number above 0")
    given = {key: _plain(table[key].value) for key in table if key in options}
    if design:
        for key, fault in option_faults(design, given):
            place.below(key, None).fault(f"this {fault}")
    if len(place.findings.found) > faults_before or design is None or repeats is None:
        return None
    return Privacy(
        cast("float", table["epsilon"].value),
        design,
        given,
        repeats,
        "attribute" if level == "attribute" else "respondent",
    )


def _plain(value: object) -> object:
    """Read 2.0 as 2, as JSON Schema does."""
    return int(value) if isinstance(value, float) and value.is_integer() else frozen(value)


def _read_pages(
    place: Place, languages: Languages
) -> tuple[tuple[Page, ...], tuple[Attribute | None, ...]]:
    """Read all pages; an attribute that could not be read is None."""
    pages: list[Page] = []
    attributes: list[Attribute | None] = []
    names: set[str] = set()
    for number, item in enumerate(place.items(), start=1):
        table = item.table(PAGE_KEYS, required=("elements",))
        if table is None:
            continue
        name = _read_page_name(table["name"]) if "name" in table else f"page{number}"
        if name is not None and name in names:
            item.fault(f"the name {shown(name)} is that of an earlier page")
        names.add(name or "")
        texts = {
            key: languages.read(table[key]) or NO_TEXTS if key in table else NO_TEXTS
            for key in ("title", "description")
        }
        elements: list[Element] = []
        for entry in table["elements"].items() if "elements" in table else ():
            found = read_element(entry, languages)
            attributes.append(found[0] if found else None)
            if found:
                elements.append(found[1])
        if name is not None and elements:
            pages.append(Page(name, tuple(elements), **texts))
    return tuple(pages), tuple(attributes)


def _read_page_name(place: Place) -> str | None:
    name = place.text()
    fault = name_fault(name) if name is not None else None
    if fault:
        place.fault(f"the name {fault}")
        return None
    return name


def _read_schema(place: Place, attributes: Sequence[Attribute | None]) -> Schema | None:
    found = [attribute for attribute in attributes if attribute is not None]
    if len(found) < len(attributes) or not found:
        return None
    try:
        return Schema(tuple(found))
    except SchemaError as error:
        place.below("pages", None).fault(error.problem)
        return None


def written_survey(survey: Survey) -> dict[str, object]:
    """Write a survey as a document, the inverse of ``read_survey``."""
    document: dict[str, object] = {"deniable": FORMAT_VERSION, "name": survey.name}
    document |= _written_texts(survey)
    document |= {"locale": survey.locale, "locales": list(survey.locales)}
    document["privacy"] = _written_privacy(survey.privacy)
    document["pages"] = [
        {"name": page.name}
        | _written_texts(page)
        | {
            "elements": [
                written_element(survey.schema[element.attribute], element)
                for element in page.elements
            ]
        }
        for page in survey.pages
    ]
    return document


def _written_texts(bearer: Survey | Page) -> dict[str, object]:
    texts = {"title": bearer.title, "description": bearer.description}
    return {key: written(text) for key, text in texts.items() if text}


def _written_privacy(privacy: Privacy) -> dict[str, object]:
    table: dict[str, object] = {
        "epsilon": plain_number(float(privacy.epsilon)),
        "level": privacy.level,
        "design": privacy.design,
        "repeats": privacy.repeats,
    }
    return table | {key: _listed(value) for key, value in privacy.options.items()}


def _listed(value: object) -> object:
    return [_listed(item) for item in value] if isinstance(value, tuple) else value
