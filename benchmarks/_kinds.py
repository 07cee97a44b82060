"""Made-up people of many kinds, drawn anew from each seed, for the accuracy benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from _populations import population_of

from deniable.experiments.network import made_up_network

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from deniable.experiments.population import Population

    Answers = NDArray[np.int64]


def nursery(rng: np.random.Generator, people: int = 12_960) -> Population:
    """Return eight independent attributes and a class that hangs on three of them."""
    sizes = (3, 5, 4, 4, 3, 2, 3, 3)
    answers = np.stack([rng.integers(0, size, people) for size in sizes], axis=1)
    told = answers[:, 1] + 2 * answers[:, 7] + 3 * (answers[:, 0] == 2)
    ranks = np.digitize(told + rng.integers(0, 2, people), [2, 4, 6, 9])
    return population_of(np.column_stack([answers, ranks]), [*sizes, 5])


def unrelated(rng: np.random.Generator, people: int = 20_000) -> Population:
    """Return attributes that have nothing to do with each other."""
    sizes = rng.integers(2, 9, 8).tolist()
    columns = [rng.choice(size, people, p=rng.dirichlet(np.ones(size))) for size in sizes]
    return population_of(np.stack(columns, axis=1), sizes)


def rare(rng: np.random.Generator, people: int = 3_000) -> Population:
    """Return a dozen rare yes-or-no attributes that have nothing to do with each other."""
    shares = rng.uniform(0.02, 0.3, 12)
    return population_of((rng.random((people, 12)) < shares).astype(np.int64), [2] * 12)


def made_up(rng: np.random.Generator, people: int = 20_000, strength: float = 1.0) -> Population:
    """Return people of a random network; those beyond ``strength`` answer without it."""
    network = made_up_network(rng.integers(2, 8, 8).tolist(), rng=rng)
    answers = network.sample(people, rng)
    shuffled = np.stack([rng.permutation(column) for column in answers.T], axis=1)
    keeps = rng.random((people, 1)) < strength
    return population_of(np.where(keeps, answers, shuffled), network.sizes)


def classes(rng: np.random.Generator, people: int = 10_000) -> Population:
    """Return people of five kinds, each with its own habits."""
    sizes = rng.integers(2, 10, 8).tolist()
    kinds = rng.integers(0, 5, people)
    columns = []
    for size in sizes:
        steps = np.cumsum(rng.dirichlet(np.full(size, 0.4), 5), axis=1)[kinds, :-1]
        columns.append((rng.random((people, 1)) > steps).sum(axis=1))
    return population_of(np.stack(columns, axis=1), sizes)


def steps(rng: np.random.Generator, people: int = 50_000) -> Population:
    """Return ordered attributes, each a step or none away from the one before."""
    columns = [rng.integers(0, 10, people)]
    for _ in range(7):
        columns.append(np.clip(columns[-1] + rng.integers(-1, 2, people), 0, 9))
    return population_of(np.stack(columns, axis=1), [10] * 8)


def any_network(rng: np.random.Generator) -> Population:
    """Return people of a random network of random strength."""
    network = made_up_network(_any_sizes(rng), rng=rng)
    answers = network.sample(_any_number(rng), rng)
    shuffled = np.stack([rng.permutation(column) for column in answers.T], axis=1)
    keeps = rng.random((len(answers), 1)) < rng.choice([0.1, 0.2, 0.4, 0.7, 1.0])
    return population_of(np.where(keeps, answers, shuffled), network.sizes)


def any_classes(rng: np.random.Generator) -> Population:
    """Return people of two kinds or more, with habits more or less of their own."""
    sizes, people = _any_sizes(rng), _any_number(rng)
    number, alike = int(rng.integers(2, 9)), float(np.exp(rng.uniform(np.log(0.2), np.log(5))))
    kinds = rng.choice(number, people, p=rng.dirichlet(np.ones(number)))
    columns = []
    for size in sizes:
        reached = np.cumsum(rng.dirichlet(np.full(size, alike), number), axis=1)[kinds, :-1]
        columns.append((rng.random((people, 1)) > reached).sum(axis=1))
    return population_of(np.stack(columns, axis=1), sizes)


def few_pairs(rng: np.random.Generator) -> Population:
    """Return unrelated attributes but for up to three pairs, of which one tells the other."""
    sizes, people = _any_sizes(rng), _any_number(rng)
    answers = np.stack(
        [rng.choice(size, people, p=rng.dirichlet(np.full(size, 1.5))) for size in sizes], axis=1
    )
    for _ in range(int(rng.integers(0, 4))):
        one, two = rng.choice(len(sizes), 2, replace=False)
        told = rng.integers(0, sizes[two], sizes[one])[answers[:, one]]
        answers[:, two] = np.where(rng.random(people) < rng.uniform(0.1, 1), told, answers[:, two])
    return population_of(answers, sizes)


def ordered(rng: np.random.Generator) -> Population:
    """Return quantities cut into classes: of a few common causes, or each near the one before."""
    sizes, people = _any_sizes(rng), _any_number(rng)
    count = len(sizes)
    if rng.random() < 1 / 2:
        pull = rng.normal(size=(int(rng.integers(1, 4)), count)) * rng.uniform(0.2, 1.5)
        causes = rng.normal(size=(people, len(pull)))
        amounts = causes @ pull + rng.normal(size=(people, count))
    else:
        near = rng.uniform(0.2, 0.97)
        amounts = rng.normal(size=(people, count))
        for place in range(1, count):
            amounts[:, place] *= np.sqrt(1 - near**2)
            amounts[:, place] += near * amounts[:, place - 1]
    amounts /= amounts.std(axis=0)
    columns = [
        np.digitize(amounts[:, place], np.sort(rng.normal(size=size - 1)))
        for place, size in enumerate(sizes)
    ]
    return population_of(np.stack(columns, axis=1), sizes)


def _any_sizes(rng: np.random.Generator) -> list[int]:
    return rng.integers(2, int(rng.integers(4, 13)), int(rng.integers(5, 13))).tolist()


def _any_number(rng: np.random.Generator) -> int:
    """Return from 600 to 100,000 people, each order of magnitude as likely."""
    return int(np.exp(rng.uniform(np.log(600), np.log(100_000))))


MADE_UP: dict[str, Callable[[np.random.Generator], Population]] = {
    "nursery-like": nursery,
    "unrelated": unrelated,
    "rare, unrelated": rare,
    "network": made_up,
    "network, 1,000": lambda rng: made_up(rng, 1_000),
    "weak, 1,000": lambda rng: made_up(rng, 1_000, 0.4),
    "weak, 100,000": lambda rng: made_up(rng, 100_000, 0.2),
    "five kinds": classes,
    "steps": steps,
    "any network": any_network,
    "any classes": any_classes,
    "few pairs": few_pairs,
    "ordered": ordered,
}
"""Data of many kinds; of the last four how many attributes, categories and people is drawn too."""
