"""The directive ``errors-table``: spec/errors.json as a list of definitions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers.rst import Directive

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SOURCE = Path(__file__).parents[2] / "spec" / "errors.json"


class ErrorsTable(Directive):
    """One entry for each error."""

    def run(self) -> list[nodes.Node]:
        """Write the list."""
        self.state.document.settings.record_dependencies.add(str(SOURCE))
        entries = nodes.definition_list()
        for error in json.loads(SOURCE.read_text(encoding="utf-8")):
            status = "on the device" if error["status"] is None else f"HTTP {error['status']}"
            term = nodes.term("", "", nodes.literal(text=error["code"]), nodes.Text(f" – {status}"))
            meaning = nodes.definition("", nodes.paragraph(text=error["meaning"]))
            entries += nodes.definition_list_item("", term, meaning)
        return [entries]


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the directive."""
    app.add_directive("errors-table", ErrorsTable)
    return {"parallel_read_safe": True}
