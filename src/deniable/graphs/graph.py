"""A graph whose edges are known, and what there is to count in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Who is joined with whom: the truth, which a data holder may have and a server may not.

    Attributes:
        names: The people.
        joined: The adjacency matrix: symmetric, nobody joined with themselves.
    """

    names: tuple[str, ...]
    joined: Flags

    def __post_init__(self) -> None:
        """Refuse what is no adjacency matrix."""
        shape = (len(self.names), len(self.names))
        if self.joined.shape != shape or self.joined.dtype != np.bool_:
            problem = "an adjacency matrix has a row and a column of flags for each person"
            raise DataError(problem, given=self.joined.shape, expected=f"{shape}")
        if self.joined.diagonal().any() or not np.array_equal(self.joined, self.joined.T):
            problem = "edges join two different people, and both of them"
            raise DataError(problem, expected="a symmetric matrix with an empty diagonal")

    @property
    def edges(self) -> int:
        """Return the number of edges."""
        return int(self.joined.sum()) // 2

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Return with how many others each person is joined."""
        found: NDArray[np.int64] = self.joined.sum(axis=1, dtype=np.int64)
        return found

    @property
    def triangles(self) -> NDArray[np.int64]:
        """Return for each person how many pairs of their neighbours are joined."""
        closed = self.common[self.joined]
        owner = np.repeat(np.arange(len(self.names)), self.degrees)
        found = np.bincount(owner, closed, len(self.names))
        return (found / 2).round().astype(np.int64)

    @property
    def common(self) -> NDArray[np.float32]:
        """Return how many neighbours each two people have in common."""
        whole = self.joined.astype(np.float32)
        found: NDArray[np.float32] = whole @ whole
        return found


def graph_of(names: Sequence[str], edges: Iterable[tuple[str, str]]) -> Graph:
    """Return the graph of a list of edges; one that is listed twice is one.

    Raises:
        DataError: An edge joins somebody with themselves, or somebody who is not named.

    >>> graph_of(["Ann", "Bob", "Cy"], [("Ann", "Bob"), ("Bob", "Ann")]).edges
    1
    """
    places = {name: place for place, name in enumerate(names)}
    joined = np.zeros((len(names), len(names)), np.bool_)
    outside = loops = 0
    for one, other in edges:
        if one not in places or other not in places:
            outside += 1
        elif one == other:
            loops += 1
        else:
            joined[places[one], places[other]] = joined[places[other], places[one]] = True
    if outside:
        problem = f"{outside:,} edges name somebody who is not on the roster"
        raise DataError(problem, expected="a roster of everybody")
    if loops:
        problem = f"{loops:,} edges join somebody with themselves"
        raise DataError(problem, expected="edges between two people")
    return Graph(tuple(names), joined)
