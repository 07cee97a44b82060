"""The default: one model of the whole joint that chooses everything itself and says why."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.latent_class import LatentClass, fit_latent_class
from deniable.estimation.leaning import Leaning, choose_leaning, lean
from deniable.estimation.observation import observe
from deniable.estimation.refinement import Refinement, choose_refinement, refine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.evidence import Evidence
    from deniable.estimation.latent_class import Progress

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class WholeJoint:
    """Any table of the attributes, and synthetic people, out of one fit.

    Attributes:
        evidence: The reports.
        fit: The latent classes; at independence if nothing else served held-out people better.
        leaning: How much of a table is the model's, how much independence.
        refinement: How far a table follows its own reports away from the model.
        reason: Why it is so, in sentences.
    """

    evidence: Evidence
    fit: LatentClass
    leaning: Leaning
    refinement: Refinement
    reason: str

    def table(self, attributes: Sequence[str]) -> Array:
        """Return the estimated distribution of some attributes, one axis for each.

        Tables agree with each other as far as the model goes; refined ones may differ a
        little in what they share. ``fit.model.table`` is never refined.
        """
        share = self.leaning.share(self.fit, attributes)
        table = lean(self.fit.model.table(attributes), share)
        steps = self.refinement.of(len(attributes))
        if not steps:
            return table
        return refine(table, observe(self.evidence, attributes).sights, steps)

    def standard_errors(self, attributes: Sequence[str]) -> Array:
        """Return what the cells would vary by in another sample of people: the jackknife.

        Var = (R − 1)/R · Σ_r (T_r − T̄)², where T_r leaves fold r out. It does not know what
        the model smooths away: where ``steps`` is small, an interval made of it covers less
        than it says.
        """
        tables = np.stack([climb.table(attributes) for climb in self.fit.climbs])
        spread = ((tables - tables.mean(axis=0)) ** 2).sum(axis=0)
        errors: Array = np.sqrt(spread * (len(tables) - 1) / len(tables))
        return errors

    def sample(self, people: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return synthetic people drawn from the model, one in each row."""
        return self.fit.model.sample(people, rng=rng)


def fit_whole_joint(
    evidence: Evidence,
    *,
    rng: np.random.Generator,
    threads: int | None = None,
    progress: Progress | None = None,
) -> WholeJoint:
    """Fit the default model: independence, latent classes or the table's own likelihood.

    Which, and how much of each, is decided by the likelihood of people held out from the fit.
    """
    fit = fit_latent_class(evidence, rng=rng, threads=threads, progress=progress)
    refinement = choose_refinement(fit, rng=rng)
    leaning = choose_leaning(fit, rng=rng)
    return WholeJoint(evidence, fit, leaning, refinement, _reason(fit, refinement))


def _reason(fit: LatentClass, refinement: Refinement) -> str:
    if not fit.gain:
        first = (
            "The attributes are taken to be independent: no model of their dependence made the "
            "reports of held-out people more likely."
        )
    else:
        first = (
            f"A mixture of products, the mean of {len(fit.climbs)} climbs of about "
            f"{fit.clock:.0f} EM steps: it made the reports of held-out people "
            f"{fit.gain:.1f} nats more likely than independence."
        )
    if not any(refinement.steps):
        return first + " Following a table's own reports further did not help held-out people."
    parts = ", ".join(
        f"{_steps(steps)} for tables of {width}" for width, steps in enumerate(refinement.steps, 1)
    )
    return f"{first} Held-out people were served best by {parts} attributes (or more)."


def _steps(steps: float) -> str:
    if steps == inf:
        return "maximum likelihood"
    return f"{steps:.0f} EM steps on the table's own reports"
