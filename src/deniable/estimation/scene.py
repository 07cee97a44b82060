"""A scene: a table before it is estimated, what was seen of it and how likely that is.

Reports are read once for all tables. Two coins whose groups were counted one by one, in many
blocks, are stacked; everything else is seen sight by sight. The answers are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from deniable.errors import EstimationError
from deniable.estimation.climb import GAP, climb, likelihood_of
from deniable.estimation.collected import collected_together
from deniable.estimation.leap import leap
from deniable.estimation.observation import Observation, design_of, observe, positions_of
from deniable.estimation.pile import piled
from deniable.estimation.stack import seen_in
from deniable.estimation.stacks import stacks_of
from deniable.estimation.unbiased import pooled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from deniable.estimation.climb import Seen, Summit
    from deniable.estimation.covariance import Covariance
    from deniable.estimation.observation import Source
    from deniable.estimation.stack import Stack
    from deniable.estimation.stacks import Stacks

    Array = NDArray[np.float64]


class Scene(Protocol):
    """What was seen of one table."""

    @property
    def observation(self) -> Observation:
        """Return the table's attributes and people; what a ``tabulate`` needs."""

    @property
    def dispersion(self) -> Covariance | None:
        """Return the pooled inverse; nothing if nobody answered all attributes together."""

    def summit(self, *, gap: float = GAP) -> Summit:
        """Return the maximum-likelihood table."""

    def likelihood(self, table: Array) -> float:
        """Return Σ c·ln λ."""


def scenes_of(source: Source) -> Callable[[Sequence[str]], Scene]:
    """Read what was counted and return what shows the scene of any table."""
    try:
        stacks = stacks_of(source)
    except EstimationError:  # no two coins, or counted together
        return lambda attributes: _seen(observe(source, attributes))
    design = design_of(source)
    digest = "" if design is None else design.digest
    return lambda attributes: (
        _stacked(stacks, tuple(attributes), digest) or _seen(observe(source, attributes))
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """A scene sight by sight."""

    observation: Observation
    sights: Sequence[Seen]

    @property
    def dispersion(self) -> Covariance | None:
        covering = self.observation.covering
        return pooled(covering) if covering else None

    def summit(self, *, gap: float = GAP) -> Summit:
        even = np.full(self.observation.shape, 1 / self.observation.cells)
        return climb(self.sights, even, gap=gap)

    def likelihood(self, table: Array) -> float:
        return likelihood_of(self.sights, table)


def _seen(observation: Observation) -> _Seen:
    return _Seen(observation, seen_in(observation.sights))


@dataclass(frozen=True, slots=True, eq=False)
class _Stacked:
    """A scene from stacks."""

    observation: Observation
    stacks: tuple[Stack, ...]

    @property
    def dispersion(self) -> Covariance | None:
        whole = [one for one in self.stacks if len(one.order) == len(self.observation.shape)]
        return piled(whole[0]) if whole else None

    def summit(self, *, gap: float = GAP) -> Summit:
        return leap(self.stacks, self.observation.shape, gap=gap)

    def likelihood(self, table: Array) -> float:
        return likelihood_of(self.stacks, table)


def _stacked(stacks: Stacks, names: tuple[str, ...], design: str) -> _Stacked | None:
    """Return the scene from stacks; nothing if no group tells of the attributes."""
    wanted = positions_of(stacks.names, names)
    seen = stacks.on(wanted)
    if not seen:
        return None
    people = {
        place: number
        for one in seen
        for place, number in zip(
            zip(one.blocks.tolist(), one.views.tolist(), strict=True),
            one.counts.sum(axis=1).tolist(),
            strict=True,
        )
    }
    shape = tuple(stacks.sizes[place] for place in wanted)
    collected = collected_together(
        [how for group, how in stacks.collected.items() if set(group) & set(wanted)]
    )
    asked = round(sum(people.values()))
    return _Stacked(Observation(names, shape, (), asked, design, collected=collected), seen)
