"""The distribution under which all reports of all blocks and views are most probable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.estimation.climb import GAP
from deniable.estimation.method import Method, tabulate
from deniable.estimation.observation import enclosing, require_together
from deniable.estimation.scene import scenes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from deniable.estimation.model import Progress
    from deniable.estimation.observation import Source
    from deniable.estimation.table import Table


def estimate(
    source: Source, attributes: Sequence[str], *, rng: np.random.Generator, gap: float = GAP
) -> Table:
    """Return the maximum-likelihood table, to within ``gap`` nats of the highest likelihood.

    Reports that tell of some of the attributes only count too.
    """
    return answer(source, rng=rng, gap=gap)(attributes)


def answer(
    source: Source,
    *,
    rng: np.random.Generator,
    progress: Progress | None = None,
    gap: float = GAP,
) -> Callable[[Sequence[str]], Table]:
    """Return what gives one table after another; the reports are read once."""
    del rng, progress
    show = scenes_of(source)

    def give(attributes: Sequence[str]) -> Table:
        scene = show(attributes)
        if not scene.observation.exact:
            scene = show(enclosing(source, attributes))
        dispersion = scene.dispersion
        if dispersion is None:
            require_together(scene.observation)
        summit = scene.summit(gap=gap)
        left = f"a higher likelihood than this by {summit.gap:.2g} nats is not excluded"
        notes = (left,) if summit.gap > gap else ()
        table = tabulate(scene.observation, summit.table, dispersion, notes=notes)
        return table if table.names == tuple(attributes) else table.marginalize(attributes)

    return give


METHOD = Method(
    "maximum-likelihood",
    "Domingo 2.1 (iterative Bayesian update); Varadhan & Roland 2008",
    "the most likely distribution given every report through its own recorded channel",
    estimate,
    answer=answer,
)

JOINT_EM = Method(
    "joint-em",
    "in place of Imran 4.3",
    "one distribution for all views by likelihood, consistent by construction",
    estimate,
    answer=answer,
)
