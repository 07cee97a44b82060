"""Category: one of the answers that an attribute allows."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from deniable.errors import SchemaError
from deniable.schema.canonical import MOST_EXACT
from deniable.schema.frozen import NO_TEXTS, FrozenMap, text_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LONGEST_NAME: Final = 200
LONGEST_TEXT: Final = 10_000
MISSING_NAME: Final = "missing"
_MISSING_NAMES: Final = (MISSING_NAME, "not answered", "no answer")

# The shortest spelling only: "007" and "+7" are names, not the number seven.
WHOLE_NUMBER: Final = re.compile(r"0|-?[1-9][0-9]{0,14}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Category:
    """An answer: its code in exported files, its name in tables, its texts on the page.

    Attributes:
        code: A whole number, unique within the attribute.
        name: Printable text, unique within the attribute, in Unicode's composed form (NFC).
        labels: Locale to text; ``"default"`` serves every other locale.
    """

    code: int
    name: str
    labels: Mapping[str, str] = NO_TEXTS

    def __post_init__(self) -> None:
        """Check what can be checked without knowing the other categories."""
        if type(self.code) is not int or abs(self.code) > MOST_EXACT:
            raise SchemaError(
                "the code of a category is not a whole number",
                given=self.code,
                expected=f"an integer of at most {MOST_EXACT} in size",
            )
        fault = name_fault(self.name)
        if fault:
            raise SchemaError(f"the name of a category {fault}", given=self.name)
        object.__setattr__(self, "name", unicodedata.normalize("NFC", self.name))
        labels = checked_texts(self.labels)
        # A text that only repeats the name says nothing, and must not change a digest.
        object.__setattr__(self, "labels", labels if labels != {"default": self.name} else NO_TEXTS)

    def label(self, locale: str = "default") -> str:
        """Return the text for ``locale``, or the name."""
        return text_in(locale, self.labels, self.name)


def name_fault(name: object) -> str | None:
    """Say what keeps ``name`` from being the name of a category, if anything does."""
    if not isinstance(name, str):
        return "is not text"
    if not name or len(name) > LONGEST_NAME:
        return f"has {len(name)} characters, not 1 to {LONGEST_NAME}"
    if not name.isprintable():
        return "contains characters that cannot be printed"
    if name != name.strip():
        return "begins or ends with a space"
    return None


def text_fault(text: object) -> str | None:
    """Say what keeps ``text`` from being shown on a page, if anything does."""
    if not isinstance(text, str):
        return "is not text"
    if not text.strip():
        return "is empty"
    if len(text) > LONGEST_TEXT:
        return f"has more than {LONGEST_TEXT} characters"
    # Line breaks may be wanted; other control characters and halves of
    # surrogate pairs never are, and the latter cannot even be stored as UTF-8.
    if any(unicodedata.category(mark) in {"Cc", "Cs"} and mark not in "\n\t" for mark in text):
        return "contains characters that cannot be printed"
    return None


def checked_texts(texts: Mapping[str, str]) -> FrozenMap[str]:
    """Freeze localized texts, refusing any that could not be shown."""
    for locale, text in texts.items():
        fault = text_fault(text)
        if fault:
            raise SchemaError(f"the text for locale {locale!r} {fault}")
    return FrozenMap(texts)


def repeated(what: str, values: Iterable[str | int]) -> str | None:
    """Say which name or code occurs twice, if one does."""
    seen: set[str | int] = set()
    for value in values:
        if value in seen:
            return f"uses the {what} {value!r} twice"
        seen.add(value)
    return None


def natural_codes(names: Iterable[str]) -> list[int]:
    """Give a whole number itself as its code, any other name the first one free from its place on.

    >>> natural_codes(["none", "1", "2", "more"])
    [0, 1, 2, 3]
    """
    listed = list(names)
    codes = [int(name) if WHOLE_NUMBER.fullmatch(name) else None for name in listed]
    taken = {code for code in codes if code is not None}
    for place, code in enumerate(codes):
        if code is None:
            free = place
            while free in taken:
                free += 1
            taken.add(free)
            codes[place] = free
    return [code for code in codes if code is not None]


def missing_name(names: Iterable[str]) -> str:
    """Choose a name for the missing answer that no other answer has.

    >>> missing_name(["present", "missing"])
    'not answered'
    """
    taken = set(names)
    return next((name for name in _MISSING_NAMES if name not in taken), MISSING_NAME)


def missing_code(codes: Iterable[int]) -> int:
    """Choose a code for the missing answer: -1, or the first below that is free."""
    taken = set(codes)
    code = -1
    while code in taken:
        code -= 1
    return code


def coded(names: Iterable[str], *, with_missing: bool) -> tuple[Category, ...]:
    """Make a category of each name, and a last one for a missing answer if that is wanted."""
    names = list(names)
    codes = natural_codes(names)
    categories = [Category(code, name) for code, name in zip(codes, names, strict=True)]
    if with_missing:
        categories.append(Category(missing_code(codes), missing_name(names)))
    return tuple(categories)
