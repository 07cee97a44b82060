"""Foreign names and texts, brought into the shape that a survey allows."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from deniable.schema.category import LONGEST_NAME, text_fault
from deniable.schema.frozen import FrozenMap
from deniable.schema.texts import DEFAULT, LOCALE

_LONGEST_IDENTIFIER: Final = 64


def identifier(text: str) -> str:
    """Make the name of an attribute of any text.

    >>> identifier("Höhe (in cm)?"), identifier("2nd job"), identifier("年齢")
    ('Hohe_in_cm', 'q_2nd_job', 'question')
    """
    bare = re.sub(r"[^A-Za-z0-9_-]+", "_", _ascii(text)).strip("_-")
    if not bare:
        return "question"
    return (bare if bare[0].isalpha() else f"q_{bare}")[:_LONGEST_IDENTIFIER]


def survey_name(text: str) -> str:
    """Make the name of a survey of any text.

    >>> survey_name("Health & Habits 2026")
    'health-habits-2026'
    """
    bare = re.sub(r"[^a-z0-9]+", "-", _ascii(text).lower())
    return bare[:_LONGEST_IDENTIFIER].strip("-") or "survey"


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def category_name(value: object) -> str:
    r"""Make the name of a category of a choice's value; empty if nothing printable is left.

    >>> category_name(" two\nlines "), category_name(3.0)
    ('two lines', '3')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    words = "".join(mark if mark.isprintable() else " " for mark in str(value)).split()
    return unicodedata.normalize("NFC", " ".join(words))[:LONGEST_NAME].strip()


def localized(value: object, own: str) -> FrozenMap[str]:
    """Read a text, or a table from locale to text; what cannot be shown is passed over.

    The text in the form's own language becomes the default one, and where it
    is lacking, the first there is.

    >>> localized({"en": "Age", "pt_BR": "Idade"}, own="en")
    FrozenMap({'default': 'Age', 'pt-BR': 'Idade'})
    """
    texts = value if isinstance(value, dict) else {DEFAULT: value}
    found: dict[str, str] = {}
    for key, text in texts.items():
        locale = _locale(str(key), own)
        if locale is not None and isinstance(text, str) and text_fault(text) is None:
            found.setdefault(locale, text.strip())
    if found and DEFAULT not in found:
        found = {DEFAULT: next(iter(found.values()))} | found
    return FrozenMap(found)


def _locale(key: str, own: str) -> str | None:
    if key in {DEFAULT, own}:
        return DEFAULT
    language, *rest = key.replace("_", "-").split("-")
    locale = "-".join([language.lower(), *rest])
    return locale if LOCALE.fullmatch(locale) else None
