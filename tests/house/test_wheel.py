"""What people install is whole."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import deniable

if TYPE_CHECKING:
    from pathlib import Path


def test_the_wheel_holds_every_module_and_says_that_it_is_typed(
    root: Path, modules: list[Path], tmp_path: Path
) -> None:
    """The wheel builds offline and holds the modules, py.typed, the licence and the command."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
        about = f"deniable-{deniable.__version__}.dist-info"
        commands = archive.read(f"{about}/entry_points.txt").decode()
    assert {path.relative_to(root / "src").as_posix() for path in modules} <= inside
    assert {"deniable/py.typed", f"{about}/licenses/LICENSE"} <= inside
    assert "deniable = deniable.cli:main" in commands
    assert not [name for name in inside if not name.startswith(("deniable/", about))]
