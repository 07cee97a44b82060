"""Choices of an element: strings, whole numbers, or tables of value, text and code."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from deniable.schema.attribute import MOST_CELLS
from deniable.schema.canonical import MOST_EXACT
from deniable.schema.category import Category, name_fault, natural_codes
from deniable.schema.frozen import NO_TEXTS
from deniable.schema.place import describe, shown
from deniable.schema.texts import written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.schema.frozen import FrozenMap
    from deniable.schema.place import Place
    from deniable.schema.texts import Languages

CHOICE_KEYS: Final = ("value", "text", "code")


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice as written: its code may still have to be found."""

    place: Place
    name: str
    labels: FrozenMap[str]
    code: int | None

    def category(self, code: int) -> Category:
        """Make the category, with ``code`` unless the choice names its own."""
        return Category(code if self.code is None else self.code, self.name, self.labels)


def read_choices(place: Place, languages: Languages) -> tuple[Category, ...]:
    """Read a list of choices; each name and each code may occur once."""
    entries = [read_choice(item, languages) for item in place.items(most=MOST_CELLS)]
    choices = [entry for entry in entries if entry is not None]
    names: set[str] = set()
    codes: set[int] = set()
    categories = []
    for choice, code in zip(choices, natural_codes([c.name for c in choices]), strict=True):
        category = choice.category(code)
        if category.name in names:
            choice.place.fault(f"the value {shown(category.name)} occurs twice")
        elif category.code in codes:
            choice.place.fault(f"the code {category.code} occurs twice; give each its own 'code'")
        names.add(category.name)
        codes.add(category.code)
        categories.append(category)
    return tuple(categories)


def read_choice(
    place: Place, languages: Languages, *, otherwise: str | None = None
) -> Choice | None:
    """Read one choice; ``otherwise`` is its value where the table gives none."""
    if not isinstance(place.value, dict):
        name = _read_value(place)
        return None if name is None else Choice(place, name, NO_TEXTS, None)
    table = place.table(CHOICE_KEYS, required=() if otherwise else ("value",))
    if table is None:  # it is a table, as just said
        return None
    name = _read_value(table["value"]) if "value" in table else otherwise
    labels = languages.read(table["text"]) if "text" in table else None
    code = table["code"].integer() if "code" in table else None
    if code is not None and abs(code) > MOST_EXACT:
        table["code"].fault(f"the code exceeds {MOST_EXACT} in size")
        return None
    return None if name is None else Choice(place, name, labels or NO_TEXTS, code)


def _read_value(place: Place) -> str | None:
    """Read the value that names a category: text, or a whole number spelled out."""
    value = place.value
    if isinstance(value, str):
        name = unicodedata.normalize("NFC", value)
        fault = name_fault(name)
        if fault:
            place.fault(f"the value {fault}")
        return None if fault else name
    if isinstance(value, bool) or not isinstance(value, int | float):
        place.fault(f"expected text or a whole number, not {describe(value)}")
        return None
    number = place.integer()
    if number is not None and abs(number) > MOST_EXACT:
        place.fault(f"the value exceeds {MOST_EXACT} in size")
        return None
    return None if number is None else str(number)


def written_choices(categories: Sequence[Category]) -> list[object]:
    """Write choices the short way: no text that is the name, no code that goes without saying."""
    natural = natural_codes([category.name for category in categories])
    return [
        written_choice(category, with_code=category.code != code)
        for category, code in zip(categories, natural, strict=True)
    ]


def written_choice(category: Category, *, with_code: bool) -> object:
    """Write one choice: its value alone, if that says all."""
    table: dict[str, object] = {"value": category.name}
    if category.labels:
        table["text"] = written(category.labels)
    if with_code:
        table["code"] = category.code
    return category.name if len(table) == 1 else table
