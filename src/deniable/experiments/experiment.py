"""An experiment: a published figure or table, measured again beside what was published.

A module of this package that defines ``EXPERIMENT`` is an experiment. Its name is the
module's (``imran_convergence.py`` is ``deniable experiment imran-convergence``) and the
first line of its docstring is what the list shows. Adding one touches no other file.
"""

from __future__ import annotations

import ast
import importlib
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import DataError, EstimationError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_HERE = Path(__file__).parent


def _unwatched(count: int) -> None:
    del count


@dataclass(frozen=True, slots=True)
class Setting:
    """How an experiment is carried out this time.

    Attributes:
        runs: How often what is random is repeated.
        seed: Which random numbers; the same seed gives the same output.
        data: The file that it reads; None for none.
        advance: Told how many of the experiment's steps are done since the last call.
    """

    runs: int
    seed: int
    data: Path | None
    advance: Callable[[int], None] = _unwatched

    def watched(self, advance: Callable[[int], None]) -> Setting:
        """Return the same, with somebody watching how far it is."""
        return replace(self, advance=advance)

    @property
    def file(self) -> Path:
        """Return the file, for an experiment that insists on one."""
        if self.data is None:
            problem = "this experiment is about data that the package does not hold"
            raise DataError(problem, expected="--data")
        return self.data

    def rng(self, *place: int) -> np.random.Generator:
        """Return the generator of one part, whichever parts are carried out besides."""
        return np.random.default_rng((self.seed, *place))  # noqa: TID251 -- the caller's seed


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that the source says, and whether it came out.

    Attributes:
        sentence: What the source says.
        holds: Whether it did here.
        why: Where it did not, the reason as far as it is known; or what was measured.
    """

    sentence: str
    holds: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """What one figure or table became.

    Attributes:
        title: Which figure or table of the source, and what it shows.
        headings: A word or two for each column.
        rows: The cells, as they are to be shown.
        claims: What the source concludes, and whether it holds here.
        remarks: What else must be known to read it.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    claims: tuple[Claim, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Experiment:
    """One that can be carried out.

    Attributes:
        source: The paper, and where in it.
        carry_out: Yields each exhibit when it is ready.
        runs: How often what is random is repeated, unless said otherwise.
        steps: How often ``advance`` is called with 1, whatever the number of runs.
        steps_a_run: How often besides for each run.
        data: What the file is that it needs, in words; None if it needs none.
        made_up: What it uses where no file is given, in words; None if it insists on one.
    """

    source: str
    carry_out: Callable[[Setting], Iterator[Exhibit]]
    runs: int
    steps: int = 0
    steps_a_run: int = 0
    data: str | None = None
    made_up: str | None = None

    def check(self, setting: Setting) -> None:
        """Refuse a setting in which it cannot be carried out."""
        if setting.runs < 1:
            problem = "an experiment is carried out at least once"
            raise EstimationError(problem, given=setting.runs, expected="--runs of 1 or more")
        if setting.data is None and self.data is not None and self.made_up is None:
            problem = "this experiment is about data that the package does not hold"
            raise DataError(problem, expected=f"--data, {self.data}")
        if setting.data is not None and self.data is None:
            problem = "this experiment reads no data"
            raise DataError(problem, given=setting.data.name, expected="no --data")


def summaries() -> Iterator[tuple[str, str]]:
    """Yield each experiment's name and first line, read from the source without importing."""
    for path in sorted(_HERE.glob("*.py")):
        tree = ast.parse(path.read_bytes())
        targets = [
            getattr(target, "id", None)
            for node in tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        ]
        if "EXPERIMENT" in targets:
            summary = (ast.get_docstring(tree) or "").partition("\n")[0]
            yield path.stem.replace("_", "-"), summary


def experiment_named(name: str) -> Experiment:
    """Return an experiment by its name."""
    names = [known for known, _ in summaries()]
    if name not in names:
        problem = f"there is no experiment called {name!r}"
        raise DataError(problem, expected=nearest(name, names))
    module = importlib.import_module(f"deniable.experiments.{name.replace('-', '_')}")
    found: Experiment = module.EXPERIMENT
    return found


def inversions(published: Sequence[float], measured: Sequence[float]) -> tuple[int, int]:
    """Return how many pairs stand in the published order, of how many that differ there.

    >>> inversions([1, 2, 3], [10, 30, 20])
    (2, 3)
    """
    places = range(len(published))
    pairs = [(a, b) for a in places for b in places if a < b and published[a] != published[b]]
    kept = Counter(
        (published[a] - published[b]) * (measured[a] - measured[b]) > 0 for a, b in pairs
    )
    return kept[True], len(pairs)
