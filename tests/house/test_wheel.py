"""What people install is whole, and works where nothing else is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

import deniable

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, offline."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_every_module_and_says_that_it_is_typed(
    root: Path, modules: list[Path], wheel: Path
) -> None:
    """The modules, py.typed, the browser client, the examples, the licence, the command."""
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
        about = f"deniable-{deniable.__version__}.dist-info"
        commands = archive.read(f"{about}/entry_points.txt").decode()
    assert {path.relative_to(root / "src").as_posix() for path in modules} <= inside
    for kept, shipped in (("clients/browser/src", "client"), ("examples", "examples")):
        names = {path.name for path in (root / kept).iterdir() if path.is_file()}
        assert names
        assert {f"deniable/collection/{shipped}/{name}" for name in names} <= inside
    assert {"deniable/py.typed", f"{about}/licenses/LICENSE"} <= inside
    assert "deniable = deniable.cli:main" in commands
    assert not [name for name in inside if not name.startswith(("deniable/", about))]


@pytest.mark.prove
def test_an_installed_wheel_works_without_the_checkout(
    root: Path, wheel: Path, tmp_path: Path
) -> None:
    """With the core's lock only, every room that needs no extra imports and the command speaks."""
    uv, place = str(root / ".run" / "uv" / "bin" / "uv"), tmp_path / "place"
    clean = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}

    def do(*words: str) -> str:
        done = subprocess.run(
            words, cwd=tmp_path, env=clean, capture_output=True, text=True, check=False
        )
        assert not done.returncode, done.stderr
        return done.stdout

    install = [uv, "pip", "install", "-q", "--system-certs", "--python", str(place)]
    do(uv, "venv", "-q", "--python", sys.executable, str(place))
    do(*install, "--require-hashes", "-r", str(root / "locks" / "core.txt"))
    do(*install, "--no-deps", str(wheel))
    rooms = "schema channels protocol device bulk"
    imports = "; ".join(f"import deniable.{room}" for room in rooms.split())
    assert str(place) in do(
        str(place / "bin" / "python"), "-c", f"{imports}; print(deniable.__file__)"
    )
    assert "demo" in do(str(place / "bin" / "deniable"), "--help")
    assert deniable.__version__ in do(str(place / "bin" / "deniable"), "--version")
