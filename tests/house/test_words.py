"""One word, one meaning: docs/glossary.md is the law."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

NOUNS = {
    *("answer", "attribute", "block", "channel", "coin", "design", "estimate", "group", "ledger"),
    *("report", "rng", "schema", "table", "tally", "test result", "view"),
}
VERBS = {
    *("accept", "audit", "close", "count", "derive", "plan", "randomize", "reconcile"),
    *("reconstruct", "render", "submit", "synthesize", "test"),
}
# They say that something is done, and not what.
EMPTY_WORDS = {"handler", "helper", "helpers", "manager", "misc", "util", "utilities", "utils"}
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def terms(section: str) -> list[str]:
    """List the words that a section of the glossary defines."""
    return re.findall(r"^(\w[\w ]*)\n  \S", section, re.MULTILINE)


def names_in(path: Path) -> set[str]:
    """Collect what a module calls itself, its classes, its functions and its arguments."""
    names = {path.stem}
    for node in ast.walk(ast.parse(path.read_bytes())):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
            case ast.arg():
                names.add(node.arg)
            case ast.Name(ctx=ast.Store()):
                names.add(node.id)
    return names


def test_the_glossary_defines_every_word_once_and_in_order(root: Path) -> None:
    """The nouns and the verbs of the architecture are there, sorted, without a double."""
    _, nouns, verbs = re.split(
        r"^## .*$", (root / "docs" / "glossary.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert terms(nouns) == sorted(set(terms(nouns)))
    assert terms(verbs) == sorted(set(terms(verbs)))
    assert set(terms(nouns)) >= NOUNS
    assert set(terms(verbs)) == VERBS


def test_no_name_is_an_empty_word(modules: list[Path]) -> None:
    """No module, class, function or variable is called manager, handler, helper or utils."""
    found = {
        f"{path}: {name}"
        for path in modules
        for name in names_in(path)
        if EMPTY_WORDS & {part.lower() for part in PART.findall(name)}
    }
    assert not found


def test_an_empty_word_is_found_wherever_it_stands(tmp_path: Path) -> None:
    """The search sees through capitals and underscores."""
    path = tmp_path / "plain.py"
    path.write_text("class BlockManager: ...\ndef read(json_utils): x_helper = 1\n")
    assert names_in(path) == {"plain", "BlockManager", "read", "json_utils", "x_helper"}
    found = {part.lower() for name in names_in(path) for part in PART.findall(name)}
    assert found >= {"manager", "utils", "helper"}
