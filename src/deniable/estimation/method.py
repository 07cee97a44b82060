"""A method: one way from reports to a table, its name, its source and what it loses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from deniable.estimation.naming import categories_of
from deniable.estimation.observation import evidence_of, observe
from deniable.estimation.table import Table, plain_axes
from deniable.estimation.unbiased import pooled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from deniable.estimation.covariance import Covariance
    from deniable.estimation.evidence import Evidence
    from deniable.estimation.model import Model, Progress
    from deniable.estimation.observation import Observation, Source

NOT_TOGETHER = "nobody answered all these attributes together: their interplay is the model's"


class Estimator(Protocol):
    """The one signature. What a method does not need of ``rng`` it leaves untouched."""

    def __call__(
        self, source: Source, attributes: Sequence[str], *, rng: np.random.Generator
    ) -> Table:
        """Return the estimated table of the attributes, in their order."""


class Fitter(Protocol):
    """Fits a model of all attributes, out of which any table comes."""

    def __call__(
        self,
        evidence: Evidence,
        *,
        rng: np.random.Generator,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Model:
        """Return the model.

        Args:
            evidence: The reports.
            rng: Where the fit throws dice.
            threads: How many at a time; the result does not depend on it.
            progress: Is told how far a fit of more than a second is.
        """


class Answerer(Protocol):
    """Answers for one table of a source after another."""

    def __call__(
        self, source: Source, *, rng: np.random.Generator, progress: Progress | None = None
    ) -> Callable[[Sequence[str]], Table]:
        """Return what gives any table of the source."""


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
        fit: How its model of all attributes is fitted, if it has one.
        answer: How it gives several tables of one source, if in another way than one by one
            or all from its model.
    """

    name: str
    citation: str
    summary: str
    run: Estimator
    loses: tuple[str, ...] = ()
    proper: bool = True
    fit: Fitter | None = None
    answer: Answerer | None = None

    def estimate(
        self, source: Source, attributes: Sequence[str], *, rng: np.random.Generator
    ) -> Table:
        """Return the table, signed with the method's name and what it loses."""
        return self._signed(self.run(source, attributes, rng=rng), categories_of(source))

    def prepare(
        self, source: Source, *, rng: np.random.Generator, progress: Progress | None = None
    ) -> Callable[[Sequence[str]], Table]:
        """Return what gives any table; a model is fitted once for all of them."""
        named = categories_of(source)
        if self.answer is not None:
            give = self.answer(source, rng=rng, progress=progress)
            return lambda attributes: self._signed(give(attributes), named)
        if self.fit is None:
            return lambda attributes: self._signed(self.run(source, attributes, rng=rng), named)
        model = self.fit(evidence_of(source), rng=rng, progress=progress)
        return lambda attributes: self._signed(table_of(model, source, attributes), named)

    def _signed(self, table: Table, categories: Mapping[str, tuple[str, ...]]) -> Table:
        notes = (*self.loses, *table.notes)
        signed = replace(table, method=self.name, citation=self.citation, notes=notes)
        return signed.named(categories)


def table_of(model: Model, source: Source, attributes: Sequence[str]) -> Table:
    """Return a model's table of some attributes, unsigned.

    The interval is that of the saturated estimate wherever reports carry it: it holds the
    true shares whether or not the model does.
    """
    observation = observe(source, attributes)
    covering = observation.covering
    dispersion = pooled(covering) if covering else None
    notes = () if covering else (NOT_TOGETHER,)
    shares = model.table(attributes)
    return tabulate(observation, shares, dispersion, notes=notes, reason=model.reason)


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
        collected=observation.collected,
    )
