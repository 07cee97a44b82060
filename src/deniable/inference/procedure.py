"""A procedure: one way from reports to a test result, its name, its source and what it loses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from deniable.errors import EstimationError
from deniable.estimation.observation import Observation

if TYPE_CHECKING:
    import numpy as np

    from deniable.inference.central import NoisyTable
    from deniable.inference.hypothesis import Hypothesis
    from deniable.inference.result import TestResult


class Tester(Protocol):
    """The one signature. What a procedure does not need of ``rng`` it leaves untouched."""

    def __call__(
        self,
        observation: Observation,
        hypothesis: Hypothesis,
        name: str,
        *,
        rng: np.random.Generator,
    ) -> TestResult:
        """Test a hypothesis about the observed table; ``name`` says it as a sentence."""


class CentralTester(Protocol):
    """The same of a table that a trusted party counted and noised."""

    def __call__(
        self, noisy: NoisyTable, hypothesis: Hypothesis, name: str, *, rng: np.random.Generator
    ) -> TestResult:
        """Test a hypothesis about the noised table."""


@dataclass(frozen=True, slots=True)
class Procedure:
    """A test of the registry.

    Attributes:
        name: What users call it.
        citation: The author and equation it follows.
        summary: What it does, in a sentence without a full stop.
        of_reports: The test of reports; ``None`` for a baseline of trusted tables.
        of_trusted: The test of a trusted party's noised table; ``None`` for reports.
        loses: What it gives up or gets wrong; each a sentence without a full stop.
        keeps_level: Whether it rejects a true hypothesis as seldom as it says.
    """

    name: str
    citation: str
    summary: str
    of_reports: Tester | None = None
    of_trusted: CentralTester | None = None
    loses: tuple[str, ...] = ()
    keeps_level: bool = True

    def test(
        self,
        seen: Observation | NoisyTable,
        hypothesis: Hypothesis,
        name: str,
        *,
        rng: np.random.Generator,
    ) -> TestResult:
        """Return the result, signed with the procedure's name and what it loses."""
        if seen.shape != hypothesis.shape:
            problem = "the hypothesis is about a table of another shape"
            raise EstimationError(problem, given=hypothesis.shape, expected=f"{seen.shape}")
        if isinstance(seen, Observation):
            result = self._of_reports(seen, hypothesis, name, rng)
        elif self.of_trusted is None:
            problem = f"the test {self.name!r} reads reports, not a trusted party's table"
            raise EstimationError(problem, expected="'laplace' or 'mc-indep' for such a table")
        else:
            result = self.of_trusted(seen, hypothesis, name, rng=rng)
        notes = (*self.loses, *result.notes)
        return replace(result, method=self.name, citation=self.citation, notes=notes)

    def _of_reports(
        self, seen: Observation, hypothesis: Hypothesis, name: str, rng: np.random.Generator
    ) -> TestResult:
        if self.of_reports is None:
            problem = (
                f"the baseline {self.name!r} tests a table of true answers that a trusted party "
                "counted and noised; reports need no such party"
            )
            raise EstimationError(problem, expected="'score', or a NoisyTable in Python")
        if not seen.exact:
            problem = (
                "these reports tell the cells of their whole group apart, and the table has only "
                "some of its attributes"
            )
            raise EstimationError(problem, expected="a table of all attributes of the group")
        return self.of_reports(seen, hypothesis, name, rng=rng)
