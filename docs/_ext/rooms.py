"""One page of reference for each room, written before Sphinx reads the sources."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PACKAGE = Path(__file__).parents[2] / "src" / "deniable"
PAGE = """# deniable.{room}

```{{eval-rst}}
.. automodule:: deniable.{room}
   :members:
   :imported-members:
   :show-inheritance:
```
"""


def names() -> list[str]:
    """List what has a page: the rooms that say what they offer, and the errors."""
    offering = [
        path.parent.name
        for path in PACKAGE.glob("*/__init__.py")
        if "__all__" in path.read_text(encoding="utf-8")
    ]
    return sorted(["errors", *offering])


def write(app: Sphinx) -> None:
    """Write the pages that are missing and remove those of rooms that are gone."""
    folder = Path(app.srcdir) / "reference" / "python"
    pages = {folder / f"{room}.md": PAGE.format(room=room) for room in names()}
    for old in set(folder.glob("*.md")) - set(pages) - {folder / "index.md"}:
        old.unlink()
    for path, text in pages.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages as soon as the builder exists."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
