"""The directive ``example``: what a script prints, and the script, which lies beside the page."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SECONDS = 120


class Example(Directive):
    """The output of this very build, then the code; a script that fails, fails the build."""

    required_arguments: ClassVar[int] = 1

    def run(self) -> list[nodes.Node]:
        """Run the script where nothing else lies and show both."""
        environment = self.state.document.settings.env
        _, name = environment.relfn2path(self.arguments[0])
        environment.note_dependency(name)
        code = Path(name).read_text(encoding="utf-8")
        try:
            printed = output_of(Path(name))
        except subprocess.SubprocessError as failure:
            words = getattr(failure, "stderr", None) or str(failure)
            raise self.error(f"{self.arguments[0]} does not run: {words}") from failure
        shown = nodes.literal_block(code, code, language="python")
        said = nodes.literal_block(printed, printed, language="text", classes=["printed"])
        return [said, nodes.paragraph(text="That was printed by this:"), shown]


def output_of(script: Path) -> str:
    """Return what a script prints."""
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(  # noqa: S603 -- the project's own example
            [sys.executable, str(script)],
            cwd=folder,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            text=True,
            check=True,
            timeout=SECONDS,
        ).stdout


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the directive."""
    app.add_directive("example", Example)
    return {"parallel_read_safe": True}
