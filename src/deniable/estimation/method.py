"""A method: one way from reports to a table, its name, its source and what it loses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from deniable.estimation.table import Table, plain_axes

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from deniable.estimation.covariance import Covariance
    from deniable.estimation.observation import Observation, Source


class Estimator(Protocol):
    """The one signature. What a method does not need of ``rng`` it leaves untouched."""

    def __call__(
        self, source: Source, attributes: Sequence[str], *, rng: np.random.Generator
    ) -> Table:
        """Return the estimated table of the attributes, in their order."""


@dataclass(frozen=True, slots=True)
class Method:
    """An estimator of the registry.

    Attributes:
        name: What users call it.
        citation: The author and equation it follows.
        summary: What it does, in a sentence without a full stop.
        run: The estimator.
        loses: What its estimate leaves out or gets wrong; each a sentence without a full stop.
        proper: Whether its shares are always a distribution.
    """

    name: str
    citation: str
    summary: str
    run: Estimator
    loses: tuple[str, ...] = ()
    proper: bool = True

    def estimate(
        self, source: Source, attributes: Sequence[str], *, rng: np.random.Generator
    ) -> Table:
        """Return the table, signed with the method's name and what it loses."""
        table = self.run(source, attributes, rng=rng)
        notes = (*self.loses, *table.notes)
        return replace(table, method=self.name, citation=self.citation, notes=notes)


def tabulate(
    observation: Observation,
    estimate: NDArray[np.float64],
    covariance: Covariance | None = None,
    *,
    notes: Sequence[str] = (),
    reason: str = "",
) -> Table:
    """Return an estimate of an observation as an unsigned table."""
    return Table(
        axes=plain_axes(observation.names, observation.shape),
        estimate=estimate,
        people=observation.people,
        method="",
        design=observation.design,
        covariance=covariance,
        notes=tuple(notes),
        reason=reason,
    )
