"""How near the tables of a method come to the truth, for the accuracy benchmark."""

from __future__ import annotations

import os
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import combinations
from math import comb
from multiprocessing import get_context
from typing import TYPE_CHECKING

import numpy as np
from _populations import reports_of

from deniable.cli.terminal import progress
from deniable.estimation import METHODS
from deniable.estimation.climb import climb
from deniable.estimation.observation import evidence_of, observe
from deniable.estimation.sight import merged
from deniable.experiments.kikuchi import largest_error, total_variation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from deniable.estimation.evidence import Evidence
    from deniable.experiments.population import Population
    from deniable.schema import Privacy

    Array = NDArray[np.float64]
    Give = Callable[[Sequence[str]], Array]

WIDTHS = (2, 3, 4, 5, 6)
PLAIN_STEPS = 100


@dataclass(frozen=True, slots=True)
class Job:
    """One survey of some people, and a method that estimates tables from what they report."""

    label: str
    people: Population
    privacy: Privacy
    tables: Sequence[Sequence[tuple[int, ...]]]
    method: str
    seed: int


def scores_of(jobs: Iterable[Job]) -> dict[str, Array]:
    """Return, by label, [w, (largest error, total variation)]: the mean over tables and seeds.

    As many jobs run at a time as there are processors, each in a process and on one thread.
    """
    os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    found: defaultdict[str, list[Array]] = defaultdict(list)
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(_errors_of, job): job.label for job in jobs}
        with progress("surveys estimated", len(futures), unit="surveys") as done:
            for _ in as_completed(futures):
                done(1)
    for future, label in futures.items():
        found[label].append(future.result())
    return {label: np.nanmean(errors, axis=0) for label, errors in found.items()}


def _errors_of(job: Job) -> Array:
    people = job.people
    evidence = evidence_of(reports_of(people, job.privacy, job.seed))
    give = _giver(job.method, evidence, job.seed)
    return np.stack([_errors(people, give, tables) for tables in job.tables])


def _errors(people: Population, give: Give, tables: Sequence[tuple[int, ...]]) -> Array:
    if not tables:  # fewer attributes than the width
        return np.full(2, np.nan)
    errors = []
    for table in tables:
        truth = people.counts(table) / len(people.answers)
        found = give([people.names[place] for place in table])
        errors.append((largest_error(found, truth), total_variation(found, truth)))
    return np.mean(errors, axis=0)


def _giver(method: str, evidence: Evidence, seed: int) -> Give:
    if method == "plain EM":
        return lambda names: _plain(evidence, names)
    give = METHODS[method].prepare(evidence, rng=np.random.default_rng(seed))
    return lambda names: give(names).estimate


def _plain(evidence: Evidence, names: Sequence[str]) -> Array:
    """Return EM from even shares, table by table, for at most ``PLAIN_STEPS`` steps."""
    observation = observe(evidence, names)
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
