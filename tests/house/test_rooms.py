"""The rooms stand as the architecture says."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

from tools import public_names

if TYPE_CHECKING:
    from pathlib import Path

ROOMS_WITHOUT_DEPENDENCIES = ["errors", "schema", "channels", "protocol", "device"]

# Site packages are switched off, so whatever is imported is the standard library's or ours.
IMPORT_ALL = """
import importlib, pkgutil, sys
sys.path.insert(0, sys.argv[1])
room = importlib.import_module("deniable." + sys.argv[2])
for module in pkgutil.walk_packages(getattr(room, "__path__", []), room.__name__ + "."):
    importlib.import_module(module.name)
"""


def rooms(root: Path) -> list[str]:
    """List the folders of the package that hold code."""
    return sorted(path.parent.name for path in (root / "src" / "deniable").glob("*/__init__.py"))


@pytest.mark.parametrize("room", ROOMS_WITHOUT_DEPENDENCIES)
def test_a_room_near_the_answer_needs_the_standard_library_only(room: str, root: Path) -> None:
    """Every module of the room can be imported where nothing is installed."""
    command = [sys.executable, "-I", "-S", "-c", IMPORT_ALL, str(root / "src"), room]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr


def test_importing_the_package_imports_no_room(root: Path) -> None:
    """``import deniable`` costs nothing until something is used."""
    code = "import deniable, sys; print([m for m in sys.modules if m.startswith('deniable.')])"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_architecture_and_import_contract_agree(root: Path) -> None:
    """The drawing of who may import whom is the contract that is checked."""
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    drawing = re.search(r"```\n(cli\n.*?\nerrors)\n```", text, re.DOTALL)
    assert drawing
    config = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    layers = config["tool"]["importlinter"]["contracts"][0]["layers"]
    assert [re.sub(r"[()]", "", layer) for layer in layers] == ["testing", *drawing[1].split("\n")]


def test_every_room_is_described_and_none_is_planned_that_exists(root: Path) -> None:
    """ARCHITECTURE.md has a line for each room, and says of each whether it is there."""
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    lines = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE))
    standing = {name for name, line in lines.items() if not line.startswith("*planned:*")}
    assert standing == {*rooms(root), "compiled", "errors", "testing"}


def test_public_names_are_the_ones_agreed(root: Path) -> None:
    """A name appears or disappears on purpose: ./run python tools/public_names.py --write."""
    agreed = (root / "tools" / "public_names.txt").read_text(encoding="utf-8").split()
    assert sorted(set(public_names.found()) ^ set(agreed)) == []


def test_every_public_name_is_explained(root: Path) -> None:
    """A class or function that a room offers has a docstring."""
    for room in rooms(root):
        module = importlib.import_module(f"deniable.{room}")
        for name in getattr(module, "__all__", []):
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                assert inspect.getdoc(value), f"{room}.{name}"
