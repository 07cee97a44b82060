"""How near the tables of a method come to the truth, for the accuracy benchmark."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from _populations import reports_of

from deniable.cli.terminal import progress
from deniable.estimation import METHODS
from deniable.estimation.climb import climb
from deniable.estimation.observation import observe
from deniable.estimation.sight import merged
from deniable.experiments.kikuchi import largest_error, total_variation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from deniable.experiments.population import Population
    from deniable.protocol import Tally
    from deniable.schema import Privacy

    Array = NDArray[np.float64]
    Give = Callable[[Sequence[str]], Array]

WIDTHS = (2, 3, 4, 5, 6)
PLAIN_STEPS = 100


def scores_of(
    people: Population,
    privacy: Privacy,
    tables: Sequence[Sequence[tuple[int, ...]]],
    method: str,
    seeds: Iterable[int],
) -> Array:
    """Return [w, (largest error, total variation)], the mean over the tables and seeds."""
    total = sum(map(len, tables))
    chosen = list(seeds)
    found = []
    with progress(f"{method}", total * len(chosen), unit="tables") as done:
        for seed in chosen:
            give = _giver(method, reports_of(people, privacy, seed), seed)
            found.append([_errors(people, give, one, done) for one in tables])
    return np.mean(found, axis=0)


def _errors(
    people: Population, give: Give, tables: Sequence[tuple[int, ...]], done: Callable[[int], None]
) -> Array:
    errors = []
    for table in tables:
        truth = people.counts(table) / len(people.answers)
        found = give([people.names[place] for place in table])
        errors.append((largest_error(found, truth), total_variation(found, truth)))
        done(1)
    return np.mean(errors, axis=0)


def _giver(method: str, tally: Tally, seed: int) -> Give:
    if method == "plain EM":
        return lambda names: _plain(tally, names)
    give = METHODS[method].prepare(tally, rng=np.random.default_rng(seed))
    return lambda names: give(names).estimate


def _plain(tally: Tally, names: Sequence[str]) -> Array:
    """Return EM from even shares, table by table, for at most ``PLAIN_STEPS`` steps."""
    observation = observe(tally, names)
    even = np.full(observation.shape, 1 / observation.cells)
    return climb(merged(observation.sights), even, gap=1.0, most_steps=PLAIN_STEPS).table


def tables_of(people: Population, most: int = 0, seed: int = 0) -> list[list[tuple[int, ...]]]:
    """Return all tables of each width, or so many drawn at random."""
    count, rng = len(people.sizes), np.random.default_rng([3, seed])
    chosen = []
    for width in WIDTHS:
        every = list(combinations(range(count), width))
        if most and comb(count, width) > most:
            every = [every[place] for place in rng.choice(len(every), most, replace=False)]
        chosen.append(every)
    return chosen
