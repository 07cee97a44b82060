"""What ``deniable serve`` does before it serves."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from deniable.cli import serve

if TYPE_CHECKING:
    import pytest


class Terminal:
    """A place to print to that a person watches."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def test_the_page_opens_by_itself_only_on_a_desktop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody must watch, and the machine must have windows; a server in a rack opens nothing."""
    monkeypatch.setattr(sys, "platform", "linux")
    for name in serve.DISPLAYS:
        monkeypatch.delenv(name, raising=False)
    with monkeypatch.context() as watched:
        watched.setattr(sys, "stdout", Terminal())
        assert not serve.on_a_desktop()
        watched.setenv("DISPLAY", ":0")
        assert serve.on_a_desktop()
        watched.delenv("DISPLAY")
        watched.setattr(sys, "platform", "darwin")
        assert serve.on_a_desktop()
    assert not serve.on_a_desktop()
