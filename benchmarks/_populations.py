"""People whose answers are known, for the accuracy benchmark, and what they report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deniable.bulk.keystream import unsafe_seeded
from deniable.experiments.network import read_network
from deniable.experiments.population import Population, read_population
from deniable.planning.rehearsal import rehearse
from deniable.protocol import design_for
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    return population_of(
        network.sample(people, rng)[:, chosen], [network.sizes[place] for place in chosen]
    )


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


def population_of(answers: Answers, sizes: Sequence[int]) -> Population:
    """Return people whose attributes are called a0, a1, … of these answers."""
    names = tuple(f"a{place}" for place in range(len(sizes)))
    return Population(names, tuple(int(size) for size in sizes), answers.astype(np.int64))
