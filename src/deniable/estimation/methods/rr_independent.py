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

    from deniable.estimation.observation import Observation, Source
    from deniable.estimation.table import Table


def estimate(source: Source, attributes: Sequence[str], *, rng: np.random.Generator) -> Table:
    """Return Π_j π̂^j(x^j), each margin proper (Domingo 6.4).

    The interval is that of the saturated estimate wherever reports carry it: it holds the
    true shares whether or not the attributes are independent.
    """
    return product_of(source, observe(source, attributes), [(name,) for name in attributes], rng)


def product_of(
    source: Source,
    observation: Observation,
    parts: Sequence[tuple[str, ...]],
    rng: np.random.Generator,
) -> Table:
    """Return the product of the proper tables of parts that are taken to be independent."""
    tables = [clipped.estimate(source, part, rng=rng).estimate for part in parts]
    product = np.asarray(reduce(np.multiply.outer, tables))
    reached = [name for part in parts for name in part]
    covering = observation.covering
    dispersion = pooled(covering) if covering else None
    ordered = product.transpose([reached.index(name) for name in observation.names])
    return tabulate(observation, ordered, dispersion)


METHOD = Method(
    "rr-independent",
    "Domingo 3.1, protocol 1; Kikuchi eq. 2, algorithm 2",
    "the product of the attributes' own tables",
    estimate,
    loses=("it takes the attributes to be independent of each other",),
)
