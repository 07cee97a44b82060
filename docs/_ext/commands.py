"""The directive ``commands``: what every command says with ``--help``, as it says it now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from docutils import nodes
from docutils.parsers.rst import Directive

from deniable.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx


def walk(
    command: click.Command, name: str, parent: click.Context | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the name and the help text of a command and of all below it."""
    context = command.make_context(
        name, [], parent, resilient_parsing=True, terminal_width=80, color=False
    )
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            member = command.get_command(context, below)
            if member is not None:
                yield from walk(member, below, context)


class Commands(Directive):
    """One section for each command."""

    def run(self) -> list[nodes.Node]:
        """Write the sections."""
        sections: list[nodes.Node] = []
        for name, text in walk(main, "deniable"):
            section = nodes.section(ids=[nodes.make_id(name)])
            section += nodes.title(text=name)
            section += nodes.literal_block(text, text, language="text")
            sections.append(section)
        return sections


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
