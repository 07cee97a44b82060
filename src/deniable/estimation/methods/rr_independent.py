"""RR-Independent: the product of the attributes' own tables."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.method import Method, tabulate
from deniable.estimation.methods import clipped
from deniable.estimation.observation import observe
from deniable.estimation.unbiased import pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.estimation.observation import Source
    from deniable.estimation.table import Table


def estimate(source: Source, attributes: Sequence[str], *, rng: np.random.Generator) -> Table:
    """Return Π_j π̂^j(x^j), each margin proper (Domingo 6.4).

    The interval is that of the saturated estimate wherever reports carry it: it holds the
    true shares whether or not the attributes are independent.
    """
    observation = observe(source, attributes)
    margins = [clipped.estimate(source, (name,), rng=rng).estimate for name in attributes]
    product = np.asarray(reduce(np.multiply.outer, margins))
    covering = observation.covering
    dispersion = pooled(covering) if covering else None
    return tabulate(observation, product, dispersion)


METHOD = Method(
    "rr-independent",
    "Domingo 3.1, protocol 1; Kikuchi eq. 2, algorithm 2",
    "the product of the attributes' own tables",
    estimate,
    loses=("it takes the attributes to be independent of each other",),
)
