"""The tasks behind ``./run``: what each does, in which order, and how long it took.

Standard library only, so that ``./run help`` works before anything is installed.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
BROWSER = ROOT / "clients" / "browser"


class TaskFailedError(Exception):
    """A step of a task did not end well; its own words are already on the screen."""


def say(sentence: str) -> None:
    """Tell the person what happens, on stderr, so that stdout stays the task's own."""
    print(f"run: {sentence}", file=sys.stderr, flush=True)


def step(sentence: str, *command: str | Path, cwd: Path = ROOT) -> None:
    """Do one command and say how long it took."""
    say(f"{sentence} …")
    began = time.monotonic()
    words = [str(word) for word in command]
    code = subprocess.run(words, cwd=cwd, check=False).returncode
    took = f"{time.monotonic() - began:.1f} s"
    if code:
        message = f"failed: {sentence} (exit code {code}, {took})"
        raise TaskFailedError(message)
    say(f"done: {sentence} ({took})")


def tool(name: str) -> Path:
    """Name a program of the set-up environment."""
    return BIN / name


def demo(arguments: Sequence[str]) -> None:
    """Randomize a population and recover its tables, beside the truth."""
    os.execv(tool("deniable"), ["deniable", "demo", *arguments])  # noqa: S606 -- our own program


def test(arguments: Sequence[str]) -> None:
    """Run the tests; anything after the word goes to pytest.

    ./run test                       all of them, but for the slow proofs (./run prove)
    ./run test tests/unit -k coin    a few of them

    Brings Debian's Chromium when it is missing and the user is root. A test that could
    not run is listed with its reason; with CI=true it fails the run.
    """
    step("ran the tests", tool("python"), "-m", "pytest", *arguments)


def check(arguments: Sequence[str]) -> None:
    """Judge the text of the code: lint, format, types, layers, documentation."""
    del arguments
    step("linted", tool("ruff"), "check")
    step("compared the format", tool("ruff"), "format", "--check")
    step("checked the types", tool("mypy"))
    step("checked who imports whom", tool("lint-imports"))


def _summary(task: Callable[[Sequence[str]], None]) -> str:
    return (inspect.getdoc(task) or "").partition("\n")[0]


def help_(arguments: Sequence[str]) -> None:
    """Explain the tasks; ``./run help TASK`` explains one."""
    for name in arguments:
        if name not in TASKS:
            raise TaskFailedError(_unknown(name))
        print(f"./run {name}\n\n{inspect.getdoc(TASKS[name])}")
    if not arguments:
        print("./run TASK [ARGUMENTS]\n")
        for name, task in TASKS.items():
            print(f"  {name:10}{_summary(task)}")


def _unknown(name: str) -> str:
    return f"there is no task {name!r}; there are {', '.join(TASKS)}"


TASKS: dict[str, Callable[[Sequence[str]], None]] = {
    "demo": demo,
    "test": test,
    "check": check,
    "help": help_,
}


def main(words: Sequence[str]) -> int:
    """Do the task named by the first word."""
    name, *arguments = words or ["help"]
    if name not in TASKS:
        say(_unknown(name))
        return 2
    try:
        TASKS[name](arguments)
    except TaskFailedError as failure:
        say(str(failure))
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
