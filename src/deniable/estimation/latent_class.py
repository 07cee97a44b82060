"""Latent classes fitted to randomized reports: how many, and how closely, the people say.

The people are divided into folds. For each fold a mixture climbs from independence on the
reports of all the others, and the fold says at every step how likely its own reports are.
All climbs stop where the folds together were served best, at independence if nothing beats
it; the result is the mean of the climbs. So every report is used for fitting and every
report for judging, the number of classes need only be large enough (a climb that starts
at independence separates as many as the data can tell apart), and the mean over climbs
from different starts takes away most of what any one of them makes up.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.ascent import Ascent, Camp, normal
from deniable.estimation.folds import Folds, divide
from deniable.estimation.likelihood import Likelihood, People, likelihood_of
from deniable.estimation.mixture import Mixture, mean_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.evidence import Evidence
    from deniable.estimation.model import Progress

    Array = NDArray[np.float64]


CLASSES = 40
FOLDS = 8
SPREAD = 0.3
"""Standard deviation of the log-shares of the classes at the start, around independence."""

PRIOR = 0.2
"""Plain answers, spread as those of all people are, that every class has beforehand."""

ROUND = 10
"""Steps between two looks at the folds' verdict."""

FEWEST_STEPS = 40
MOST_STEPS = 300
LATE = 1.7
"""A climb goes on until it took this many times the steps of the best place so far."""

CAUTION = 1.0
"""Standard errors that a gain must be worth."""

SHARES = 9
DOUBT = 0.999
"""Belief in independence before the folds are asked, where their verdict is against it. Of
fits to people without any dependence one in fifty seems 2 nats better, one in a hundred 4;
a dependence that is worth so little costs little, too, if it is left out."""

FEWEST = 64
"""With fewer people nothing is held out, and the attributes are taken to be independent."""

SETTLING_STEPS = 200
WORTH_TELLING = 1.0
"""Seconds after which a fit says how far it is."""


@dataclass(frozen=True, slots=True, eq=False)
class LatentClass:
    """A fitted mixture and what it rests on.

    Attributes:
        model: The mean of the climbs.
        climbs: One mixture for each fold, which has not seen the fold's people.
        flats: Independence as those see it who are not in a fold.
        folds: Who was held out from which climb.
        gain: How much more likely the held-out reports are than under independence, in nats.
        error: The gain's standard error.
        clock: How many EM steps each climb stands for; 0 at independence.
        share: How much of each climb is its own; the rest is independence.
    """

    model: Mixture
    climbs: tuple[Mixture, ...]
    flats: tuple[Mixture, ...]
    folds: Folds
    gain: float
    error: float
    clock: float
    share: float


def fit_latent_class(
    evidence: Evidence,
    *,
    rng: np.random.Generator,
    classes: int = CLASSES,
    folds: int = FOLDS,
    threads: int | None = None,
    progress: Progress | None = None,
) -> LatentClass:
    """Fit a mixture of products to the reports, through the channels that made them.

    Args:
        evidence: The reports.
        rng: Decides who is in which fold and where the climbs start, and nothing else.
        classes: How many classes a climb may separate at most.
        folds: How many climbs, each without one part of the people.
        threads: How many climbs at a time; the result does not depend on it.
        progress: Is told how far a fit of more than a second is.
    """
    begun = time.monotonic()
    held_out = evidence.people >= FEWEST
    divided = divide(evidence, folds if held_out else 1, rng=rng)
    likelihood = likelihood_of(evidence)
    names, sizes = evidence.names, evidence.sizes
    if not held_out:
        model = Mixture(names, sizes, np.ones(1), _independence(likelihood, divided))
        return LatentClass(model, (model,), (model,), divided, 0.0, 0.0, 0.0, 0.0)
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        base = _independence(likelihood, divided)
        children = rng.spawn(divided.number)

        def start(fold: int) -> tuple[Ascent, Camp]:
            return _start(likelihood, divided, fold, base, classes, children[fold])

        ascents, flat = zip(*pool.map(start, range(divided.number)), strict=True)
        steps = 0
        while steps < MOST_STEPS:
            list(pool.map(lambda ascent: ascent.advance(ROUND), ascents))
            steps += ROUND
            best, gain, error = verdict(ascents)
            if progress and time.monotonic() - begun > WORTH_TELLING:
                progress(f"{steps} steps, held-out reports {gain:.1f} nats above independence")
            reached = max(sum(camp.clock <= best for camp in ascent.camps) for ascent in ascents)
            if steps >= max(FEWEST_STEPS, LATE * reached + ROUND):
                break
    places = [ascent.at(best) for ascent in ascents]
    flats = tuple([Mixture(names, sizes, camp.weight, camp.theta) for camp in flat])
    if gain <= CAUTION * error:
        return LatentClass(mean_of(flats), flats, flats, divided, 0.0, 0.0, 0.0, 0.0)
    found = [Mixture(names, sizes, camp.weight, camp.theta) for camp in places]
    share = _share(likelihood, divided, found, flats)
    climbs = tuple(mean_of(pair, (1 - share, share)) for pair in zip(flats, found, strict=True))
    return LatentClass(mean_of(climbs), climbs, flats, divided, gain, error, best, share)


def verdict(ascents: Sequence[Ascent]) -> tuple[float, float, float]:
    """Return when the held-out people were served best for sure, how well, and how surely.

    Best is the time with the highest gain over independence less its standard error: near
    independence, and with few people, the highest gain alone is mostly chance.
    """
    end = min(ascent.camps[-1].clock for ascent in ascents)
    clock = np.unique([camp.clock for ascent in ascents for camp in ascent.camps])
    clock = clock[clock <= end]
    gain, square = np.zeros(len(clock)), np.zeros(len(clock))
    for ascent in ascents:
        times = [camp.clock for camp in ascent.camps]
        gain += np.interp(clock, times, [camp.held for camp in ascent.camps])
        square += np.interp(clock, times, [camp.square for camp in ascent.camps])
    best = int(np.argmax(gain - CAUTION * np.sqrt(square)))
    return float(clock[best]), float(gain[best]), float(np.sqrt(square[best]))


def _share(
    likelihood: Likelihood, folds: Folds, found: Sequence[Mixture], flats: Sequence[Mixture]
) -> float:
    """Return the share of the climbs, beside independence, that held-out people let expect.

    Where a climb stops was chosen among many places, and the best of many is good by chance
    too: before the people are heard, independence is ``DOUBT``, and all other shares the rest.
    """
    shares = np.linspace(0, 1, SHARES)
    told = np.zeros(SHARES)
    for fold, (one, flat) in enumerate(zip(found, flats, strict=True)):
        levels = likelihood.levels(one.weight, one.theta)
        usual = likelihood.levels(flat.weight, flat.theta)
        held = likelihood.counted(folds.held(fold))
        for level, base, counts in zip(levels, usual, held, strict=True):
            came = counts > 0
            odds = np.exp((level[came] - base[came]).astype(np.float64))
            told += np.log1p(np.multiply.outer(shares, odds - 1)) @ counts[came]
    before = np.full(SHARES, (1 - DOUBT) / (SHARES - 1))
    before[0] = DOUBT
    belief = before * np.exp(told - told.max())
    return float(belief @ shares / belief.sum())


def _independence(likelihood: Likelihood, folds: Folds) -> Array:
    """Return the maximum-likelihood margins of all the people, as one class."""
    everyone = likelihood.counted([batch.counts for batch in folds.evidence.batches])
    nobody = tuple(np.zeros_like(counts) for counts in everyone)
    sizes = np.array(likelihood.sizes)
    even = np.repeat(1 / sizes, sizes)[:, None]
    people = People(everyone, nobody, nobody)
    return Ascent(likelihood, np.ones(1), even, people).settle(SETTLING_STEPS).theta


def _start(
    likelihood: Likelihood,
    folds: Folds,
    fold: int,
    base: Array,
    classes: int,
    rng: np.random.Generator,
) -> tuple[Ascent, Camp]:
    """Return a fold's climb at its start, and independence as the others see it."""
    fitted, held = likelihood.counted(folds.fitted(fold)), likelihood.counted(folds.held(fold))
    one = np.ones(1)
    people = People(fitted, held, tuple(np.zeros_like(counts) for counts in held))
    flat = Ascent(likelihood, one, base, people).settle(SETTLING_STEPS)
    people = People(fitted, held, likelihood.levels(one, flat.theta))
    noise = rng.normal(size=(len(base), classes))
    noise -= noise.mean(axis=1, keepdims=True)
    theta = normal(flat.theta * np.exp(SPREAD * noise), likelihood.offsets)
    weight = np.full(classes, 1 / classes)
    return Ascent(likelihood, weight, theta, people, PRIOR * flat.theta), flat
