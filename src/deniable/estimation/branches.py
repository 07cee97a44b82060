"""A junction tree in its directed form: each attribute given a few that came before it.

Every attribute's parents stand together in a clique of those before it, so the cliques form
a junction tree: the joint distribution is Π_v P(v | parents of v), any table of some
attributes follows by summing the others out, last one first, and no sum is ever over more
than a clique beside the attributes that were asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deniable.errors import EstimationError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

MOST_CELLS = 2**27
"""The largest table that is laid out: 1 GiB."""

CHUNK = 2**16
"""People drawn at once."""


class Branch(NamedTuple):
    """One attribute and those it hangs on.

    Attributes:
        attribute: Its place in the model's names.
        parents: The places of the attributes it hangs on; none for a root.
        given: Its distribution for each cell of its parents; its own axis is the last.
    """

    attribute: int
    parents: tuple[int, ...]
    given: Array


class _Factor(NamedTuple):
    axes: tuple[int, ...]
    values: Array


@dataclass(frozen=True, slots=True, eq=False)
class JunctionTree:
    """A distribution over all attributes, in memory that grows with their number only.

    Attributes:
        names: The attributes.
        sizes: Their numbers of categories.
        branches: One for each attribute, each after its parents.
        reason: Why the tree is as it is.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    branches: tuple[Branch, ...]
    reason: str = ""

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Return which attributes hang on which."""
        return tuple(
            (self.names[parent], self.names[branch.attribute])
            for branch in self.branches
            for parent in branch.parents
        )

    def table(self, attributes: Sequence[str]) -> Array:
        """Return the distribution of some attributes, one axis for each, in their order."""
        wanted = self._places(attributes)
        factors: list[_Factor] = []
        for branch in reversed(self.branches):
            own = branch.attribute
            met = [factor for factor in factors if own in factor.axes]
            if not met and own not in wanted:
                continue  # nothing that is asked for hangs on it: its shares sum to 1
            factors = [factor for factor in factors if own not in factor.axes]
            product = _Factor((*branch.parents, own), branch.given)
            for factor in met:
                product = _times(product, factor)
            if own not in wanted:
                product = _without(product, own)
            factors.append(product)
        joint = factors[0]
        for factor in factors[1:]:
            joint = _times(joint, factor)
        shares = joint.values.transpose([joint.axes.index(place) for place in wanted])
        result: Array = shares / shares.sum()
        return result

    def sample(self, people: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return that many synthetic people, one in each row."""
        result = np.empty((people, len(self.names)), np.int64)
        for begin in range(0, people, CHUNK):
            rows = result[begin : begin + CHUNK]
            for branch in self.branches:
                steps = np.cumsum(branch.given, axis=-1)
                of_parents = steps[tuple(rows[:, parent] for parent in branch.parents)]
                draws = rng.random((len(rows), 1)) * steps[..., -1:].max()
                above = draws >= of_parents[..., :-1]
                rows[:, branch.attribute] = above.sum(axis=-1)
        return result

    def _places(self, attributes: Sequence[str]) -> tuple[int, ...]:
        for name in attributes:
            if name not in self.names:
                problem = f"there is no attribute {name!r} in the model"
                raise EstimationError(problem, expected=nearest(name, self.names))
        places = tuple(self.names.index(name) for name in attributes)
        if not places or len(set(places)) != len(places):
            problem = "a table needs one attribute or more, each once"
            raise EstimationError(problem, given=list(attributes))
        cells = math.prod(self.sizes[place] for place in places)
        if cells > MOST_CELLS:
            problem = f"a table of {cells:.3g} cells is too large to lay out"
            raise EstimationError(problem, expected=f"at most {MOST_CELLS} cells")
        return places


def _times(first: _Factor, second: _Factor) -> _Factor:
    """Return the product over all axes of both."""
    axes = (*first.axes, *(axis for axis in second.axes if axis not in first.axes))
    return _Factor(axes, _widened(first, axes) * _widened(second, axes))


def _widened(factor: _Factor, axes: Sequence[int]) -> Array:
    """Return the values with one axis for each of ``axes``, of length 1 where there is none."""
    present = [axis for axis in axes if axis in factor.axes]
    turned = factor.values.transpose([factor.axes.index(axis) for axis in present])
    absent = tuple(place for place, axis in enumerate(axes) if axis not in factor.axes)
    return np.expand_dims(turned, absent)


def _without(factor: _Factor, axis: int) -> _Factor:
    """Sum an axis out."""
    place = factor.axes.index(axis)
    rest = tuple(other for other in factor.axes if other != axis)
    return _Factor(rest, factor.values.sum(axis=place))
