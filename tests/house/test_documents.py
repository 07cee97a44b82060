"""What the documents tell people to type works when it is typed."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools import tasks

ROOT = Path(__file__).parents[2]
MATERIALS = Path(__file__).parent / "materials"
DOCUMENTS = [
    path.relative_to(ROOT).as_posix()
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    if "_build" not in path.parts
]
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
# What a person does before there is anything to run.
BEFOREHAND = ("git clone ", "cd ", "pip install ")


def run_line(line: str, folder: Path) -> None:
    """Run one line of a shell block if it is ours; know it otherwise."""
    words = shlex.split(line, comments=True)
    if not words or line.startswith(BEFOREHAND):
        return
    if words[0] == "./run":
        words = words[1:]
        assert words[0] in {*tasks.TASKS, *tasks.BUILT_IN}, line
        if words[0] != "deniable":
            return
    assert words[0] == "deniable", f"who runs this? {line}"
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert not done.returncode, f"{line}\n{done.stderr}"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_a_document_tells_to_type_works(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every ``sh`` and ``python`` block runs, in order, where the files lie that people have."""
    shutil.copytree(MATERIALS, tmp_path, dirs_exist_ok=True)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "document"}
    for language, code in BLOCK.findall((ROOT / name).read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(code, name, "exec"), names)  # noqa: S102 -- the project's own documents
        else:
            for line in code.splitlines():
                run_line(line, tmp_path)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_a_document_links_to_is_there(name: str) -> None:
    """A link to a file of the project leads to one."""
    document = ROOT / name
    links = LINK.findall(document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_a_wrong_line_is_found(tmp_path: Path) -> None:
    """A task, a command and a program that do not exist are each noticed."""
    for line in ("./run tset", "./run deniable nope", "deniable --nope", "make all"):
        with pytest.raises(AssertionError):
            run_line(line, tmp_path)
