"""Convergence: how an estimate moves from block to block, and when to stop asking.

Imran's rule (section 5) compares one block's estimate with the one before and stops when
they differ by less than the width of a confidence interval of a plain share. That width
ignores the noise of the coins, and the difference keeps its variance however many blocks
have come: the rule fires with probability 2Φ(√2·z·p) − 1 in every block, whatever its
size. It is kept as ``classic``. What tells how much is known is the width of the interval
of everything that came so far.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from scipy.special import expit

from deniable.channels import epsilon_of_all, variances
from deniable.errors import EstimationError
from deniable.estimation.observation import observe, require_together
from deniable.estimation.unbiased import pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.channels import Channel
    from deniable.protocol import Tally

    Array: TypeAlias = NDArray[np.float64]

Kind: TypeAlias = Literal["normal", "log-odds"]

FEW = 5
"""Expected answers in a cell below which Imran turns from the normal interval to log odds."""

CLASSIC_LOSES = "classic: it stops by chance, not by what is known"


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """A table's estimate, block by block.

    Attributes:
        names: The table's attributes.
        blocks: The numbers of the blocks in which it was asked.
        people: How many answered it in each.
        epsilon: What answering cost in each, the costliest view.
        estimate: For each block, the table by that block alone (eq. 4).
        running: For each block, the table by all blocks up to it.
        error: The standard error of ``running``.
    """

    names: tuple[str, ...]
    blocks: tuple[int, ...]
    people: tuple[int, ...]
    epsilon: tuple[float, ...]
    estimate: Array
    running: Array
    error: Array

    @property
    def step(self) -> Array:
        """Return |T_k − T_{k−1}| of each cell; the first block has none."""
        result: Array = np.abs(np.diff(self.estimate, axis=0))
        return result

    @property
    def last_two(self) -> Array:
        """Return the mean of the last two blocks' estimates, which Imran returns (step 4)."""
        result: Array = self.estimate[-2:].mean(axis=0)
        return result

    def tolerance(self, level: float = 0.95, kind: Kind | None = None) -> Array:
        """Return δ* of each block and cell: the width of a plain share's interval.

        Args:
            level: The confidence level 1 − α.
            kind: Which interval; by default log odds where fewer than 5 answers are expected.
        """
        share = np.clip(self.estimate, 0, 1)
        people = np.array(self.people, dtype=np.float64)
        people = people.reshape(-1, *[1] * (share.ndim - 1))
        normal, odds = normal_width(share, people, level), log_odds_width(share, people, level)
        if kind is None:
            return np.where(share * people > FEW, normal, odds)
        return normal if kind == "normal" else odds

    def classic_stop(self, level: float = 0.95, kind: Kind | None = None) -> int | None:
        """Return how many blocks Imran's rule asks until every cell's step is below δ*.

        None if it never stops. It is not a test of convergence: see the module.
        """
        calm = self.step < self.tolerance(level, kind)[1:]
        quiet = calm.all(axis=tuple(range(1, calm.ndim)))
        return int(np.argmax(quiet)) + 2 if quiet.any() else None

    def holding(self, level: float = 0.95, kind: Kind | None = None) -> float:
        """Return in what share of the blocks after the first Imran's rule holds."""
        calm = self.step < self.tolerance(level, kind)[1:]
        return float(calm.all(axis=tuple(range(1, calm.ndim))).mean()) if len(calm) else 0.0

    def widths(self, level: float = 0.95) -> Array:
        """Return the whole width of the interval of ``running``, for each block and cell."""
        result: Array = 2 * NormalDist().inv_cdf((1 + level) / 2) * self.error
        return result

    def people_for_width(self, width: float, level: float = 0.95) -> int:
        """Return how many must answer this table until its widest interval is as wanted.

        By the noise of the blocks so far: error falls as 1/√n.
        """
        _check_width(width)
        return math.ceil(sum(self.people) * (float(self.widths(level)[-1].max()) / width) ** 2)

    def stop_at_width(self, width: float, level: float = 0.95) -> int | None:
        """Return how many blocks it took until every cell's interval was as narrow as wanted."""
        narrow = (self.widths(level) <= width).reshape(len(self.error), -1).all(axis=1)
        return int(np.argmax(narrow)) + 1 if narrow.any() else None


def trace(tally: Tally, attributes: Sequence[str]) -> Trace:
    """Return how the table of some attributes moved from block to block.

    Only views whose respondents answered all the attributes count.
    """
    observation = observe(tally, attributes)
    sights = require_together(observation)
    numbers = sorted({sight.block for sight in sights})
    estimates, variance, weights, people = [], [], [], []
    for number in numbers:
        own = [sight for sight in sights if sight.block == number]
        found = pooled(own)
        estimates.append(found.centre)
        variance.append(found.curve().at(np.clip(found.centre, 0, 1)))
        weights.append(sum(s.people / math.prod(lens.noise for lens in s.lenses) for s in own))
        people.append(round(sum(sight.people for sight in own)))
    estimate = np.array(estimates)
    weight = np.array(weights).reshape(-1, *[1] * (estimate.ndim - 1))
    total = np.cumsum(weight, axis=0)
    running = np.cumsum(weight * estimate, axis=0) / total
    error = np.sqrt(np.cumsum(weight**2 * np.maximum(variance, 0), axis=0)) / total
    costs = [max(epsilon_of_all(view) for view in tally.blocks[n].channels) for n in numbers]
    names = observation.names
    return Trace(names, tuple(numbers), tuple(people), tuple(costs), estimate, running, error)


def normal_width(share: Array, people: Array | float, level: float = 0.95) -> Array:
    """Return 2·z·σ, σ² = v(1 − v)/n, with z at the level itself as Imran has it (section 5)."""
    z = NormalDist().inv_cdf(level)
    result: Array = 2 * z * np.sqrt(share * (1 - share) / people)
    return result


def log_odds_width(share: Array, people: Array | float, level: float = 0.95) -> Array:
    """Return the width of the interval logit(v) ± z/√(n·v(1 − v)), carried back to shares.

    At v = 0 or 1, where the likelihood has no curvature, half an answer is added to each side.
    """
    z = NormalDist().inv_cdf(level)
    inside = (share * people + 0.5) / (people + 1)
    edge = (share <= 0) | (share >= 1)
    v = np.where(edge, inside, np.clip(share, 1e-12, 1 - 1e-12))
    spread = z / np.sqrt(people * v * (1 - v))
    centre = np.log(v / (1 - v))
    result: Array = expit(centre + spread) - expit(centre - spread)
    return result


def firing_probability(truth: float, level: float = 0.95) -> float:
    """Return how often the classic rule fires in a block by chance: 2Φ(√2·z·p) − 1.

    ``truth`` is p of the two coins. The number of people does not occur in it. It holds where
    the fake share equals the true one, as the protocol intends.

    >>> round(firing_probability(1.0), 2), round(firing_probability(0.1), 2)
    (0.98, 0.18)
    """
    normal = NormalDist()
    return 2 * normal.cdf(math.sqrt(2) * normal.inv_cdf(level) * truth) - 1


def people_for_width(
    channel: Channel, width: float, *, share: float | None = None, level: float = 0.95
) -> int:
    """Return how many must answer a group so that a cell's interval is as narrow as wanted.

    Advice on the size of a block that shall stand by itself, and on all blocks together.

    Args:
        channel: The group's channel.
        width: The whole width of the interval, such as 0.05.
        share: The cell's true share; by default that of the even distribution.
        level: The interval's level.
    """
    _check_width(width)
    z = NormalDist().inv_cdf((1 + level) / 2)
    first = 1 / channel.size if share is None else share
    rest = (1 - first) / (channel.size - 1)
    each = float(variances(channel, [first] + [rest] * (channel.size - 1))[0])
    return math.ceil((2 * z / width) ** 2 * each)


def _check_width(width: float) -> None:
    if not 0 < width < 1:
        problem = "the width of an interval of a share lies between 0 and 1"
        raise EstimationError(problem, given=width, expected="such as 0.05")
