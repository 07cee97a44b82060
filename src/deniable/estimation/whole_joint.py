"""The whole joint: one fit to all reports, out of which any table comes, with the reasons."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import inf, prod
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError
from deniable.estimation.inquiry import asked_together
from deniable.estimation.latent_class import LatentClass, fit_latent_class
from deniable.estimation.method import NOT_TOGETHER, tabulate
from deniable.estimation.observation import evidence_of, observe
from deniable.estimation.raking import rake
from deniable.estimation.refinement import (
    MOST_EFFORT,
    NARROWEST,
    Refinement,
    affordable,
    choose_refinement,
    people_of,
    refine,
)
from deniable.estimation.settling import Settlement, settle_pairs
from deniable.estimation.stack import seen_in
from deniable.estimation.unbiased import pooled
from deniable.estimation.whole_people import whole_people

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.climb import Seen
    from deniable.estimation.mixture import Mixture
    from deniable.estimation.model import Progress
    from deniable.estimation.observation import Source
    from deniable.estimation.table import Table

    Array = NDArray[np.float64]

MOST_SEEN = 2**28
"""Effort of a table's sights up to which it is told how sure its reports alone are."""

SMOOTHED = (
    "the shares follow a model of all attributes; the intervals are those of the table's own "
    "reports, wider, and hold without the model"
)


@dataclass(frozen=True, slots=True, eq=False)
class WholeJoint:
    """Any table of the attributes, and synthetic people, out of one fit.

    Attributes:
        source: The reports.
        fit: The latent classes; at independence if nothing else served held-out people better.
        settlement: The pairs, as they are settled between the model and their own reports.
        refinement: How far a table follows its own reports away from the model.
        reason: Why it is so; sentences without the last full stop.
    """

    source: Source
    fit: LatentClass
    settlement: Settlement
    refinement: Refinement
    reason: str

    @property
    def model(self) -> Mixture:
        """Return the mixture of products: consistent in itself, without raking."""
        return self.fit.model

    @property
    def names(self) -> tuple[str, ...]:
        """Return the attributes."""
        return self.model.names

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return their numbers of categories."""
        return self.model.sizes

    def table(self, attributes: Sequence[str]) -> Array:
        """Return the estimated distribution of some attributes, one axis for each.

        Tables agree with each other as far as one round of raking goes; ``model.table``
        agrees exactly.
        """
        raw = self.model.table(attributes)  # refuses what is no table
        ordered = tuple(sorted(attributes, key=self.names.index))
        sights = self._observed(ordered)
        if ordered in self.settlement.tables:
            found = self.settlement.tables[ordered]
        else:
            places = [attributes.index(name) for name in ordered]
            found = self._raked(raw.transpose(places), ordered)
        if sights and affordable(sights):
            width = len(ordered)
            found = refine(found, sights, self.refinement.of(width))
            found = people_of(found, sights, self.refinement.trust_of(width))
        found = whole_people(found, self.fit.folds.evidence.people)
        return found.transpose([ordered.index(name) for name in attributes])

    def estimate(self, attributes: Sequence[str]) -> Table:
        """Return the table with the intervals that its own reports give, and the reasons.

        Raises:
            EstimationError: An attribute is unknown, doubled, or was never asked.
        """
        observation = observe(self.source, attributes)
        self._require_asked(attributes)
        covering = observation.covering
        seen = covering and sum(sight.effort for sight in covering) <= MOST_SEEN
        dispersion = pooled(covering) if seen else None
        notes = [SMOOTHED] if dispersion is not None else []
        notes += [] if covering else [NOT_TOGETHER]
        notes += self._never_together(attributes)
        if covering and not seen:
            notes.append("the table is too large to tell how sure its own reports are")
        table = self.table(attributes)
        return tabulate(observation, table, dispersion, notes=notes, reason=self.reason)

    def standard_errors(self, attributes: Sequence[str]) -> Array:
        """Return what the model's cells would vary by in another sample of people: the jackknife.

        Var = (R − 1)/R · Σ_r (T_r − T̄)², where T_r leaves fold r out. It does not know what
        the model smooths away, so an interval made of it covers less than it says.
        """
        tables = np.stack([climb.table(attributes) for climb in self.fit.climbs])
        spread = ((tables - tables.mean(axis=0)) ** 2).sum(axis=0)
        errors: Array = np.sqrt(spread * (len(tables) - 1) / len(tables))
        return errors

    def sample(self, people: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return synthetic people drawn from the model, one in each row."""
        return self.model.sample(people, rng=rng)

    def _raked(self, table: Array, names: tuple[str, ...]) -> Array:
        places = combinations(range(len(names)), 2)
        chosen = {
            (one, two): self.settlement.tables.get((names[one], names[two])) for one, two in places
        }
        return rake(table, {key: pair for key, pair in chosen.items() if pair is not None})

    def _observed(self, names: tuple[str, ...]) -> Sequence[Seen]:
        """Return what the reports say of a table; nothing where too many see a large one in part.

        Each of these goes through the whole table, for what the model has used already.
        """
        evidence = self.fit.folds.evidence
        cells = prod(self.sizes[self.names.index(name)] for name in names)
        if cells * len(evidence.batches) > MOST_EFFORT:
            return []
        return seen_in(observe(evidence, names).sights)

    def _require_asked(self, attributes: Sequence[str]) -> None:
        asked = set().union(*asked_together(self.fit.folds.evidence))
        for name in attributes:
            if name not in asked:
                problem = f"no report tells anything about {name!r}"
                raise EstimationError(problem, expected="a view that asks it")

    def _never_together(self, attributes: Sequence[str]) -> list[str]:
        """Say of which pairs the model guesses the interplay, and what would tell it."""
        together = asked_together(self.fit.folds.evidence)
        return [
            f"{one} and {two} were never answered by one person and counted together: their "
            f"interplay rests on the model alone; a view whose groups hold {one}, {two} would "
            "tell it"
            for one, two in combinations(attributes, 2)
            if not any({one, two} <= group for group in together)
        ]


def fit_whole_joint(
    source: Source,
    *,
    rng: np.random.Generator,
    threads: int | None = None,
    progress: Progress | None = None,
) -> WholeJoint:
    """Fit independence, latent classes or each table's own likelihood, as the reports decide.

    Which, and how much of each, is decided by the likelihood of people held out from the fit.

    Args:
        source: A tally, a count, or evidence; one that keeps the groups of a view together.
        rng: Decides who is held out when and where climbs start. The same seed gives the same
            tables, whatever the number of threads.
        threads: How many climbs at a time; as many as there are processors.
        progress: Is told how far a fit of more than a second is.
    """
    fit = fit_latent_class(evidence_of(source), rng=rng, threads=threads, progress=progress)
    settlement = settle_pairs(fit, rng=rng)
    refinement = choose_refinement(settlement, rng=rng)
    return WholeJoint(source, fit, settlement, refinement, _reason(settlement, refinement))


def _reason(settlement: Settlement, refinement: Refinement) -> str:
    fit = settlement.fit
    if fit.folds.number == 1:
        return "so few people cannot be divided, and only independence needs no dividing"
    if not fit.gain:
        told = "no model of dependence made the reports of held-out people more likely"
    else:
        told = (
            f"a mixture of products (the mean of {len(fit.climbs)} climbs of about "
            f"{fit.clock:.0f} EM steps) made the reports of held-out people "
            f"{fit.gain:.1f} ± {fit.error:.1f} nats more likely than independence"
        )
    parts = [
        f"{_steps(steps)} on the reports of {width} attributes"
        for width, steps in enumerate(refinement.steps, NARROWEST)
        if steps
    ]
    told = f"{told}, and {', '.join(parts)} still more likely" if parts else told
    return f"{told}; {settlement.reason}" if settlement.reason else told


def _steps(steps: float) -> str:
    if steps == inf:
        return "maximum likelihood"
    return f"{steps:.0f} EM step" + ("s" if steps > 1 else "")
