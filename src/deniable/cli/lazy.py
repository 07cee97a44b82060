"""The group of commands: finds each by its file, imports only the one that is called.

A module of this package that defines ``command`` is a command. Its name is the
module's (``randomize.py`` is ``deniable randomize``) and the first line of its
docstring is what ``deniable --help`` prints. Adding a command touches no other file;
in the list it stands at the end until it is given a place in ``SECTIONS``.
"""

from __future__ import annotations

import ast
import importlib
import os
import sys
import traceback
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from deniable.errors import DeniableError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REFUSED = 2
FAILED = 70
INTERRUPTED = 130
PIPE_CLOSED = 141

SECTIONS: Final = {
    "See what this is": ("demo",),
    "Prepare a survey": ("schema", "validate", "plan", "design", "rehearse", "clusters"),
    "Ask, or randomize answers at hand": ("serve", "simulate", "randomize", "aggregate", "share"),
    "Learn from reports": (
        "count",
        "merge",
        "estimate",
        "test",
        "derive",
        "regress",
        "convergence",
        "synthesize",
    ),
    "Ask who is joined with whom": ("graph",),
}
"""The order in which a person meets the commands."""

_HERE = Path(__file__).parent


class Commands(click.Group):
    """A click group whose members are the modules beside this one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands without importing one."""
        del ctx
        return [name for name, _ in self.summaries()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one command."""
        del ctx
        if not _summary(_HERE / f"{cmd_name.replace('-', '_')}.py"):
            return None
        module = importlib.import_module(f"deniable.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        command.name = cmd_name
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called, or name the nearest one."""
        if not ctx.resilient_parsing and self.get_command(ctx, args[0]) is None:
            known = nearest(args[0], self.list_commands(ctx))
            ctx.fail(f"No such command {args[0]!r}. Did you mean {known}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by the first lines of their modules, again without importing."""
        del ctx
        left = dict(self.summaries())
        width = max(map(len, left))
        listed = {
            title: [(name, left.pop(name)) for name in names if name in left]
            for title, names in SECTIONS.items()
        }
        for title, lines in (listed | {"More": list(left.items())}).items():
            if lines:
                with formatter.section(title):
                    formatter.write_dl([(name.ljust(width), summary) for name, summary in lines])

    @staticmethod
    def summaries() -> Iterator[tuple[str, str]]:
        """Yield each command's name and first line, read from the source."""
        for path in sorted(_HERE.glob("*.py")):
            if summary := _summary(path):
                yield path.stem.replace("_", "-"), summary

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002 -- click's own signature
        **extra: Any,  # noqa: ANN401 -- as above
    ) -> Any:  # noqa: ANN401 -- as above
        """Run a command inside the boundary where errors become sentences."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except Exception as error:  # noqa: BLE001 -- the boundary
            _leave(error)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)
        sys.exit(code if isinstance(code, int) else 0)


@cache
def _summary(path: Path) -> str:
    """Return the first line of a module that defines a command, read from its source."""
    if not path.is_file():
        return ""
    tree = ast.parse(path.read_bytes())
    if any(getattr(node, "name", None) == "command" for node in tree.body):
        return (ast.get_docstring(tree) or "").partition("\n")[0]
    return ""


def _leave(error: Exception) -> NoReturn:
    """Say in one sentence what went wrong and end the program.

    An error nobody foresaw is named by its type only: its words might hold an answer.
    """
    if os.environ.get("DENIABLE_TRACEBACK") == "1" and not isinstance(error, click.exceptions.Exit):
        traceback.print_exception(error)
    match error:
        case click.ClickException():
            error.show()
            sys.exit(error.exit_code)
        case click.Abort():
            sys.exit(INTERRUPTED)
        case DeniableError():
            click.echo(f"error: {error}", err=True)
            sys.exit(REFUSED)
        case BrokenPipeError():
            # The reader of our output has gone; keep the interpreter from saying so at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(PIPE_CLOSED)
        case OSError() if error.strerror:
            where = f": {error.filename}" if error.filename else ""
            click.echo(f"error: {error.strerror}{where}.", err=True)
            sys.exit(REFUSED)
        case _:
            click.echo(
                f"error: an unexpected {type(error).__name__}, which is a fault of deniable. Run it"
                " again with DENIABLE_TRACEBACK=1 and report the trace, once you have seen that it"
                " holds no answer.",
                err=True,
            )
            sys.exit(FAILED)
