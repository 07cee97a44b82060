"""Draft: the survey an importer is putting together, and what it leaves out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from deniable.errors import SchemaError, SurveyFileError
from deniable.schema.attribute import Attribute
from deniable.schema.category import Category, missing_code, missing_name, natural_codes
from deniable.schema.elements import BOOLEAN_NAMES
from deniable.schema.foreign import identifier, survey_name
from deniable.schema.frozen import NO_TEXTS, FrozenMap, text_in
from deniable.schema.page import Element, Page
from deniable.schema.schema import Schema
from deniable.schema.survey import Survey
from deniable.schema.surveyfile import texts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deniable.schema.attribute import Kind
    from deniable.schema.page import Widget
    from deniable.schema.privacy import Privacy

_LONGEST_ATTRIBUTE_NAME: Final = 64
_MOST_REASONS: Final = 5
_JOIN: Final = " – "


@dataclass(frozen=True, slots=True)
class Omitted:
    """Something of the foreign form that the survey does not have, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Option:
    """A choice of the foreign form."""

    name: str
    labels: FrozenMap[str] = NO_TEXTS


@dataclass(frozen=True, slots=True)
class Question:
    """What all questions of the foreign form have."""

    path: str
    name: str
    labels: FrozenMap[str] = NO_TEXTS
    description: FrozenMap[str] = NO_TEXTS
    required: bool = False

    def part(self, option: Option) -> Question:
        """Make the question that asks one part of this one: whether an option applies, say."""
        joined = {
            locale: text_in(locale, self.labels, self.name)
            + _JOIN
            + text_in(locale, option.labels, option.name)
            for locale in dict.fromkeys(("default", *self.labels, *option.labels))
        }
        name = f"{self.name}_{option.name}"
        return Question(self.path, name, FrozenMap(joined), self.description, self.required)


@dataclass(slots=True)
class Draft:
    """Collects questions page by page; a question that does not fit is left out and noted."""

    bins: Mapping[str, Sequence[float]]
    omitted: list[Omitted] = field(default_factory=list)
    attributes: list[Attribute] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    _elements: list[Element] = field(default_factory=list)
    _binned: set[str] = field(default_factory=set)

    def omit(self, path: str, reason: str) -> None:
        """Note something that is left out."""
        self.omitted.append(Omitted(path, reason))

    def ask(
        self, question: Question, kind: Kind, options: Sequence[Option], widget: Widget
    ) -> None:
        """Add a question with one answer out of several."""
        codes = natural_codes([option.name for option in options])
        try:
            categories = tuple(
                Category(code, option.name, option.labels)
                for code, option in zip(codes, options, strict=True)
            )
        except SchemaError as error:
            self.omit(question.path, error.problem)
            return
        self._add(question, kind, categories, None, widget)

    def ask_yes_no(
        self,
        question: Question,
        no: FrozenMap[str] = NO_TEXTS,
        yes: FrozenMap[str] = NO_TEXTS,
    ) -> None:
        """Add a question with a yes and a no."""
        options = [Option(name, text) for name, text in zip(BOOLEAN_NAMES, (no, yes), strict=True)]
        self.ask(question, "nominal", options, "boolean")

    def ask_number(self, question: Question, widget: Widget) -> None:
        """Add a question for a number, if bins were declared for it."""
        edges = self.bins.get(question.name)
        if edges is None:
            self.omit(question.path, "a number needs bins; declare them to ask for it")
            return
        self._binned.add(question.name)
        try:
            numeric = Attribute.numeric(identifier(question.name), edges)
        except SchemaError as error:
            self.omit(question.path, error.problem)
            return
        self._add(question, "numeric", numeric.categories, numeric.edges, widget)

    def _add(
        self,
        question: Question,
        kind: Kind,
        categories: tuple[Category, ...],
        edges: tuple[float, ...] | None,
        widget: Widget,
    ) -> None:
        if not question.required:
            name = missing_name([category.name for category in categories])
            extra = Category(missing_code([c.code for c in categories]), name)
            categories = (*categories, extra)
        try:
            attribute = Attribute(
                self._unused(identifier(question.name)),
                kind,
                categories,
                edges,
                "refuse" if question.required else "category",
                question.labels or FrozenMap({"default": question.name}),
            )
        except SchemaError as error:
            self.omit(question.path, error.problem)
            return
        self.attributes.append(attribute)
        self._elements.append(Element(attribute.name, widget, question.description))

    def _unused(self, name: str) -> str:
        taken = {attribute.name.lower() for attribute in self.attributes}
        unused, number = name, 2
        while unused.lower() in taken:
            suffix = f"_{number}"
            unused = name[: _LONGEST_ATTRIBUTE_NAME - len(suffix)] + suffix
            number += 1
        return unused

    def turn_page(
        self, title: FrozenMap[str] = NO_TEXTS, description: FrozenMap[str] = NO_TEXTS
    ) -> None:
        """Put the questions since the last page on one; an empty page is no page."""
        if self._elements:
            name = f"page{len(self.pages) + 1}"
            self.pages.append(Page(name, tuple(self._elements), title, description))
            self._elements = []

    def finish(
        self,
        name: str,
        privacy: Privacy,
        locale: str,
        *,
        title: FrozenMap[str] = NO_TEXTS,
        description: FrozenMap[str] = NO_TEXTS,
    ) -> Survey:
        """Make the survey of what has been collected.

        Raises:
            SurveyFileError: Nothing was.
        """
        self.turn_page()
        for unknown in self.bins.keys() - self._binned:
            self.omit(f"bins for {unknown!r}", "the form asks for no such number")
        if not self.attributes:
            reasons = "; ".join(f"{o.path}: {o.reason}" for o in self.omitted[:_MOST_REASONS])
            raise SurveyFileError(
                f"the form has no question that can be asked ({reasons or 'it has none at all'})",
                expected="at least one question with fixed choices",
            )
        schema = Schema(tuple(self.attributes))
        spoken = {
            key for _, texts in texts_of(schema, self.pages, title, description) for key in texts
        }
        return Survey(
            survey_name(name),
            schema,
            privacy,
            tuple(self.pages),
            title,
            description,
            locale,
            (locale, *sorted(spoken - {"default", locale})),
        )
