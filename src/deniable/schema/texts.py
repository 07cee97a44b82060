"""Texts in several languages: a string, or a table from locale to string."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from deniable.schema.category import text_fault
from deniable.schema.frozen import FrozenMap
from deniable.schema.place import shown, suggest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deniable.schema.place import Place

LOCALE: Final = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*", re.ASCII)
LOCALE_RULE: Final = "a language tag such as 'en' or 'pt-BR'"
DEFAULT: Final = "default"


@dataclass(frozen=True, slots=True)
class Languages:
    """The language of plain strings, and those that texts may be in (None: any)."""

    own: str = "en"
    offered: tuple[str, ...] | None = None

    def read(self, place: Place) -> FrozenMap[str] | None:
        """Read localized texts; the text in the survey's own language becomes the default."""
        if isinstance(place.value, str):
            place_of = {DEFAULT: place}
        elif isinstance(place.value, dict):
            place_of = {key: place.below(str(key), text) for key, text in place.value.items()}
        else:
            place.fault("expected text, or a table from locale to text")
            return None
        if self.own in place_of and DEFAULT in place_of:
            place.fault(f"'{DEFAULT}' and {self.own!r} are the same language here; keep one")
        elif self.own not in place_of and DEFAULT not in place_of:
            place.fault(f"the text in the survey's own language, {self.own!r}, is missing")
        texts = {}
        for key, below in place_of.items():
            text = self._read_one(key, below)
            if text is not None:
                texts[DEFAULT if key == self.own else key] = text
        return FrozenMap(texts)

    def _read_one(self, key: str, place: Place) -> str | None:
        if key not in {DEFAULT, self.own}:
            if not LOCALE.fullmatch(key):
                place.fault(f"{shown(key)} is not a locale; expected {LOCALE_RULE}")
            elif self.offered is not None and key not in self.offered:
                place.fault(f"{shown(key)} is not among the locales; {suggest(key, self.offered)}")
        text = place.text()
        fault = text_fault(text) if text is not None else None
        if fault:
            place.fault(f"the text {fault}")
        return None if fault else text


def written(texts: Mapping[str, str]) -> object:
    """Write localized texts the short way: a string when there is but one language."""
    return texts[DEFAULT] if set(texts) == {DEFAULT} else dict(texts)
