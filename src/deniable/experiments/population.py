"""People whose answers are known, for experiments on published data."""

from __future__ import annotations

import csv
import gzip
import io
import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from deniable.errors import DataError
from deniable.planning.clusters import cluster
from deniable.planning.dependence import dependences

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Answers = NDArray[np.int64]

Groups: TypeAlias = "tuple[tuple[int, ...], ...]"


@dataclass(frozen=True)
class Population:
    """Records whose truth is known.

    Attributes:
        names: The attributes.
        sizes: Their numbers of categories.
        answers: One row a person.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    answers: Answers

    @cached_property
    def dependence(self) -> Array:
        """Return Cramér's V of every pair."""
        pairs = combinations(range(len(self.sizes)), 2)
        tables = {pair: self.counts(pair) for pair in pairs}
        return dependences(tables, self.sizes, [False] * len(self.sizes))

    @cached_property
    def _counted(self) -> dict[tuple[int, ...], Array]:
        return {}

    def counts(self, group: tuple[int, ...]) -> Array:
        """Return how many people are in each cell of some attributes."""
        if group not in self._counted:
            shape = [self.sizes[attribute] for attribute in group]
            found = np.bincount(self.cells(group), minlength=math.prod(shape))
            self._counted[group] = found.reshape(shape).astype(np.float64)
        return self._counted[group]

    def cells(self, group: tuple[int, ...]) -> Answers:
        """Return everybody's cell of some attributes."""
        columns = tuple(self.answers[:, attribute] for attribute in group)
        cells: Answers = np.ravel_multi_index(columns, [self.sizes[a] for a in group])
        return cells

    def repeated(self, times: int) -> Population:
        """Return the population with everybody there several times (Adult6)."""
        return Population(self.names, self.sizes, np.tile(self.answers, (times, 1)))

    def clusters(self, most_cells: int, least_dependence: float) -> Groups:
        """Return the clusters of algorithm 1 by the true dependences."""
        found = cluster(
            self.dependence, self.sizes, most_cells=most_cells, least_dependence=least_dependence
        )
        return found.groups


def read_population(path: Path) -> Population:
    """Read a CSV file of categories with a line of names, gzipped or not."""
    data = path.read_bytes()
    try:
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
    except (UnicodeDecodeError, OSError, EOFError) as error:
        problem = f"{path.name} is no file of categories"
        raise DataError(problem, expected="CSV in UTF-8, gzipped if it ends in .gz") from error
    names, *rows = list(csv.reader(io.StringIO(text))) or [[]]
    if any(len(row) != len(names) for row in rows):
        problem = "the rows of a file differ in length"
        raise DataError(problem, expected=f"{len(names)} columns in each")
    return population_of(names, list(zip(*rows, strict=True)))


def population_of(names: Sequence[str], columns: Sequence[Sequence[str]]) -> Population:
    """Return a population from columns of category names."""
    if len(names) < 2 or not columns or not len(columns[0]):  # noqa: PLR2004 -- a pair
        problem = "the experiments need a file of at least two categorical columns"
        raise DataError(problem, given=list(names))
    levels = [sorted(set(column)) for column in columns]
    places = [{name: place for place, name in enumerate(one)} for one in levels]
    answers = np.array(
        [[place[name] for name in column] for place, column in zip(places, columns, strict=True)]
    ).T
    return Population(tuple(names), tuple(map(len, levels)), np.ascontiguousarray(answers))


def single(population: Population) -> Groups:
    """Return every attribute as a group of its own: RR-Independent."""
    return tuple((attribute,) for attribute in range(len(population.sizes)))
