"""Imran's own estimates of the adaptive protocol: last client, last block, last two blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimationError
from deniable.estimation.covariance import Dispersion
from deniable.estimation.lens import PointLens
from deniable.estimation.method import Method, tabulate
from deniable.estimation.observation import Observation, observe, require_together
from deniable.estimation.unbiased import pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.observation import Source
    from deniable.estimation.sight import Sight
    from deniable.estimation.table import Table

    Array = NDArray[np.float64]


def estimate_by_clients(
    source: Source, attributes: Sequence[str], *, rng: np.random.Generator
) -> Table:
    """Return eq. 4 as version 1 applies it: all clients' shares with the last T alone.

    T' = (o/n − T·(1 − p))/p, where o counts the reports of all n clients so far and T is the
    table that the last of them was sent.
    """
    del rng
    observation = observe(source, attributes)
    sights = seen_in_one_group(observation)
    last = max(sights, key=lambda sight: sight.block)
    if any(len(s.lenses) > 1 or not isinstance(s.lenses[0], PointLens) for s in sights):
        problem = "eq. 4 takes reports of one cell made by two coins"
        expected = "the design 'rrba', and a table that one of its groups holds"
        raise EstimationError(problem, expected=expected)
    people = sum(sight.people for sight in sights)
    shares = np.sum([sight.counts for sight in sights], axis=0) / people
    table = tabulate(observation, last.invert(shares), pooled(sights))
    return table.noting(
        "the interval is that of all reports, each inverted by the table it was made by; the "
        "estimate inverts all by the last one, and may lie outside"
    )


def estimate_by_blocks(
    source: Source, attributes: Sequence[str], *, rng: np.random.Generator
) -> Table:
    """Return eq. 4 as version 2 applies it: the last block's reports, inverted."""
    del rng
    observation = observe(source, attributes)
    *_, last = _by_block(observation)
    return tabulate(observation, last.centre, last)


def estimate_last_two(
    source: Source, attributes: Sequence[str], *, rng: np.random.Generator
) -> Table:
    """Return the mean of the last two blocks' estimates (Imran section 5, step 4)."""
    del rng
    observation = observe(source, attributes)
    blocks = _by_block(observation)
    if len(blocks) == 1:
        table = tabulate(observation, blocks[0].centre, blocks[0])
        return table.noting("there was one block only")
    mean = (blocks[-1].centre + blocks[-2].centre) / 2
    return tabulate(observation, mean, _halved(mean, blocks[-2], blocks[-1]))


def seen_in_one_group(observation: Observation) -> tuple[Sight, ...]:
    """Return the sights of the whole table in one group, of which eq. 4 speaks.

    A tally that keeps the groups of a view together shows the table across two of them, too;
    those sights are returned only if there is no other.
    """
    sights = require_together(observation)
    return tuple(sight for sight in sights if len(sight.lenses) == 1) or sights


def _by_block(observation: Observation) -> list[Dispersion]:
    """Return each block's estimate, in the order of the blocks."""
    sights = seen_in_one_group(observation)
    numbers = sorted({sight.block for sight in sights})
    return [pooled([s for s in sights if s.block == number]) for number in numbers]


def _halved(mean: Array, first: Dispersion, second: Dispersion) -> Dispersion:
    parts = [(weight / 2, sight) for one in (first, second) for weight, sight in one.parts]
    return Dispersion(mean, tuple(parts))


BY_CLIENTS = Method(
    "eq-4-clients",
    "Imran eq. 4, algorithm 1",
    "all clients' reports inverted with the last client's table",
    estimate_by_clients,
    loses=("reports made with earlier tables are read as if made with the last one",),
    proper=False,
)

BY_BLOCKS = Method(
    "eq-4-blocks",
    "Imran eq. 4, 4.1.1",
    "the last block's reports, inverted",
    estimate_by_blocks,
    loses=("all blocks but the last are thrown away: its error never shrinks with their number",),
    proper=False,
)

LAST_TWO = Method(
    "last-two-blocks",
    "Imran section 5, step 4",
    "the mean of the last two blocks' estimates",
    estimate_last_two,
    loses=("all blocks but the last two are thrown away",),
    proper=False,
)
