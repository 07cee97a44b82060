"""The browser of the end-to-end tests starts here and talks to nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_the_browser_runs_a_page_without_the_network(chromium: Browser) -> None:
    """A page's script runs, and nothing is asked of any host."""
    page = chromium.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("data:text/html,<p id=p></p><script>p.textContent = 6 * 7</script>")
    assert page.text_content("#p") == "42"
    assert asked == []
    page.close()
