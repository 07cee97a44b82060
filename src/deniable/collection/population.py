"""A made-up population whose attributes hang together, for simulated respondents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

CLASSES = 3


@dataclass(frozen=True, slots=True)
class Population:
    """A mixture of a few kinds of people; within a kind attributes are independent.

    Attributes:
        weights: The share of each kind.
        shares: For each attribute a row for each kind: the shares of its categories.
    """

    weights: np.ndarray
    shares: tuple[np.ndarray, ...]

    def draw(self, people: int, *, rng: np.random.Generator) -> np.ndarray:
        """Return the answers of so many people, a row for each."""
        kinds = rng.choice(len(self.weights), size=people, p=self.weights)
        columns = []
        for share in self.shares:
            bounds = np.cumsum(share, axis=1)[kinds]
            columns.append((rng.random(people)[:, None] >= bounds[:, :-1]).sum(axis=1))
        return np.column_stack(columns)


def make_population(sizes: Sequence[int], *, rng: np.random.Generator) -> Population:
    """Return a population over attributes of these sizes, some categories being rare."""
    weights = rng.dirichlet(np.full(CLASSES, 4.0))
    shares = tuple(rng.dirichlet(np.full(size, 1.2), size=CLASSES) for size in sizes)
    return Population(weights, shares)


def shares_of(answers: np.ndarray, attribute: int, size: int) -> np.ndarray:
    """Return how the answers to one attribute are distributed: the truth of a simulation."""
    return np.bincount(answers[:, attribute], minlength=size) / max(1, len(answers))
