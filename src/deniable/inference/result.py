"""What a test found."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.errors import EstimationError


@dataclass(frozen=True, slots=True)
class TestResult:
    """The outcome of one test.

    Attributes:
        hypothesis: What was tested, as a sentence: ``"smokes and age are independent"``.
        method: The test's name in the registry.
        statistic: Its value; large speaks against the hypothesis.
        freedom: Degrees of freedom of its limiting χ² distribution; ``None`` where the
            reference distribution was simulated.
        tail: P(statistic at least as large | hypothesis). Read it through ``p_value``.
        people: How many respondents it rests on.
        shortage: Why the data are too few for the tail to be trusted, or empty.
        citation: Where the test comes from.
        notes: What to keep in mind; each a sentence without a full stop.
    """

    __test__ = False  # not a test of ours, whatever its name

    hypothesis: str
    method: str
    statistic: float
    freedom: float | None
    tail: float
    people: int
    shortage: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()

    @property
    def p_value(self) -> float:
        """Return the tail probability, or say that there is too little data for one."""
        if self.shortage:
            problem = "there is too little data for this test: " + self.shortage
            raise EstimationError(problem, expected="more people, or a larger epsilon")
        return self.tail

    def rejects(self, level: float = 0.05) -> bool:
        """Tell whether the hypothesis is rejected at a level."""
        return self.p_value <= level

    def __str__(self) -> str:
        """Say the outcome in a line."""
        degrees = "" if self.freedom is None else f" on {self.freedom:.4g} degrees of freedom"
        head = f"{self.hypothesis}: {self.method} {self.statistic:.4g}{degrees}"
        if self.shortage:
            return f"{head}; too little data: {self.shortage}"
        return f"{head}, p = {self.tail:.3g} (n = {self.people})"
