"""Python's errors and spec/errors.json are one list."""

from __future__ import annotations

import inspect
import json
import pickle
from typing import TYPE_CHECKING

import pytest

from deniable import errors
from deniable.errors import DeniableError

if TYPE_CHECKING:
    from pathlib import Path

CLASSES = [
    kind
    for kind in vars(errors).values()
    if inspect.isclass(kind) and issubclass(kind, DeniableError)
]


@pytest.fixture(scope="module")
def listed(root: Path) -> list[dict[str, object]]:
    """Read the list that all languages share."""
    text = (root / "spec" / "errors.json").read_text(encoding="utf-8")
    entries: list[dict[str, object]] = json.loads(text)
    return entries


def test_every_error_is_listed_with_its_code_and_meaning(listed: list[dict[str, object]]) -> None:
    """A class, its code and its sentence stand in the list in the same order; no code twice."""
    assert [(entry["code"], entry["meaning"]) for entry in listed] == [
        (kind.code, " ".join((inspect.getdoc(kind) or "").split())) for kind in CLASSES
    ]
    assert len({kind.code for kind in CLASSES}) == len(CLASSES)


def test_every_entry_has_a_title_and_a_status_that_http_knows(
    listed: list[dict[str, object]],
) -> None:
    """A problem document can be made of each; what only a device says has no status."""
    for entry in listed:
        assert list(entry) == ["code", "title", "status", "meaning"]
        status = entry["status"]
        assert status is None or (isinstance(status, int) and 400 <= status < 600)
        assert isinstance(entry["title"], str)
        assert not entry["title"].endswith(".")


def test_every_error_is_defined_in_one_module(modules: list[Path]) -> None:
    """No other module derives an exception of its own from the tree or beside it."""
    derived = [
        f"{path}: {line}"
        for path in modules
        if path.stem != "errors"
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("class ") and line.rstrip("): ").endswith(("Error", "Exception"))
    ]
    assert not derived


@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_survives_the_trip_between_processes(kind: type[DeniableError]) -> None:
    """What a worker raises arrives as the same sentence."""
    error = kind("the thing is wrong", given=3, expected="four")
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 -- made one line above
    assert type(copy) is kind
    assert str(copy) == str(error) == "the thing is wrong (given: 3); expected four."
