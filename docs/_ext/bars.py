"""In a docstring a bar is an absolute value or a condition, not reStructuredText's substitution."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LITERAL = re.compile(r"(``.*?``)")


def escape(line: str) -> str:
    r"""Escape the bars of a line, but those of literals, doctests and tables.

    >>> escape("P(y | x) and |a| are ``|``")
    'P(y \\| x) and \\|a\\| are ``|``'
    """
    if line.lstrip().startswith(("|", "+-", ">>>", "...")):
        return line
    parts = LITERAL.split(line)
    parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
    return "".join(parts)


def process(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Escape the bars of a docstring, in place."""
    del app, what, name, thing, options
    lines[:] = [escape(line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every docstring before it is read."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True}
