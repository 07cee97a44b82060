"""Import of SurveyJS definitions: the questions whose answer is one of several.

Radio groups, drop-downs, booleans, ratings, button groups and image pickers
come as they are. A checkbox, and an image picker of several choices, becomes one
yes/no question per choice, and a single-choice matrix one question per row: that
is what their answers are made of. Everything else is left out, and every omission is told.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, cast

from deniable.errors import SurveyFileError
from deniable.schema.draft import Draft, Option, Question
from deniable.schema.foreign import category_name, localized
from deniable.schema.frozen import FrozenMap
from deniable.schema.place import describe
from deniable.schema.texts import LOCALE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from deniable.schema.draft import Omitted
    from deniable.schema.page import Widget
    from deniable.schema.privacy import Privacy
    from deniable.schema.survey import Survey

_LONGEST_SCALE: Final = 1000

_CONDITIONS: Final = ("visibleIf", "enableIf", "requiredIf", "resetValueIf", "setValueIf")
_FROM_ELSEWHERE: Final = {
    "choicesByUrl": "its choices come from another server",
    "choicesFromQuestion": "its choices depend on another answer",
}
_FREE_TEXT: Final = {
    "showOtherItem": "the free text of 'other' is not collected",
    "hasOther": "the free text of 'other' is not collected",
    "showCommentArea": "comments are free text",
    "hasComment": "comments are free text",
}
_LEFT_OUT: Final = {
    "comment": "free text is not collected",
    "text": "free text is not collected",
    "multipletext": "free text is not collected",
    "file": "files are not collected",
    "signaturepad": "signatures identify people",
    "ranking": "a ranking of n items has n! answers",
    "html": "it is no question; pages and elements have descriptions",
    "image": "it is no question",
    "expression": "it is computed from other answers",
    "matrixdropdown": "a matrix of several columns is not one answer per row",
    "matrixdynamic": "its rows are not known beforehand",
    "paneldynamic": "its questions are not known beforehand",
}
"""Kinds of question without finitely many declared answers."""

_EXTRAS: Final = (
    ("showNoneItem", "hasNone", "none", "noneText"),
    ("showRefuseItem", "", "refused", "refuseText"),
    ("showDontKnowItem", "", "don't know", "dontKnowText"),
    ("showOtherItem", "hasOther", "other", "otherText"),
)
"""Choices that are switched on: by which key, formerly by which, their names and their texts."""

_PIPED: Final = re.compile(r"\{[^{}\s][^{}]*\}")


def import_surveyjs(
    document: object,
    *,
    privacy: Privacy,
    name: str = "survey",
    bins: Mapping[str, Sequence[float]] | None = None,
) -> tuple[Survey, list[Omitted]]:
    """Make a survey of a SurveyJS definition.

    Args:
        document: The definition, parsed from its JSON.
        privacy: What the survey is to promise; SurveyJS has no word for it.
        name: The survey's name.
        bins: Edges for numeric questions, by name; those without are left out.

    Raises:
        SurveyFileError: This is no SurveyJS definition, or none of its questions can be asked.
    """
    if not isinstance(document, dict):
        raise SurveyFileError(
            f"a SurveyJS definition is a table, not {describe(document)}", expected="pages"
        )
    own = document.get("locale")
    own = own if isinstance(own, str) and LOCALE.fullmatch(own) else "en"
    reading = _Reading(Draft(bins or {}), own)
    for key in ("triggers", "calculatedValues"):
        if document.get(key):
            reading.draft.omit(key, "what is asked does not depend on other answers here")
    for path, page in _listed(document.get("pages", [document]), "pages"):
        reading.page(path if "pages" in document else "", page)
    survey = reading.draft.finish(
        name,
        privacy,
        own,
        title=localized(document.get("title"), own),
        description=localized(document.get("description"), own),
    )
    return survey, reading.draft.omitted


def _listed(value: object, path: str) -> Iterator[tuple[str, dict[str, object]]]:
    entries = value if isinstance(value, list) else []
    for number, entry in enumerate(entries):
        if isinstance(entry, dict):
            yield f"{path}[{number}]", entry


class _Reading:
    """One walk through a definition."""

    def __init__(self, draft: Draft, own: str) -> None:
        self.draft = draft
        self.own = own
        self._readers: dict[str, Callable[[Question, dict[str, object]], None]] = {
            "radiogroup": self._choice,
            "dropdown": self._choice,
            "buttongroup": self._choice,
            "imagepicker": self._pictures,
            "checkbox": self._checkbox,
            "tagbox": self._checkbox,
            "boolean": self._boolean,
            "rating": self._rating,
            "matrix": self._matrix,
        }

    def page(self, path: str, page: dict[str, object]) -> None:
        """Read a page, its panels laid flat."""
        self._conditions(path, page)
        self._elements(f"{path}.elements".lstrip("."), page)
        if path:
            texts = (localized(page.get(key), self.own) for key in ("title", "description"))
            self.draft.turn_page(*texts)

    def _elements(self, path: str, container: dict[str, object]) -> None:
        key = "elements" if "elements" in container else "questions"
        for where, element in _listed(container.get(key), path):
            if element.get("type") == "panel":
                self._conditions(where, element)
                self._elements(f"{where}.elements", element)
            else:
                self._element(where, element)

    def _element(self, path: str, element: dict[str, object]) -> None:
        sort, name = element.get("type"), element.get("name")
        if not isinstance(sort, str) or not isinstance(name, str):
            self.draft.omit(path, "it has no type or no name")
            return
        question = Question(
            path,
            name,
            localized(element.get("title"), self.own),
            localized(element.get("description"), self.own),
            element.get("isRequired") is True,
        )
        is_number = sort == "text" and element.get("inputType") in ("number", "range")
        reason = next((why for key, why in _FROM_ELSEWHERE.items() if element.get(key)), None)
        if reason or not (is_number or sort in self._readers):
            sorry = f"questions of type {sort!r} are not known"
            self.draft.omit(path, reason or _LEFT_OUT.get(sort, sorry))
            return
        self._conditions(path, element)
        for key, why in _FREE_TEXT.items():
            if element.get(key):
                self.draft.omit(f"{path}.{key}", why)
        if any(_PIPED.search(text) for text in question.labels.values()):
            self.draft.omit(
                f"{path}.title", "it shows {…} as written; another answer is not piped in"
            )
        if is_number:
            self.draft.ask_number(
                question, "range" if element.get("inputType") == "range" else "number"
            )
        else:
            self._readers[sort](question, element)

    def _conditions(self, path: str, bearer: dict[str, object]) -> None:
        for key in _CONDITIONS:
            if bearer.get(key):
                where = f"{path}.{key}".lstrip(".")
                self.draft.omit(where, "everyone is asked everything; the question itself is kept")

    def _options(self, path: str, value: object) -> list[Option]:
        if value is not None and not isinstance(value, list):
            self.draft.omit(path, f"it is {describe(value)}, not a list of choices")
        options = []
        for number, entry in enumerate(value if isinstance(value, list) else []):
            table = entry if isinstance(entry, dict) else {"value": entry}
            name = category_name(table.get("value", ""))
            if not name:
                self.draft.omit(f"{path}[{number}]", "a choice without a value")
                continue
            if table.get("visibleIf") or table.get("enableIf"):
                self.draft.omit(
                    f"{path}[{number}].visibleIf", "every choice is offered to everyone"
                )
            options.append(Option(name, localized(table.get("text"), self.own)))
        return options

    def _choices(self, question: Question, element: dict[str, object]) -> list[Option]:
        options = self._options(f"{question.path}.choices", element.get("choices"))
        options += self._counted(question, element, {option.name for option in options})
        for key, older, name, text in _EXTRAS:
            if element.get(key) is True or element.get(older) is True:
                options.append(Option(name, localized(element.get(text), self.own)))
        if not options:
            self.draft.omit(question.path, "it has no choices")
        return options

    def _counted(
        self, question: Question, element: dict[str, object], taken: Collection[str]
    ) -> list[Option]:
        """Make the choices of a drop-down that are given as a range of whole numbers."""
        if element["type"] != "dropdown" or not element.get("choicesMax"):
            return []
        low, high = element.get("choicesMin", 0), element["choicesMax"]
        numbers = _whole_numbers(low, high, element.get("choicesStep", 1))
        if not numbers:
            why = f"choicesMin to choicesMax is no range of at most {_LONGEST_SCALE} whole numbers"
            self.draft.omit(f"{question.path}.choicesMax", why)
        return [Option(str(number)) for number in numbers if str(number) not in taken]

    def _choice(self, question: Question, element: dict[str, object]) -> None:
        options = self._choices(question, element)
        widget: Widget = "dropdown" if element["type"] == "dropdown" else "radiogroup"
        if options:
            self.draft.ask(question, "nominal", options, widget)

    def _pictures(self, question: Question, element: dict[str, object]) -> None:
        read = self._checkbox if element.get("multiSelect") is True else self._choice
        read(question, element)

    def _checkbox(self, question: Question, element: dict[str, object]) -> None:
        for key in ("maxSelectedChoices", "minSelectedChoices"):
            if element.get(key):
                why = "each choice is a yes/no question of its own, free of the others"
                self.draft.omit(f"{question.path}.{key}", why)
        for option in self._choices(question, element):
            self.draft.ask_yes_no(question.part(option))

    def _boolean(self, question: Question, element: dict[str, object]) -> None:
        texts = (localized(element.get(key), self.own) for key in ("labelFalse", "labelTrue"))
        self.draft.ask_yes_no(question, *texts)

    def _rating(self, question: Question, element: dict[str, object]) -> None:
        options = self._options(f"{question.path}.rateValues", element.get("rateValues"))
        options = options or self._scale(element)
        if not options:
            self.draft.omit(question.path, "its scale is not one of whole numbers")
            return
        for end, key in ((0, "minRateDescription"), (-1, "maxRateDescription")):
            texts = localized(element.get(key), self.own)
            if texts and not options[end].labels:
                name = options[end].name
                labelled = {locale: f"{name} – {text}" for locale, text in texts.items()}
                options[end] = Option(name, FrozenMap(labelled))
        self.draft.ask(question, "ordinal", options, "rating")

    def _scale(self, element: dict[str, object]) -> list[Option]:
        count = element.get("rateCount", 5)
        low, step = element.get("rateMin", 1), element.get("rateStep", 1)
        if not all(type(value) is int for value in (count, low, step)):
            return []
        low, step, count = cast("int", low), cast("int", step), cast("int", count)
        high = element.get("rateMax", low + step * (count - 1))
        return [Option(str(value)) for value in _whole_numbers(low, high, step)]

    def _matrix(self, question: Question, element: dict[str, object]) -> None:
        columns = self._options(f"{question.path}.columns", element.get("columns"))
        rows = self._options(f"{question.path}.rows", element.get("rows"))
        if not rows or not columns:
            self.draft.omit(question.path, "it has no rows or no columns")
        required = question.required or element.get("isAllRowRequired") is True
        for row in rows:
            part = question.part(row)
            asked = Question(part.path, part.name, part.labels, part.description, required)
            self.draft.ask(asked, "nominal", columns, "radiogroup")


def _whole_numbers(low: object, high: object, step: object) -> range:
    """Return the numbers from ``low`` to ``high``; none unless they are two or more, and few."""
    if type(low) is not int or type(high) is not int or type(step) is not int or step < 1:
        return range(0)
    return range(low, high + 1, step) if 0 < (high - low) // step < _LONGEST_SCALE else range(0)
