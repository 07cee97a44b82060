"""The distribution under which all reports of all blocks and views are most probable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.climb import GAP, climb
from deniable.estimation.method import Method, tabulate
from deniable.estimation.observation import enclosing, observe, require_together
from deniable.estimation.sight import merged
from deniable.estimation.unbiased import pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.estimation.observation import Source
    from deniable.estimation.table import Table


def estimate(
    source: Source, attributes: Sequence[str], *, rng: np.random.Generator, gap: float = GAP
) -> Table:
    """Return the maximum-likelihood table, to within ``gap`` nats of the highest likelihood.

    Reports that tell of some of the attributes only count too.
    """
    del rng
    names = enclosing(source, attributes)
    observation = observe(source, names)
    dispersion = pooled(require_together(observation))
    start = np.full(observation.shape, 1 / observation.cells)
    summit = climb(merged(observation.sights), start, gap=gap)
    left = f"a higher likelihood than this by {summit.gap:.2g} nats is not excluded"
    notes = (left,) if summit.gap > gap else ()
    table = tabulate(observation, summit.table, dispersion, notes=notes)
    return table if names == tuple(attributes) else table.marginalize(attributes)


METHOD = Method(
    "maximum-likelihood",
    "Domingo 2.1 (iterative Bayesian update); Varadhan & Roland 2008",
    "the most likely distribution given every report through its own recorded channel",
    estimate,
)

JOINT_EM = Method(
    "joint-em",
    "in place of Imran 4.3",
    "one distribution for all views by likelihood, consistent by construction",
    estimate,
)
