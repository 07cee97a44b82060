"""The command line's frame: lazy, narrow, and polite when something goes wrong."""

from __future__ import annotations

import errno
import re
import subprocess
import sys
from io import StringIO
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from deniable.cli import main, terminal
from deniable.cli.lazy import SECTIONS, Commands
from deniable.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS = 80
SECRET = "the respondent said yes"  # noqa: S105 -- an answer, not a password


class Screen(StringIO):
    """A place for text that calls itself a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def commands(
    command: click.Command, name: str, parent: click.Context | None = None
) -> Iterator[tuple[str, str]]:
    """Yield each command's path and help text."""
    context = command.make_context(name, [], parent, resilient_parsing=True)
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            member = command.get_command(context, below)
            assert member is not None
            yield from commands(member, below, context)


HELP = dict(commands(main, "deniable"))


def group_that_raises(error: BaseException) -> Commands:
    """Make a command line whose only command fails."""

    @click.group(cls=type("One", (Commands,), {"get_command": click.Group.get_command}))
    def group() -> None: ...

    @group.command()
    def fail() -> None:
        raise error

    assert isinstance(group, Commands)
    return group


@pytest.mark.parametrize("name", HELP)
def test_help_fits_eighty_columns_and_begins_with_a_sentence(name: str) -> None:
    """What a command says about itself can be read in a terminal."""
    lines = HELP[name].splitlines()
    assert not [line for line in lines if len(line) > COLUMNS]
    assert lines[2].strip()[0].isupper()


@pytest.mark.parametrize("name", [name for name in HELP if name.count(" ") == 1])
def test_a_command_is_summed_up_by_the_sentence_it_begins_with(name: str) -> None:
    """The list of commands and the command's own help agree."""
    summary = dict(Commands.summaries())[name.partition(" ")[2]]
    assert " ".join(HELP[name].split()).find(" ".join(summary.split())) >= 0


def test_the_list_of_commands_names_each_of_them_once() -> None:
    """Every command stands in one section, every section holds commands that exist."""
    names = [name for name, _ in Commands.summaries()]
    placed = [name for section in SECTIONS.values() for name in section]
    assert sorted(placed) == sorted({*placed} & {*names}), "a section names what is no command"
    lines = HELP["deniable"].splitlines()
    for name in names:
        assert len([line for line in lines if re.match(rf"  {name}  ", line)]) == 1


@pytest.mark.parametrize(("word", "nearest"), [("randomise", "'randomize'"), ("xx", "one of")])
def test_a_command_that_does_not_exist_is_answered_with_the_nearest(
    word: str, nearest: str
) -> None:
    """Whoever mistypes a command is told which one there is."""
    result = CliRunner().invoke(main, [word])
    assert result.exit_code == 2
    assert f"No such command '{word}'. Did you mean {nearest}" in result.stderr


def test_the_list_of_commands_loads_no_number_crunching() -> None:
    """``deniable --help`` imports neither NumPy nor a command."""
    code = (
        "import sys; from deniable.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in sys.modules if m in ('numpy', 'rich', 'deniable.cli.demo')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (DataError("no column", expected="'age'"), 2, "error: no column; expected 'age'.\n"),
        (
            FileNotFoundError(errno.ENOENT, "No such file", "a.csv"),
            2,
            "error: No such file: a.csv.\n",
        ),
        (OSError(errno.ENOSPC, "No space left on device"), 2, "error: No space left on device.\n"),
        (KeyboardInterrupt(), 130, ""),
        (click.Abort(), 130, ""),
        (click.exceptions.Exit(3), 3, ""),
    ],
)
def test_an_error_becomes_one_sentence_and_an_exit_code(
    error: BaseException, code: int, words: str
) -> None:
    """Whoever asked for something wrong is told in a sentence, without a trace."""
    result = CliRunner().invoke(group_that_raises(error), ["fail"])
    assert (result.exit_code, result.stderr.lstrip("\n"), result.stdout) == (code, words, "")


def test_an_unforeseen_error_does_not_tell_what_it_was_working_with() -> None:
    """Its words might hold an answer, so only its type is named, until a person asks."""
    group = group_that_raises(ValueError(SECRET))
    quiet = CliRunner(env={"DENIABLE_TRACEBACK": None}).invoke(group, ["fail"])
    assert quiet.exit_code == 70
    assert "ValueError" in quiet.stderr
    assert "DENIABLE_TRACEBACK=1" in quiet.stderr
    assert SECRET not in quiet.output
    loud = CliRunner(env={"DENIABLE_TRACEBACK": "1"}).invoke(group, ["fail"])
    assert SECRET in loud.stderr
    assert "Traceback" in loud.stderr


def test_a_table_is_plain_and_numbers_stand_flush_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What looks like markup in a label is printed as it is; no line ends in blanks."""
    terminal.print_table(["city", "share"], [["[b]Oslo[/b]", 0.25], ["Rome", 0.5]])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "city           share"
    assert lines[2:] == ["[b]Oslo[/b]   0.2500", "Rome          0.5000"]


def test_progress_is_silent_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe or a log receives no bars."""
    with terminal.progress("counting", 3) as advance:
        advance(3)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_progress_is_shown_where_somebody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the bar says what is done and how much of it."""
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with terminal.progress("counting", 3) as advance:
        advance(3)
    assert "counting" in screen.getvalue()
    assert "3 rows" in screen.getvalue()
