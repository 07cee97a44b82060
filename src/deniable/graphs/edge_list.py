"""Files of edges and of names, as other programs write them."""

from __future__ import annotations

import csv
import io
from itertools import chain
from typing import TYPE_CHECKING

from deniable.errors import DataError
from deniable.graphs.graph import graph_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from deniable.graphs.graph import Graph

PAIR = 2


def read_graph(path: Path, names: tuple[str, ...] = (), *, header: bool = False) -> Graph:
    """Read a file of edges: two names a line, by comma, semicolon, tab or blank.

    Lines that begin with # or % are comments; a third column and what follows is not read.

    Args:
        path: The file.
        names: Everybody, in an order. Without it everybody who has an edge, sorted: whoever
            has none is then left out, and that somebody is there says that they have one.
        header: Whether the first line names the columns.

    Raises:
        DataError: A line holds fewer than two names; or see ``graph_of``.
    """
    edges = list(_edges(path, header=header))
    if not edges and not names:
        problem = f"{path.name} holds no edges"
        raise DataError(problem, expected="two names a line")
    return graph_of(names or tuple(sorted(set(chain.from_iterable(edges)))), edges)


def seems_headed(path: Path) -> bool:
    """Tell whether the names of the first line stand nowhere else, as a heading's would."""
    first, *others = _edges(path, header=False)
    return bool(others) and set(first).isdisjoint(chain.from_iterable(others))


def read_names(path: Path) -> tuple[str, ...]:
    """Read a file of names, one a line."""
    lines = (line.strip() for line in _text(path).splitlines())
    return tuple(line for line in lines if line and not line.startswith(("#", "%")))


def _edges(path: Path, *, header: bool) -> Iterator[tuple[str, str]]:
    lines = [line for line in _text(path).splitlines() if line.strip()]
    lines = [line for line in lines if not line.lstrip().startswith(("#", "%"))][int(header) :]
    mark = next((mark for mark in ",;\t" if lines and mark in lines[0]), None)
    rows = (
        (line.split() for line in lines)
        if mark is None
        else csv.reader(io.StringIO("\n".join(lines)), delimiter=mark)
    )
    for row in rows:
        names = [name.strip() for name in row[:PAIR]]
        if len(names) < PAIR or not all(names):
            problem = f"a line of {path.name} does not hold two names"
            raise DataError(problem, expected="such as Ann,Bob")
        yield names[0], names[1]


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"{path.name} is not UTF-8 text: byte {error.start} fits no character"
        raise DataError(problem) from error
