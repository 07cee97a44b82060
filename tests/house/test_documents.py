"""What the documents tell people to type works when it is typed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.house.typist import BLOCK, ROOT, Typist

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

DOCUMENTS = [
    path.relative_to(ROOT).as_posix()
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    if "_build" not in path.parts
]
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


@pytest.fixture
def typist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Typist]:
    """Sit down where the files lie that people have; a database is started if one is named."""

    def new_database() -> str:
        new: Callable[[], str] = request.getfixturevalue("postgresql")
        return new()

    monkeypatch.chdir(tmp_path)
    typist = Typist(tmp_path, new_database)
    yield typist
    typist.stop()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_a_document_tells_to_type_works(name: str, typist: Typist) -> None:
    """Every ``sh`` and ``python`` block runs, in order, where the files lie that people have."""
    typist.type_all((ROOT / name).read_text(encoding="utf-8"), name)


def in_shape(printed: str) -> list[str]:
    """Return the words of what was printed, any number being as good as another."""
    return re.sub(r"\d[\d,.]*\d|\d", "#", printed).split()


def test_the_readme_shows_what_its_example_prints(
    typist: Typist, capsys: pytest.CaptureFixture[str]
) -> None:
    """Numbers differ from run to run; the words beside them are those of today's program."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code = next(block for block in BLOCK.finditer(text) if block[1] == "python")
    shown = re.search(r"^```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert shown
    typist.type_all(code[0], "README.md")
    assert in_shape(capsys.readouterr().out) == in_shape(shown[1])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_a_document_links_to_is_there(name: str) -> None:
    """A link to a file of the project leads to one."""
    document = ROOT / name
    links = LINK.findall(document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


WRONG = [
    "./run tset",
    "./run deniable nope",
    "deniable --nope",
    "make all",
    "deniable serve nothing.toml",
    "curl http://127.0.0.1:8000/v1/health",
]


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_line_is_found(line: str, typist: Typist) -> None:
    """A task, a command, a program and a server that do not exist are each noticed."""
    with pytest.raises(AssertionError):
        typist.type_line(line)


def test_a_refused_request_is_found(typist: Typist) -> None:
    """A server that is told to be asked without its token refuses, and that is noticed."""
    typist.type_line("deniable serve examples/health.toml")
    with pytest.raises(OSError, match="401"):
        typist.type_line("curl http://127.0.0.1:8000/v1/surveys/health/tally")
