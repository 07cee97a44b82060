"""Import of XLSForm: the questions with one answer out of a list.

``select_one`` comes as it is; ``select_multiple`` becomes one yes/no question
per choice; numbers come where bins are declared for them. Groups become pages.
Everything else is left out, and every omission is told.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from deniable.errors import SurveyFileError
from deniable.schema.draft import Draft, Option, Question
from deniable.schema.foreign import category_name, localized
from deniable.schema.frozen import NO_TEXTS, FrozenMap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deniable.schema.draft import Omitted
    from deniable.schema.privacy import Privacy
    from deniable.schema.sheets import Row
    from deniable.schema.survey import Survey

_NUMBERS: Final = ("integer", "decimal", "range")
_METADATA: Final = (
    "start",
    "end",
    "today",
    "deviceid",
    "phonenumber",
    "username",
    "email",
    "simserial",
    "subscriberid",
    "audit",
    "start-geopoint",
    "background-audio",
    "background-geopoint",
)
_LEFT_OUT: Final = {
    "text": "free text is not collected",
    "note": "it is no question; pages and elements have descriptions",
    "calculate": "it is computed from other answers",
    "hidden": "it is no question",
    "rank": "a ranking of n items has n! answers",
    "acknowledge": "it has a single answer",
    "trigger": "it has a single answer",
    "date": "a date needs categories; ask for a period",
    "time": "a time needs categories; ask for a part of the day",
    "datetime": "a date needs categories; ask for a period",
    "select_one_from_file": "its choices are in another file",
    "select_multiple_from_file": "its choices are in another file",
    "xml-external": "it is no question",
    "csv-external": "it is no question",
} | dict.fromkeys(_METADATA, "metadata that identify people or devices are not collected")

# Other spellings that XLSForm has had over the years.
_ALIASES: Final = (
    (
        re.compile(r"^(add )?(select one|select_one|select1)( from)?\s+", re.IGNORECASE),
        "select_one ",
    ),
    (
        re.compile(
            r"^(add )?(select multiple|select_multiple|select all that apply)( from)?\s+",
            re.IGNORECASE,
        ),
        "select_multiple ",
    ),
    (re.compile(r"^(begin|end)[ _](group|repeat)\b", re.IGNORECASE), r"\1_\2"),
    (re.compile(r"^int$", re.IGNORECASE), "integer"),
)
_YES: Final = frozenset({"yes", "true", "true()", "1"})

# Languages that forms name in full; "Français (fr)" says its code itself.
_CODES: Final = {
    "english": "en",
    "german": "de",
    "deutsch": "de",
    "french": "fr",
    "français": "fr",
    "italian": "it",
    "italiano": "it",
    "spanish": "es",
    "español": "es",
    "portuguese": "pt",
    "português": "pt",
    "dutch": "nl",
    "nederlands": "nl",
    "polish": "pl",
    "russian": "ru",
    "arabic": "ar",
    "hindi": "hi",
    "swahili": "sw",
    "chinese": "zh",
    "japanese": "ja",
}
_CODE_IN_BRACKETS: Final = re.compile(r"\(\s*([A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*)\s*\)\s*$")


def import_xlsform(
    sheets: Mapping[str, Sequence[Row]],
    *,
    privacy: Privacy,
    name: str = "survey",
    bins: Mapping[str, Sequence[float]] | None = None,
) -> tuple[Survey, list[Omitted]]:
    """Make a survey of the sheets ``survey``, ``choices`` and, if there is one, ``settings``.

    Args:
        sheets: The rows of each sheet; see ``deniable.schema.sheets``.
        privacy: What the survey is to promise; XLSForm has no word for it.
        name: The survey's name, unless the settings have a ``form_id``.
        bins: Edges for numeric questions, by name; those without are left out.

    Raises:
        SurveyFileError: A sheet is missing, or none of the questions can be asked.
    """
    for sheet in ("survey", "choices"):
        if sheet not in sheets:
            raise SurveyFileError(
                f"the form has no sheet {sheet!r}", expected="the sheets 'survey' and 'choices'"
            )
    settings = sheets.get("settings") or ()
    setting = settings[0].cells if settings else {}
    own = _code_of(setting.get("default_language", "")) or "en"
    draft = Draft(bins or {})
    reading = _Reading(draft, own, _lists(sheets["choices"], draft, own))
    for row in sheets["survey"]:
        reading.row(row)
    survey = draft.finish(
        setting.get("form_id", name),
        privacy,
        own,
        title=localized(setting.get("form_title"), own),
    )
    return survey, list(dict.fromkeys(draft.omitted))


def _lists(rows: Sequence[Row], draft: Draft, own: str) -> dict[str, list[Option]]:
    lists: dict[str, list[Option]] = {}
    for row in rows:
        key = row.cells.get("list_name") or row.cells.get("list name")
        name = category_name(row.cells.get("name") or row.cells.get("value") or "")
        if not key or not name:
            draft.omit(f"choices row {row.number}", "it has no list or no name")
            continue
        lists.setdefault(key, []).append(Option(name, _texts(row, "label", own, draft, "choices")))
    return lists


class _Reading:
    """One walk down the sheet ``survey``."""

    def __init__(self, draft: Draft, own: str, lists: Mapping[str, list[Option]]) -> None:
        self._draft = draft
        self._own = own
        self._lists = lists
        self._groups: list[FrozenMap[str]] = []
        self._repeats = 0

    def row(self, row: Row) -> None:
        sort = row.cells.get("type", "")
        for pattern, spelling in _ALIASES:
            sort = pattern.sub(spelling, sort)
        word, _, rest = sort.partition(" ")
        path = f"survey row {row.number}"
        if word.lower() in {"begin_group", "end_group", "begin_repeat", "end_repeat"}:
            self._bracket(word.lower(), row, path)
        elif self._repeats:
            self._draft.omit(path, "it stands in a repeat, which has no fixed number of answers")
        elif word:
            self._question(word, rest.split(), row, path)

    def _bracket(self, word: str, row: Row, path: str) -> None:
        if word == "begin_repeat":
            self._repeats += 1
        elif word == "end_repeat":
            self._repeats = max(0, self._repeats - 1)
        elif word == "begin_group":
            self._turn()
            self._groups.append(_texts(row, "label", self._own, self._draft, "survey"))
            self._note_condition(row, path)
        else:
            self._turn()
            del self._groups[-1:]

    def _turn(self) -> None:
        self._draft.turn_page(self._groups[-1] if self._groups else NO_TEXTS)

    def _question(self, word: str, rest: list[str], row: Row, path: str) -> None:
        name = row.cells.get("name", "")
        where = f"{path} ({name or word})"
        if word in _LEFT_OUT or word not in {"select_one", "select_multiple", *_NUMBERS}:
            self._draft.omit(
                where, _LEFT_OUT.get(word, f"questions of type {word!r} are not known")
            )
            return
        if "choice_filter" in row.cells:
            self._draft.omit(where, "its choices depend on another answer")
            return
        question = Question(
            where,
            name,
            _texts(row, "label", self._own, self._draft, "survey"),
            _texts(row, "hint", self._own, self._draft, "survey"),
            row.cells.get("required", "").lower() in _YES,
        )
        self._note_condition(row, where)
        if word in _NUMBERS:
            self._draft.ask_number(question, "range" if word == "range" else "number")
        else:
            self._select(word, rest, question, row)

    def _select(self, word: str, rest: list[str], question: Question, row: Row) -> None:
        options = self._lists.get(rest[0], []) if rest else []
        if not options:
            self._draft.omit(question.path, f"there is no list {' '.join(rest[:1])!r} of choices")
            return
        if rest[-1] == "or_other":
            self._draft.omit(question.path, "the free text of 'other' is not collected")
            options = [*options, Option("other")]
        if word == "select_multiple":
            for option in options:
                self._draft.ask_yes_no(question.part(option))
            return
        minimal = row.cells.get("appearance", "").split()[:1] == ["minimal"]
        likert = "likert" in row.cells.get("appearance", "")
        self._draft.ask(
            question,
            "ordinal" if likert else "nominal",
            options,
            "dropdown" if minimal else "radiogroup",
        )

    def _note_condition(self, row: Row, path: str) -> None:
        if "relevant" in row.cells:
            why = "everyone is asked everything; the question itself is kept"
            self._draft.omit(f"{path}: relevant", why)


def _texts(row: Row, column: str, own: str, draft: Draft, sheet: str) -> FrozenMap[str]:
    found: dict[str, str] = {}
    for heading, text in row.cells.items():
        base, _, language = heading.replace("::", ":").partition(":")
        if base.strip().lower() != column:
            continue
        code = _code_of(language) if language else "default"
        if code is None:
            draft.omit(
                f"{sheet} column {heading!r}", "the language has no code, as in 'Kurdî (ku)'"
            )
        else:
            found["default" if code == own else code] = text
    return localized(found, own)


def _code_of(language: str) -> str | None:
    in_brackets = _CODE_IN_BRACKETS.search(language)
    if in_brackets:
        return in_brackets[1].replace("_", "-")
    bare = language.strip()
    if re.fullmatch(r"[a-z]{2,3}([-_][A-Za-z0-9]{2,8})*", bare):
        return bare.replace("_", "-")
    return _CODES.get(bare.lower())
