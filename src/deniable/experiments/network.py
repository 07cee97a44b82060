"""Bayesian networks in the BIF notation: read, and drawn from."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_VARIABLE = re.compile(r"variable\s+(\S+)\s*\{\s*type\s+discrete\s*\[\s*\d+\s*\]\s*\{([^}]*)\}")
_PROBABILITY = re.compile(r"probability\s*\(([^)]*)\)\s*\{([^}]*)\}")
_LINE = re.compile(r"(?:\(([^)]*)\)|table)\s*([^;]*);")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
ROUNDED = 0.01
"""Published tables are rounded: so far may a row's sum be from 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A Bayesian network over categorical attributes.

    Attributes:
        names: The attributes, in the order of the file.
        categories: The names of each attribute's categories.
        parents: For each attribute, the positions of its parents.
        tables: For each attribute, P(attribute | parents); the attribute's own axis last.
    """

    names: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[NDArray[np.float64], ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the attributes' numbers of categories."""
        return tuple(map(len, self.categories))

    def sample(self, people: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw the answers of some people: a row each, parents before children."""
        answers = np.full((people, len(self.names)), -1, dtype=np.int64)
        waiting = list(range(len(self.names)))
        while waiting:
            ready = [a for a in waiting if not set(self.parents[a]) & set(waiting)]
            if not ready:
                problem = "the network has a cycle"
                raise DataError(problem, given=[self.names[a] for a in waiting])
            for attribute in ready:
                given = tuple(answers[:, parent] for parent in self.parents[attribute])
                odds = np.cumsum(self.tables[attribute][given], axis=-1)
                odds = np.broadcast_to(odds, (people, odds.shape[-1]))
                toss = rng.random((people, 1)) * odds[:, -1:]
                answers[:, attribute] = (toss >= odds[:, :-1]).sum(axis=1)
                waiting.remove(attribute)
        return answers


def read_network(path: str | Path) -> Network:
    """Read a network from a BIF file, gzipped or not."""
    path = Path(path)
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    return parse_network(text)


def parse_network(text: str) -> Network:
    """Read a network from the text of a BIF file.

    >>> text = "variable a { type discrete [ 2 ] { y, n }; } probability ( a ) { table .2, .8; }"
    >>> parse_network(text).tables[0].tolist()
    [0.2, 0.8]
    """
    text = _COMMENT.sub("", text)
    levels = {name: _words(values) for name, values in _VARIABLE.findall(text)}
    names = tuple(levels)
    parents: list[tuple[int, ...]] = [()] * len(names)
    tables: list[NDArray[np.float64]] = [np.empty(0)] * len(names)
    for about, lines in _PROBABILITY.findall(text):
        child, *given = _words(about.replace("|", ","))
        if child not in levels or not set(given) <= set(names):
            problem = "a probability speaks of an attribute that the network does not have"
            raise DataError(problem, given=about.strip())
        place = names.index(child)
        parents[place] = tuple(names.index(name) for name in given)
        tables[place] = _table(lines, [levels[name] for name in (*given, child)], about.strip())
    if not names or any(not table.size for table in tables):
        problem = "this is no Bayesian network in the BIF notation"
        raise DataError(problem, expected="variables, and a probability for each")
    return Network(names, tuple(levels.values()), tuple(parents), tuple(tables))


def _table(lines: str, levels: Sequence[tuple[str, ...]], about: str) -> NDArray[np.float64]:
    """Read one attribute's probabilities: a row for each condition, each row summing to 1."""
    table = np.zeros([len(values) for values in levels])
    try:
        for condition, numbers in _LINE.findall(lines):
            fixed = zip(levels[:-1], _words(condition), strict=True) if condition else ()
            index = tuple(values.index(value) for values, value in fixed)
            table[index] = [float(number) for number in _words(numbers)]
    except ValueError as error:
        problem = "a line of a probability does not fit its attributes"
        raise DataError(problem, given=about, expected="(a condition) a number each;") from error
    if (table < 0).any() or not np.allclose(table.sum(axis=-1), 1, atol=ROUNDED):
        problem = "the probabilities of an attribute do not sum to 1 under every condition"
        raise DataError(problem, given=about)
    return table


def made_up_network(sizes: Sequence[int], *, rng: np.random.Generator) -> Network:
    """Return a network of attributes that depend on up to two of those before, by chance."""
    parents = tuple(tuple(range(max(0, place - 2), place)) for place in range(len(sizes)))
    tables = tuple(
        rng.dirichlet(np.ones(size), size=[sizes[parent] for parent in given])
        for size, given in zip(sizes, parents, strict=True)
    )
    names = tuple(f"a{place}" for place in range(len(sizes)))
    categories = tuple(tuple(f"c{cell}" for cell in range(size)) for size in sizes)
    return Network(names, categories, parents, tables)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in re.split(r"[\s,]+", text.strip()) if word)
