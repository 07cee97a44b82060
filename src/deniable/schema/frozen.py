"""A mapping that cannot change: hashable, picklable, and equal to any dict like it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

Value_co = TypeVar("Value_co", covariant=True)


class FrozenMap(Mapping[str, Value_co]):
    """Text keys to values that are themselves immutable.

    ``types.MappingProxyType`` would do, but it can neither be hashed (before
    Python 3.12) nor sent to a worker process.

    >>> FrozenMap({"en": "sex"}) == {"en": "sex"}
    True
    """

    __slots__ = ("_items",)
    _items: dict[str, Value_co]

    def __init__(self, items: Mapping[str, Value_co] | None = None) -> None:
        """Copy ``items`` once and for all."""
        object.__setattr__(self, "_items", {} if items is None else dict(items))

    def __getitem__(self, key: str) -> Value_co:
        """Return the value at ``key``."""
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        """Walk the keys in their first order."""
        return iter(self._items)

    def __len__(self) -> int:
        """Count the keys."""
        return len(self._items)

    def __hash__(self) -> int:
        """Hash the contents, whatever their order."""
        return hash(frozenset(self._items.items()))

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: nothing here changes."""
        message = f"{type(self).__name__} cannot change"
        raise AttributeError(message)

    def __reduce__(self) -> tuple[type[FrozenMap[Value_co]], tuple[dict[str, Value_co]]]:
        """Travel between processes as the plain dict inside."""
        return (FrozenMap, (self._items,))

    def __repr__(self) -> str:
        """Show the contents as the dict they came from."""
        return f"{type(self).__name__}({self._items!r})"


NO_TEXTS: FrozenMap[str] = FrozenMap()


def text_in(locale: str, texts: Mapping[str, str], otherwise: str) -> str:
    """Return the text for ``locale``, else for its language, else the default one.

    >>> text_in("de-AT", {"default": "yes", "de": "ja"}, otherwise="?")
    'ja'
    """
    for key in (locale, locale.partition("-")[0], "default"):
        if key in texts:
            return texts[key]
    return otherwise
