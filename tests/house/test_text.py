"""What is written down about the project speaks only of the project, and fits a reader."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Composed, so that this file does not contain what it looks for.
FOLDERS = ("work", "root", "home", "tmp", "opt", "Users")
MACHINE_PATH = re.compile(rf"(?<![\w.:/-])/({'|'.join(FOLDERS)})/[\w.-]")
REGISTRY = re.compile(
    r"""files\.pythonhosted\. | pypi\.(org|python) | registry\.(npmjs|yarnpkg)\.
    | (deb|ftp|security)\.debian\. | index-url | find-links""",
    re.VERBOSE,
)
SETTING = re.compile(r"\bDENIABLE_[A-Z_]*[A-Z]\b")
OWN_FORMAT = re.compile(
    r"\{[^{}]*(?:epsilon|spent)\w*(?:\[\w+\])?:[^{}]*[gfe]\} | ε\ [=≤]\ \{[^{}]*:[^{}]*[gfe]\}",
    re.VERBOSE,
)
LINES = 300
LONGER_BECAUSE: dict[str, str] = {}


def text_of(path: Path) -> str:
    """Read a file, or nothing if it is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def test_no_published_file_names_a_folder_of_somebodys_machine(published: list[Path]) -> None:
    """A path that exists on one machine only stands nowhere."""
    found = [
        f"{path}: {hit[0]}" for path in published if (hit := MACHINE_PATH.search(text_of(path)))
    ]
    assert not found


def test_no_published_file_names_a_registry_to_download_from(
    published: list[Path], root: Path
) -> None:
    """Which registry or mirror is used is each machine's own affair."""
    here = root / "tests" / "house" / "test_text.py"
    found = [path for path in published if path != here and REGISTRY.search(text_of(path))]
    assert not found


def test_the_patterns_find_what_they_are_for() -> None:
    """A path and a host of each kind would be caught; a path in a URL would not."""
    assert all(MACHINE_PATH.search(f"see /{folder}/x.txt") for folder in FOLDERS)
    assert not MACHINE_PATH.search("a host's own /surveys/home/x and ./tmp/x")
    assert OWN_FORMAT.search('f"ε = {plan.survey.privacy.epsilon' + ':g}"')
    assert OWN_FORMAT.search('f"{found.epsilon[place]' + ':.6f}"')
    assert not OWN_FORMAT.search('f"ε = {format_epsilon(epsilon)}, {share:.3f}"')
    assert REGISTRY.search("https://" + "registry.npmjs" + ".org/x")


def test_no_epsilon_is_printed_in_a_format_of_its_own(published: list[Path]) -> None:
    """A format such as ``:g`` may round down; format_epsilon and spell_number never do."""
    found = [
        f"{path}: {hit[0]}"
        for path in published
        if "src/deniable/" in str(path) and path.name != "testing.py"
        if (hit := OWN_FORMAT.search(text_of(path)))
    ]
    assert not found


def test_every_setting_is_documented(published: list[Path], root: Path) -> None:
    """A variable that changes what the program does is explained in the reference."""
    programs = ("src/", "clients/", "tools/", "run")
    used = {
        name
        for path in published
        if path.relative_to(root).as_posix().startswith(programs)
        for name in SETTING.findall(text_of(path))
    }
    explained = (root / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    assert "DENIABLE_TRACEBACK" in used
    assert used == set(re.findall(r"^`(DENIABLE_\w+)`$", explained, re.MULTILINE))


def test_a_module_is_short_enough_to_be_read(modules: list[Path], root: Path) -> None:
    """A module has at most 300 lines, or a reason is listed; a reason no longer needed goes."""
    length = {
        path.relative_to(root).as_posix(): len(text_of(path).splitlines()) for path in modules
    }
    assert {name for name, lines in length.items() if lines > LINES} == set(LONGER_BECAUSE)
