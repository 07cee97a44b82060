"""What is installed is what was locked: every file by its hash, from no named place."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from pathlib import Path

PINNED = re.compile(r"^([a-z0-9][a-z0-9.-]*)(?:\[[a-z0-9,-]+\])?==(\S+)(?: ; .+)? \\$")
HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}(?: \\)?$")
COMMENT = re.compile(r"^ *#")


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, Any]:
    """Read the project file."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def pins(path: Path) -> dict[str, set[str]]:
    """Read the versions that a lock names; one package may have several, by platform."""
    versions: dict[str, set[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if found := PINNED.match(line):
            versions.setdefault(found[1], set()).add(found[2])
    return versions


def test_every_line_of_a_lock_is_a_version_a_hash_or_a_comment(root: Path) -> None:
    """Nothing else can be smuggled in: no address, no option, no version without a hash."""
    for path in (root / "locks").iterdir():
        after_version = False
        for line in path.read_text(encoding="utf-8").splitlines():
            if COMMENT.match(line):
                continue
            is_hash = bool(HASH.match(line))
            assert is_hash or PINNED.match(line), f"{path.name}: {line}"
            assert is_hash or not after_version, f"{path.name}: no hash before {line}"
            after_version = not is_hash
        assert not after_version, f"{path.name}: no hash at the end"


def test_every_extra_has_its_lock(project: dict[str, Any], root: Path) -> None:
    """Each extra and group can be installed exactly, and no lock is left over."""
    extras = set(project["project"]["optional-dependencies"]) | set(project["dependency-groups"])
    assert {path.stem for path in (root / "locks").iterdir()} == extras | {"core"}


def test_every_lock_holds_what_the_project_file_asks_for(
    project: dict[str, Any], root: Path
) -> None:
    """A dependency that was added or raised has been locked: ./run lock."""
    asked = {"core": [], **project["project"]["optional-dependencies"]}
    for name, own in asked.items():
        locked = pins(root / "locks" / f"{name}.txt")
        for line in own + project["project"]["dependencies"]:
            wanted = Requirement(line)
            if wanted.name == "deniable":
                continue
            versions = locked[canonicalize_name(wanted.name)]
            assert all(wanted.specifier.contains(version) for version in versions), line


def test_the_locks_agree_with_each_other(root: Path) -> None:
    """What is tested is what an extra installs."""
    tested = pins(root / "locks" / "dev.txt")
    for path in (root / "locks").iterdir():
        for name, versions in pins(path).items():
            assert versions <= tested.get(name, versions), f"{path.name}: {name}"
