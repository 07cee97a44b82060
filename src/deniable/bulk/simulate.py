"""Made-up populations, to randomize and to see what is recovered. The rng is the caller's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from deniable.bulk.sampler import dtype_for
from deniable.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    Shares = NDArray[np.float64]

_CLOSE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One attribute of a population, given some attributes before it.

    Attributes:
        name: The attribute.
        parents: The attributes on which it depends.
        shares: One axis for each parent, and a last one for the attribute itself, along
            which it sums to 1.
    """

    name: str
    parents: tuple[str, ...]
    shares: Shares


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """A Bayesian network: the joint distribution of several attributes, node by node.

    Every parent stands before its children.
    """

    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        """Refuse what is no distribution."""
        sizes: dict[str, int] = {}
        for node in self.nodes:
            if node.name in sizes or not set(node.parents) <= set(sizes):
                problem = f"the attribute {node.name!r} is there twice, or before what it hangs on"
                raise DataError(problem, expected="every attribute once, parents first")
            wanted = tuple(sizes[parent] for parent in node.parents)
            if node.shares.shape[:-1] != wanted:
                problem = f"the shares of {node.name!r} do not fit its parents"
                raise DataError(problem, given=node.shares.shape, expected=f"{wanted} and its own")
            if not (node.shares >= 0).all() or np.abs(node.shares.sum(-1) - 1).max() > _CLOSE:
                problem = f"the shares of {node.name!r} are no distribution"
                raise DataError(problem, expected="numbers of at least 0 that sum to 1")
            sizes[node.name] = node.shares.shape[-1]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the attributes."""
        return tuple(node.name for node in self.nodes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return their numbers of cells."""
        return tuple(node.shares.shape[-1] for node in self.nodes)

    def draw(self, people: int, *, rng: np.random.Generator) -> pa.Table:
        """Return the cells of so many people, a column for each attribute.

        >>> coin = independent({"coin": [0.5, 0.5]})
        >>> coin.draw(3, rng=np.random.default_rng(1)).num_rows
        3
        """
        columns: dict[str, NDArray[np.intp]] = {}
        for node in self.nodes:
            given = np.zeros(people, np.intp)
            for parent, size in zip(node.parents, node.shares.shape, strict=False):
                given = given * size + columns[parent]
            columns[node.name] = _drawn(node.shares.reshape(-1, node.shares.shape[-1]), given, rng)
        return pa.table(
            {
                name: column.astype(dtype_for(size))
                for (name, column), size in zip(columns.items(), self.sizes, strict=True)
            }
        )

    def joint(self) -> Shares:
        """Return the distribution over all cells, an axis for each attribute: the truth."""
        joint: Shares = np.ones((1,) * len(self.nodes))
        places = {name: place for place, name in enumerate(self.names)}
        for place, node in enumerate(self.nodes):
            axes = [*(places[parent] for parent in node.parents), place]
            shape = [self.sizes[axis] if axis in axes else 1 for axis in range(len(self.nodes))]
            joint = joint * node.shares.transpose(np.argsort(axes)).reshape(shape)
        return joint


def _drawn(rows: Shares, given: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw from row ``given[i]`` for person i, by inverting the cumulative shares."""
    size = rows.shape[1]
    ends = np.cumsum(rows, axis=1)[:, :-1]  # the last cell takes what rounding leaves
    ladder = np.hstack([ends, np.ones((len(rows), 1))]) + np.arange(len(rows))[:, None]
    found = np.searchsorted(ladder.reshape(-1), rng.random(given.size) + given, side="right")
    cells: NDArray[np.intp] = np.clip(found - given * size, 0, size - 1)
    return cells


def independent(shares: Mapping[str, ArrayLike]) -> Population:
    """Return a population in which no attribute tells anything about another."""
    return Population(
        tuple(Node(name, (), np.asarray(one, np.float64)) for name, one in shares.items())
    )


def from_table(names: Sequence[str], table: ArrayLike) -> Population:
    """Return the population of a joint table, by the chain rule."""
    joint = np.asarray(table, np.float64)
    joint = joint / joint.sum()
    if joint.ndim != len(names):
        problem = "a table needs an axis for each attribute"
        raise DataError(problem, given=joint.shape, expected=f"{len(names)} axes")
    nodes = []
    for place, name in enumerate(names):
        seen = joint.sum(axis=tuple(range(place + 1, joint.ndim)))
        before = seen.sum(axis=-1, keepdims=True)
        # Where nobody comes, any distribution will do.
        even = np.full_like(seen, 1 / seen.shape[-1])
        shares = np.divide(seen, before, out=even, where=before > 0)
        nodes.append(Node(name, tuple(names[:place]), shares))
    return Population(tuple(nodes))


def chain(sizes: Mapping[str, int], strength: float, *, rng: np.random.Generator) -> Population:
    """Return a population each of whose attributes hangs on the one before it.

    Args:
        sizes: The attributes and their numbers of cells.
        strength: From 0, independent, to 1, each decided by the one before.
        rng: Draws the shares.
    """
    nodes: list[Node] = []
    for name, size in sizes.items():
        margin = rng.dirichlet(np.full(size, 2.0))
        if not nodes:
            nodes.append(Node(name, (), margin))
            continue
        before = nodes[-1].shares.shape[-1]
        follows = np.eye(size)[np.arange(before) * size // before]
        shares = strength * follows + (1 - strength) * margin
        nodes.append(Node(name, (nodes[-1].name,), shares))
    return Population(tuple(nodes))


def resample(answers: pa.Table, people: int, *, rng: np.random.Generator) -> pa.Table:
    """Return so many rows of a table, drawn with replacement."""
    if not answers.num_rows:
        problem = "there is nobody to draw from"
        raise DataError(problem, expected="at least one row")
    return answers.take(pa.array(rng.integers(0, answers.num_rows, people)))


def frequencies(answers: pa.Table, names: Sequence[str], sizes: Sequence[int]) -> Shares:
    """Return how cells are distributed over some attributes: the truth of a simulation."""
    cells: NDArray[Any] = np.zeros(answers.num_rows, np.int64)
    for name, size in zip(names, sizes, strict=True):
        cells = cells * size + answers[name].to_numpy()
    counts = np.bincount(cells, minlength=math.prod(sizes))
    shares: Shares = counts.reshape(tuple(sizes)) / max(1, answers.num_rows)
    return shares
