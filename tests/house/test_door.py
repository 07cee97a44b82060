"""./run is the one door, and the continuous integration uses it like everybody."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tools import tasks

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [*tasks.TASKS, *tasks.BUILT_IN]


def run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Go through the door."""
    return subprocess.run(["./run", *words], cwd=root, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", NAMES)
def test_every_task_explains_itself(name: str, root: Path) -> None:
    """./run help TASK prints what the task is for."""
    done = run(root, "help", name)
    assert done.returncode == 0
    assert done.stdout.startswith(f"./run {name}\n\n")
    assert len(done.stdout.split()) > 5


def test_help_lists_every_task_and_fits_eighty_columns(root: Path) -> None:
    """./run help is the table of contents."""
    lines = run(root, "help").stdout.splitlines()
    assert [line.split()[0] for line in lines[2:]] == NAMES
    assert not [line for line in lines if len(line) > 80]


def test_an_unknown_task_is_refused_with_the_known_ones(root: Path) -> None:
    """A typo does nothing and says what would have been right."""
    done = run(root, "tset")
    assert done.returncode == 2
    assert "tset" in done.stderr
    assert all(name in done.stderr for name in NAMES)


def test_the_exit_code_of_python_comes_through(root: Path) -> None:
    """A script behind the door fails as it would in front of it, and prints only its own."""
    done = run(root, "python", "-c", "import sys; print('out'); sys.exit(7)")
    assert (done.returncode, done.stdout) == (7, "out\n")


def test_the_integration_runs_what_a_person_runs(root: Path) -> None:
    """.ci/run has no command of its own but ./run test."""
    lines = (root / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    code = [line for line in lines if line and not line.startswith("#")]
    assert code == ["set -eu", 'cd "$(dirname "$0")/.."', "exec ./run test"]
