"""Hot loops run wherever the package does, also where nothing may be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba.core import caching

from deniable.compiled import compiled

if TYPE_CHECKING:
    import pytest


def double(number: int) -> int:
    """Return twice a number."""
    return 2 * number


def test_a_loop_is_compiled_where_no_code_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-only image and a user without a home are no reason to fail at the import."""
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    assert compiled()(double)(21) == 42


def test_code_is_kept_where_it_can_be() -> None:
    """Otherwise the second start does not compile again."""
    dispatcher = compiled()(double)
    assert type(dispatcher._cache).__name__ == "FunctionCache"  # type: ignore[attr-defined]  # noqa: SLF001
