"""What the house tests look at: the files that are published."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

NOT_PUBLISHED = {".git", ".hypothesis", ".run", ".venv", ".venv-peers", "_build", "node_modules"}


@pytest.fixture(scope="session")
def published(root: Path) -> list[Path]:
    """List the project's files: what git tracks, or without git what is there."""
    if shutil.which("git") and (root / ".git").exists():
        listing = ["git", "-C", str(root), "ls-files", "-z"]
        names = subprocess.run(listing, check=True, capture_output=True, text=True).stdout
        files = [root / name for name in names.split("\0") if name]
    else:
        files = [path for path in root.rglob("*") if not NOT_PUBLISHED & set(path.parts)]
    return [path for path in files if path.is_file()]


@pytest.fixture(scope="session")
def modules(root: Path) -> list[Path]:
    """List the modules of the package."""
    return sorted((root / "src" / "deniable").rglob("*.py"))
