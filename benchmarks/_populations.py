"""People whose answers are known, for the accuracy benchmark: files, networks and made-up ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deniable.bulk.keystream import unsafe_seeded
from deniable.experiments.network import made_up_network, read_network
from deniable.experiments.population import Population, read_population
from deniable.planning.rehearsal import rehearse
from deniable.protocol import design_for
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from deniable.protocol import Tally

    Answers = NDArray[np.int64]

ADULT = "adult8.csv.gz"
NETWORKS = "networks"


def found(name: str) -> Path | None:
    """Return where a file of published data is: in ``shared/data`` beside a folder above."""
    places = [folder / "shared" / "data" / name for folder in Path(__file__).resolve().parents]
    return next((place for place in places if place.exists()), None)


def adult(path: Path) -> Population:
    """Return the people of the Adult file."""
    return read_population(path)


def from_network(path: Path, attributes: int, people: int, rng: np.random.Generator) -> Population:
    """Return people drawn from a network, with some of its attributes, chosen at random."""
    network = read_network(path)
    count = min(attributes, len(network.sizes))
    chosen = np.sort(rng.choice(len(network.sizes), count, replace=False))
    return _population(
        network.sample(people, rng)[:, chosen], [network.sizes[place] for place in chosen]
    )


def nursery(rng: np.random.Generator, people: int = 12_960) -> Population:
    """Return eight independent attributes and a class that hangs on three of them."""
    sizes = (3, 5, 4, 4, 3, 2, 3, 3)
    answers = np.stack([rng.integers(0, size, people) for size in sizes], axis=1)
    told = answers[:, 1] + 2 * answers[:, 7] + 3 * (answers[:, 0] == 2)
    ranks = np.digitize(told + rng.integers(0, 2, people), [2, 4, 6, 9])
    return _population(np.column_stack([answers, ranks]), [*sizes, 5])


def unrelated(rng: np.random.Generator, people: int = 20_000) -> Population:
    """Return attributes that have nothing to do with each other."""
    sizes = rng.integers(2, 9, 8).tolist()
    columns = [rng.choice(size, people, p=rng.dirichlet(np.ones(size))) for size in sizes]
    return _population(np.stack(columns, axis=1), sizes)


def rare(rng: np.random.Generator, people: int = 3_000) -> Population:
    """Return a dozen rare yes-or-no attributes that have nothing to do with each other."""
    shares = rng.uniform(0.02, 0.3, 12)
    return _population((rng.random((people, 12)) < shares).astype(np.int64), [2] * 12)


def made_up(rng: np.random.Generator, people: int = 20_000, strength: float = 1.0) -> Population:
    """Return people of a random network; those beyond ``strength`` answer without it."""
    network = made_up_network(rng.integers(2, 8, 8).tolist(), rng=rng)
    answers = network.sample(people, rng)
    shuffled = np.stack([rng.permutation(column) for column in answers.T], axis=1)
    keeps = rng.random((people, 1)) < strength
    return _population(np.where(keeps, answers, shuffled), network.sizes)


def classes(rng: np.random.Generator, people: int = 10_000) -> Population:
    """Return people of five kinds, each with its own habits."""
    sizes = rng.integers(2, 10, 8).tolist()
    kinds = rng.integers(0, 5, people)
    columns = []
    for size in sizes:
        steps = np.cumsum(rng.dirichlet(np.full(size, 0.4), 5), axis=1)[kinds, :-1]
        columns.append((rng.random((people, 1)) > steps).sum(axis=1))
    return _population(np.stack(columns, axis=1), sizes)


def steps(rng: np.random.Generator, people: int = 50_000) -> Population:
    """Return ordered attributes, each a step or none away from the one before."""
    columns = [rng.integers(0, 10, people)]
    for _ in range(7):
        columns.append(np.clip(columns[-1] + rng.integers(-1, 2, people), 0, 9))
    return _population(np.stack(columns, axis=1), [10] * 8)


def reports_of(people: Population, privacy: Privacy, seed: int) -> Tally:
    """Return what everybody reports by a design; the same seed, the same reports."""
    return rehearse(
        design_for(survey_of(people, privacy)),
        np.random.default_rng(seed).permutation(people.answers),
        stream=unsafe_seeded(seed, 0),
        joint=True,
    )


def survey_of(people: Population, privacy: Privacy) -> Survey:
    """Return a survey that asks these people for everything."""
    attributes = tuple(
        Attribute.nominal(name, [f"c{cell}" for cell in range(size)])
        for name, size in zip(people.names, people.sizes, strict=True)
    )
    return Survey("accuracy", Schema(attributes), privacy)


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
}
"""Data of many kinds, drawn anew for each seed."""


def _population(answers: Answers, sizes: Sequence[int]) -> Population:
    names = tuple(f"a{place}" for place in range(len(sizes)))
    return Population(names, tuple(int(size) for size in sizes), answers.astype(np.int64))
