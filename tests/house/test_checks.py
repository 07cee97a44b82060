"""./run check passes; and who runs only ./run test learns it too."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tools import tasks

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("sentence", tasks.CHECKS)
def test_check_passes(sentence: str, root: Path) -> None:
    """The step has nothing to say."""
    if "browser" in sentence:
        tasks.bring_node_modules()
    command = tasks.CHECKS[sentence]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(done.stdout + done.stderr, pytrace=False)
