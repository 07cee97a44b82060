"""Survey: what is asked, how it is put, and what is promised."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.errors import SchemaError, SurveyFileError
from deniable.schema.canonical import digest_of
from deniable.schema.category import checked_texts
from deniable.schema.elements import element_fault
from deniable.schema.frozen import NO_TEXTS, text_in
from deniable.schema.notation import parse_text, to_json, to_toml
from deniable.schema.page import Element, Page
from deniable.schema.privacy import Privacy, membership_faults
from deniable.schema.surveyfile import (
    SURVEY_NAME,
    SURVEY_NAME_RULE,
    read_survey,
    texts_of,
    written_survey,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deniable.schema.notation import Format
    from deniable.schema.page import Widget
    from deniable.schema.schema import Schema


@dataclass(frozen=True, slots=True)
class Survey:
    """A survey as its file describes it.

    Attributes:
        name: A short name for files and addresses.
        schema: The attributes, in the order of the pages.
        privacy: The promise and the design that is to keep it.
        pages: Each attribute on exactly one of them.
        title: Locale to text.
        description: Locale to text: why the survey is made and by whom.
        locale: The language of the texts under ``"default"``.
        locales: All languages offered, that one included.
    """

    name: str
    schema: Schema
    privacy: Privacy
    pages: tuple[Page, ...] = ()
    title: Mapping[str, str] = NO_TEXTS
    description: Mapping[str, str] = NO_TEXTS
    locale: str = "en"
    locales: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that pages, privacy and attributes speak of the same things."""
        freeze = object.__setattr__
        if not SURVEY_NAME.fullmatch(self.name):
            raise SchemaError(
                "this cannot name a survey", given=self.name, expected=SURVEY_NAME_RULE
            )
        freeze(self, "title", checked_texts(self.title))
        freeze(self, "description", checked_texts(self.description))
        freeze(self, "pages", tuple(self.pages) or (plain_page(self.schema),))
        freeze(self, "locales", tuple(self.locales) or (self.locale,))
        elements = [element for page in self.pages for element in page.elements]
        if tuple(element.attribute for element in elements) != self.schema.names:
            raise SchemaError(
                "the pages do not ask each attribute of the schema once, in its order",
                given=[element.attribute for element in elements],
                expected=f"{list(self.schema.names)}",
            )
        for element in elements:
            fault = element_fault(self.schema[element.attribute], element)
            if fault:
                raise SchemaError(f"attribute {element.attribute!r} {fault}")
        for key, fault in membership_faults(self.privacy, self.schema.names):
            raise SchemaError(f"the privacy option {key!r} {fault}")

    @classmethod
    def load(cls, path: str | Path) -> Survey:
        """Read a survey file, TOML or JSON.

        Raises:
            SurveyFileError: The file cannot be read, or breaks the format; every fault is listed.
        """
        path = Path(path)
        try:
            text = path.read_bytes().decode("utf-8")
        except OSError as error:
            raise SurveyFileError(
                f"the survey file {path.name} cannot be read: {error.strerror}"
            ) from error
        except UnicodeDecodeError as error:
            raise SurveyFileError(
                f"{path.name} is not UTF-8 text: byte {error.start} fits no character"
            ) from error
        return cls._from_text(text, _format_of(path), path.name)

    @classmethod
    def parse(cls, text: str, format: Format | None = None) -> Survey:  # noqa: A002 -- as in open()
        """Read a survey from text; without a format, text that begins with a brace is JSON.

        Raises:
            SurveyFileError: Listing everything that is wrong with the text.
        """
        return cls._from_text(text, format, "the survey")

    @classmethod
    def from_dict(cls, document: object) -> Survey:
        """Read a survey from a document already parsed.

        Raises:
            SurveyFileError: Listing everything that is wrong with the document.
        """
        return cls(**read_survey(document, "the survey"))

    @classmethod
    def _from_text(cls, text: str, notation: Format | None, source: str) -> Survey:
        return cls(**read_survey(parse_text(text, notation, source), source))

    def to_dict(self) -> dict[str, object]:
        """Return the document that a survey file holds."""
        return written_survey(self)

    def to_text(self, notation: Format = "toml") -> str:
        """Write the survey as the text of a survey file."""
        document = self.to_dict()
        return to_json(document) if notation == "json" else to_toml(document)

    def dump(self, path: str | Path) -> None:
        """Write a survey file: JSON if the name ends so, else TOML."""
        text = self.to_text(_format_of(Path(path)) or "toml")
        Path(path).write_text(text, encoding="utf-8", newline="\n")

    def digest(self) -> str:
        """Return SHA-256 of everything the survey says, in base64url."""
        return digest_of(self.to_dict())

    def heading(self, locale: str = "default") -> str:
        """Return the title for ``locale``, or the name."""
        return text_in(locale, self.title, self.name)

    def untranslated(self) -> tuple[str, ...]:
        """Name the texts that some offered language lacks; people would see the default there.

        Each comes with its languages: ``"the title of 'age' (de, it)"``.
        """
        texts = texts_of(self.schema, self.pages, self.title, self.description)
        lacking = {
            bearer: [code for code in self.locales if code not in found and code != self.locale]
            for bearer, found in texts
            if found
        }
        return tuple(f"{bearer} ({', '.join(codes)})" for bearer, codes in lacking.items() if codes)


def plain_page(schema: Schema) -> Page:
    """Put all attributes on one page, each in the widget that suits it."""
    widgets: dict[str, Widget] = {"nominal": "radiogroup", "ordinal": "radiogroup"}
    return Page(
        "page1",
        tuple(
            Element(attribute.name, widgets.get(attribute.kind, "number"))
            for attribute in schema.attributes
        ),
    )


def _format_of(path: Path) -> Format | None:
    formats: dict[str, Format] = {".toml": "toml", ".json": "json"}
    return formats.get(path.suffix.lower())
