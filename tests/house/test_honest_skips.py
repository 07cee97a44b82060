"""A test that could not run is not hidden behind a green line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

SKIPS = """
import pytest

def test_with_a_browser(): pytest.skip("no browser here")
def test_without(): pass
"""


@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("", 0)])
@pytest.mark.parametrize("workers", ["-n0", "-n1"])
def test_a_skip_is_listed_and_fails_the_integration(
    ci: str, code: int, workers: str, root: Path, tmp_path: Path
) -> None:
    """The reason is printed; with CI=true the run fails, for one process as for several."""
    shutil.copy(root / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(SKIPS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", workers, str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout
    assert "1 DID NOT RUN" in done.stdout
    assert "test_with_a_browser: no browser here" in done.stdout
    assert "1 passed, 1 skipped" in done.stdout
