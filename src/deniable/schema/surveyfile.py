"""The survey file, whole: a document to the parts of a survey, and back.

The format is a closed subset shaped like SurveyJS, with a table ``privacy``;
``spec/survey.schema.json`` says the same for other programs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypedDict

from deniable.errors import SchemaError
from deniable.schema.category import name_fault
from deniable.schema.elements import read_element, written_element
from deniable.schema.frozen import NO_TEXTS
from deniable.schema.page import Page
from deniable.schema.place import Findings, Place, shown
from deniable.schema.privacy import membership_faults
from deniable.schema.privacy_table import read_privacy, written_privacy
from deniable.schema.schema import Schema
from deniable.schema.texts import LOCALE, LOCALE_RULE, Languages, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from deniable.schema.attribute import Attribute
    from deniable.schema.frozen import FrozenMap
    from deniable.schema.page import Element
    from deniable.schema.privacy import Privacy
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
    privacy = read_privacy(table["privacy"]) if "privacy" in table else None
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


def _read_pages(
    place: Place, languages: Languages
) -> tuple[tuple[Page, ...], tuple[Attribute | None, ...]]:
    """Read all pages; an attribute that could not be read is None."""
    pages: list[Page] = []
    attributes: list[Attribute | None] = []
    names: set[str] = set()
    taken: dict[str, str] = {}
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
            found = _distinct(read_element(entry, languages), entry, taken)
            attributes.append(found[0] if found else None)
            if found:
                elements.append(found[1])
        if name is not None and elements:
            pages.append(Page(name, tuple(elements), **texts))
    return tuple(pages), tuple(attributes)


def _distinct(
    found: tuple[Attribute, Element] | None, place: Place, taken: dict[str, str]
) -> tuple[Attribute, Element] | None:
    """Refuse an attribute named like one before it; the schema would, but could not say where."""
    if found is None:
        return None
    name = found[0].name
    earlier = taken.get(name.lower())
    if earlier is None:
        taken[name.lower()] = name
        return found
    place.below("name", None).fault(f"{earlier!r} is the name of an earlier element, case aside")
    return None


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
    document["privacy"] = written_privacy(survey.privacy)
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
