"""Files that the server ships: pages, the browser client, examples, what it says of itself.

In a wheel they lie inside the package; in a checkout the browser client, the
examples and the specification lie where people look for them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from deniable.errors import NotFoundError

_HERE = Path(__file__).parent
_CHECKOUT = _HERE.parents[2]


def pages() -> Path:
    """Return the folder of the pages."""
    return _HERE / "pages"


def client() -> Path:
    """Return the folder of the browser client's modules."""
    return _existing(_HERE / "client", _CHECKOUT / "clients" / "browser" / "src")


def example(name: str) -> str:
    """Return the text of an example survey."""
    folder = _existing(_HERE / "examples", _CHECKOUT / "examples")
    return (folder / name).read_text(encoding="utf-8")


def errors() -> list[dict[str, Any]]:
    """Return the list of errors that all languages share."""
    found: list[dict[str, Any]] = json.loads(_spec("errors.json"))
    return found


def interface() -> bytes:
    """Return the description of the HTTP interface, for programs (OpenAPI)."""
    return _spec("openapi.json")


def _spec(name: str) -> bytes:
    return (_existing(_HERE / "spec", _CHECKOUT / "spec") / name).read_bytes()


def _existing(packaged: Path, checkout: Path) -> Path:
    for folder in (packaged, checkout):
        if folder.is_dir():
            return folder
    raise NotFoundError("the installation is incomplete", given=packaged.name)
