"""A clone on somebody else's machine sets itself up, and stays set up."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@pytest.mark.prove
def test_a_fresh_clone_sets_itself_up_and_passes_its_tests(root: Path, tmp_path: Path) -> None:
    """With a bare environment and an empty home the tests pass; a second call installs nothing."""
    if shutil.which("git") is None or not (root / ".git").exists():
        pytest.skip("only a git checkout can be cloned")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(root), str(clone)], check=True)
    (tmp_path / "home").mkdir()
    bare = {"PATH": SYSTEM_PATH, "HOME": str(tmp_path / "home"), "CI": "true"}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, cwd=clone, env=bare, capture_output=True, text=True, check=False
        )

    first = run("sh", ".ci/run")
    assert first.returncode == 0, first.stdout + first.stderr
    assert "installed what is named in" in first.stderr
    second = run("./run", "python", "-c", "import deniable; print(deniable.__file__)")
    assert second.stderr == ""
    assert second.stdout.startswith(str(clone))
