"""The default: what the evidence says is best, and why."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from deniable.estimation.axes import product_of_margins
from deniable.estimation.method import Method, tabulate
from deniable.estimation.scene import scenes_of
from deniable.estimation.simplex import nearest_proper
from deniable.estimation.whole_joint import fit_whole_joint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from deniable.estimation.evidence import Evidence
    from deniable.estimation.model import Progress
    from deniable.estimation.observation import Source
    from deniable.estimation.scene import Scene
    from deniable.estimation.table import Table
    from deniable.estimation.whole_joint import WholeJoint

PLENTY = 100.0
"""Plain answers per cell from which reports fill a table."""

FILLED = 64
"""Larger tables are never taken to be filled."""


def is_certain(gain: float, freedom: int) -> bool:
    """Tell whether reports exclude independence so far that it cannot be the better estimate.

    Twice the gain is χ² with so many degrees of freedom under independence. Leaving the
    dependence out costs the square of what is left out, estimating it costs one unit for each
    degree: beyond three units, and twenty more for chance, estimating is better for sure.
    """
    return 2 * gain > 3 * freedom + 20


def answer(
    source: Source, *, rng: np.random.Generator, progress: Progress | None = None
) -> Callable[[Sequence[str]], Table]:
    """Return what gives one table after another; the whole joint is fitted when first needed."""
    fitted: list[WholeJoint] = []
    show = scenes_of(source)

    def give(attributes: Sequence[str]) -> Table:
        found = filled(show(attributes))
        if found is not None:
            return found
        if not fitted:
            fitted.append(fit_whole_joint(source, rng=rng, progress=progress))
        return fitted[0].estimate(attributes)

    return give


def fit(
    evidence: Evidence,
    *,
    rng: np.random.Generator,
    threads: int | None = None,
    progress: Progress | None = None,
) -> WholeJoint:
    """Fit the whole joint, whatever tables will be asked for."""
    return fit_whole_joint(evidence, rng=rng, threads=threads, progress=progress)


def filled(scene: Scene) -> Table | None:
    """Return the maximum-likelihood table if its reports fill it and exclude independence."""
    observation = scene.observation
    if observation.cells > FILLED or not observation.exact:
        return None
    dispersion = scene.dispersion
    if dispersion is None:
        return None
    # Most tables are not filled, and where coins hide nearly everything a climb is long.
    near = nearest_proper(dispersion.centre)
    worth = tabulate(observation, near, dispersion).total_worth / observation.cells
    if not worth >= PLENTY:
        return None
    best = scene.summit().table
    said = f"{worth:,.0f} plain answers a cell"
    if len(observation.shape) > 1:
        gain = scene.likelihood(best) - scene.likelihood(product_of_margins(best))
        freedom = prod(observation.shape) - 1 - sum(size - 1 for size in observation.shape)
        if not is_certain(gain, freedom):
            return None
        said += f", independence excluded by {gain:,.0f} nats"
    reason = f"maximum likelihood cannot be bettered by much: {said}"
    return tabulate(observation, best, dispersion, reason=reason)


def estimate(source: Source, attributes: Sequence[str], *, rng: np.random.Generator) -> Table:
    """Return maximum likelihood where reports fill the table, else the whole joint's."""
    return answer(source, rng=rng)(attributes)


METHOD = Method(
    "default",
    "ours: latent classes by likelihood, chosen by held-out reports",
    "maximum likelihood where reports fill a table, else a model of all attributes",
    estimate,
    fit=fit,
    answer=answer,
)
