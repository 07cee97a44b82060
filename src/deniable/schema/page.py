"""Page and Element: how the attributes of a survey are put to people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from deniable.errors import SchemaError
from deniable.schema.category import checked_texts
from deniable.schema.frozen import NO_TEXTS, text_in

if TYPE_CHECKING:
    from collections.abc import Mapping

Widget: TypeAlias = Literal["radiogroup", "dropdown", "boolean", "rating", "number", "range"]
WIDGETS: Final[tuple[Widget, ...]] = (
    "radiogroup",
    "dropdown",
    "boolean",
    "rating",
    "number",
    "range",
)


@dataclass(frozen=True, slots=True)
class Element:
    """An attribute on a page: the name of the attribute, the widget, a word of explanation."""

    attribute: str
    widget: Widget = "radiogroup"
    description: Mapping[str, str] = NO_TEXTS

    def __post_init__(self) -> None:
        """Refuse a widget that no page can draw."""
        if self.widget not in WIDGETS:
            raise SchemaError(
                f"element {self.attribute!r} has an unknown widget",
                given=self.widget,
                expected=f"one of {', '.join(WIDGETS)}",
            )
        object.__setattr__(self, "description", checked_texts(self.description))


@dataclass(frozen=True, slots=True)
class Page:
    """Elements that are shown together."""

    name: str
    elements: tuple[Element, ...]
    title: Mapping[str, str] = NO_TEXTS
    description: Mapping[str, str] = NO_TEXTS

    def __post_init__(self) -> None:
        """Refuse a page with nothing on it."""
        object.__setattr__(self, "elements", tuple(self.elements))
        object.__setattr__(self, "title", checked_texts(self.title))
        object.__setattr__(self, "description", checked_texts(self.description))
        if not self.elements:
            raise SchemaError(f"page {self.name!r} is empty", expected="one element or more")

    def heading(self, locale: str = "default") -> str:
        """Return the title for ``locale``; a page may have none."""
        return text_in(locale, self.title, "")
