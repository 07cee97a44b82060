"""Kikuchi's hybrid scheme: RR-Ind-Joint with enough people, RR-Independent without."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.estimation.lens import PointLens
from deniable.estimation.method import Method
from deniable.estimation.methods import rr_ind_joint, rr_independent
from deniable.estimation.observation import observe

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from deniable.estimation.observation import Source
    from deniable.estimation.sight import Sight
    from deniable.estimation.table import Table


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Beyond which RR-Ind-Joint is chosen (Kikuchi Appendix C).

    Attributes:
        people: n*, the fewest respondents.
        epsilon: ε*, the least level of all w attributes together; infinite if none suffices.
        ways: w*, the most attributes.
    """

    people: float
    epsilon: float
    ways: float


def thresholds(size: int, ways: int, epsilon: float, people: float) -> Thresholds:
    """Return n*, ε* and w* for w attributes of up to ``size`` categories at ε together.

    >>> limit = thresholds(16, 2, 2.0, 32_561)
    >>> round(limit.ways, 3)
    1.374
    """
    guess = max(size**-ways, 1 / size - size**-ways)
    most = (1 + (size - 1) / math.exp(epsilon / ways)) ** ways * size**ways / guess
    reach = (1 / size - size**-ways) ** (1 / ways) * people ** (1 / ways) / size - 1
    least = math.inf if reach <= 0 else max(0.0, ways * math.log((size - 1) / reach))
    widest = (math.log(people) - math.log(size)) / math.log(size**2)
    return Thresholds(most, least, widest)


def estimate(source: Source, attributes: Sequence[str], *, rng: np.random.Generator) -> Table:
    """Return RR-Ind-Joint if n ≥ n*, else RR-Independent, and say which."""
    observation = observe(source, attributes)
    sights = rr_ind_joint.require_apart(observation)
    people = sum(sight.people for sight in sights)
    ways = len(observation.shape)
    epsilon = ways * min(map(_attribute_epsilon, sights))
    limit = thresholds(max(observation.shape), ways, epsilon, people)
    enough = ways == 1 or people >= limit.people
    chosen = rr_ind_joint.METHOD if enough else rr_independent.METHOD
    table = chosen.run(source, attributes, rng=rng)
    relation = "at least" if enough else "below"
    reason = (
        f"{people:,.0f} people are {relation} the threshold n* = {limit.people:,.0f}, "
        f"so {chosen.name}"
    )
    return table.noting(reason=reason)


def _attribute_epsilon(sight: Sight) -> float:
    """Return the least ε of a sight's attributes, ln(1 + p / ((1 − p)·min T))."""
    levels = []
    for lens in sight.lenses:
        if isinstance(lens, PointLens):
            levels.append(math.log1p(lens.truth / lens.lie.min()))
        else:
            ratios = lens.likelihood.max(axis=1) / lens.likelihood.min(axis=1)
            levels.append(math.log(float(ratios.max())))
    return min(levels)


METHOD = Method(
    "hybrid",
    "Kikuchi III-D, Appendix C",
    "RR-Ind-Joint from the threshold n* on, RR-Independent below",
    estimate,
    loses=("its thresholds ask for far more people than RR-Ind-Joint needs to win",),
    proper=False,
)
