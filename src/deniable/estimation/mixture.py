"""A mixture of products: the whole joint of any number of attributes in linear memory.

π(x) = Σ_k w_k Π_j θ_jk(x_j). With one class it is independence; the mean of several
mixtures is a mixture again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

MOST_CELLS = 2**27
"""The largest table that is laid out: 1 GiB."""


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """A distribution over all attributes.

    Attributes:
        names: The attributes.
        sizes: Their numbers of categories.
        weight: The share of each class.
        theta: The distribution of each attribute in each class: rows are the categories of
            all attributes, one attribute after another; columns are classes.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    weight: Array
    theta: Array

    @property
    def classes(self) -> int:
        """Return the number of classes."""
        return len(self.weight)

    def part(self, attribute: str) -> Array:
        """Return the distributions of one attribute: categories × classes."""
        if attribute not in self.names:
            problem = f"there is no attribute {attribute!r} in the model"
            raise EstimationError(problem, expected=nearest(attribute, self.names))
        place = self.names.index(attribute)
        begins = list(accumulate(self.sizes, initial=0))
        return self.theta[begins[place] : begins[place + 1]]

    def table(self, attributes: Sequence[str]) -> Array:
        """Return the distribution of some attributes, one axis for each, in their order."""
        parts = [self.part(name) for name in attributes]
        shape = tuple(len(part) for part in parts)
        if not parts or len(set(attributes)) != len(parts):
            problem = "a table needs one attribute or more, each once"
            raise EstimationError(problem, given=list(attributes))
        cells = np.prod(shape, dtype=np.float64)
        if cells > MOST_CELLS:
            problem = f"a table of {cells:.3g} cells is too large to lay out"
            raise EstimationError(problem, expected=f"at most {MOST_CELLS} cells")
        # Two halves of about √cells rows each, so that one matrix product does the work.
        reached = np.cumprod(shape, dtype=np.float64)
        half = 1 + int(np.argmin(np.abs(np.log(reached) - np.log(cells) / 2)))
        left = _outer(parts[:half], self.weight[None, :])
        right = _outer(parts[half:], np.ones((1, self.classes)))
        table: Array = (left @ right.T).reshape(shape)
        return table

    def sample(self, people: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return that many synthetic people, one in each row."""
        classes = rng.choice(self.classes, size=people, p=self.weight / self.weight.sum())
        result = np.empty((people, len(self.sizes)), np.int64)
        begins = accumulate(self.sizes, initial=0)
        for column, (begin, end) in enumerate(pairwise(begins)):
            steps = np.cumsum(self.theta[begin:end], axis=0)
            draws = rng.random(people) * steps[-1, classes]
            above = draws[:, None] >= steps[:-1, classes].T
            result[:, column] = above.sum(axis=1)
        return result


def mean_of(mixtures: Sequence[Mixture], shares: Sequence[float] | None = None) -> Mixture:
    """Return the mean of several distributions, as one mixture of all their classes.

    Args:
        mixtures: The distributions, of the same attributes.
        shares: The share of each; the same for all if not given.
    """
    first = mixtures[0]
    weights = [1 / len(mixtures)] * len(mixtures) if shares is None else shares
    pairs = zip(mixtures, weights, strict=True)
    weight = np.concatenate([share * one.weight for one, share in pairs])
    theta = np.concatenate([one.theta for one in mixtures], axis=1)
    return Mixture(first.names, first.sizes, weight, theta)


def _outer(parts: Sequence[Array], start: Array) -> Array:
    """Return, class by class, the outer product of several distributions, flattened."""
    result = start
    for part in parts:
        result = (result[:, None, :] * part[None, :, :]).reshape(-1, result.shape[1])
    return result
