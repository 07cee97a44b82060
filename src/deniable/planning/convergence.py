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
from bisect import bisect_left
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from scipy.special import expit

from deniable.channels import epsilon_of_all, variances
from deniable.errors import EstimationError
from deniable.estimation.interval import quantile
from deniable.estimation.methods.classic import seen_in_one_group
from deniable.estimation.observation import observe, require_together
from deniable.estimation.unbiased import pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.channels import Channel
    from deniable.estimation.sight import Sight
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
        counted: How many of them the classic rule counts: who answered it as one group, and
            under version 1, whose block is a client, all of those so far.
        epsilon: What answering cost in each, the costliest view.
        estimate: For each block T as the source has it (eq. 4): by that block alone, or under
            version 1 by all clients so far.
        running: For each block, the table by all blocks up to it.
        error: The standard error of ``running``.
    """

    names: tuple[str, ...]
    blocks: tuple[int, ...]
    people: tuple[int, ...]
    counted: tuple[int, ...]
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
        people = np.array(self.counted, dtype=np.float64)
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
        result: Array = 2 * quantile(level) * self.error
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
    own = seen_in_one_group(observation)
    numbers = sorted({sight.block for sight in own})
    by_block = _by_then(own, numbers)
    estimate = np.array([pooled(sights).centre for sights in by_block])
    counted = np.array([sum(sight.people for sight in sights) for sights in by_block])
    axes = [-1, *[1] * (estimate.ndim - 1)]
    if tally.design.rule.name == "classic-clients":
        clients = counted.reshape(axes)
        counted = np.cumsum(counted)
        estimate = np.cumsum(clients * estimate, axis=0) / counted.reshape(axes)
    centres, variance, weights, people = [], [], [], []
    for sights in _by_then(require_together(observation), numbers):
        found = pooled(sights)
        centres.append(found.centre)
        variance.append(found.curve().at(np.clip(found.centre, 0, 1)))
        weights.append(sum(s.people / math.prod(lens.noise for lens in s.lenses) for s in sights))
        people.append(round(sum(sight.people for sight in sights)))
    weight = np.array(weights).reshape(axes)
    total = np.cumsum(weight, axis=0)
    return Trace(
        names=observation.names,
        blocks=tuple(numbers),
        people=tuple(people),
        counted=tuple(round(number) for number in counted.tolist()),
        epsilon=tuple(
            max(epsilon_of_all(view) for view in tally.blocks[n].channels) for n in numbers
        ),
        estimate=estimate,
        running=np.cumsum(weight * np.array(centres), axis=0) / total,
        error=np.sqrt(np.cumsum(weight**2 * np.maximum(variance, 0), axis=0)) / total,
    )


def _by_then(sights: Sequence[Sight], numbers: Sequence[int]) -> list[list[Sight]]:
    """Divide sights among blocks: each to the first one in which it is known, or the last."""
    found: list[list[Sight]] = [[] for _ in numbers]
    for sight in sights:
        found[min(bisect_left(numbers, sight.block), len(numbers) - 1)].append(sight)
    return found


def normal_width(share: Array, people: Array | float, level: float = 0.95) -> Array:
    """Return 2·z·σ, σ² = v(1 − v)/n and z = z_{1−α/2} at the level 1 − α (Imran, section 5)."""
    z = quantile(level)
    result: Array = 2 * z * np.sqrt(share * (1 - share) / people)
    return result


def log_odds_width(share: Array, people: Array | float, level: float = 0.95) -> Array:
    """Return the width of the interval logit(v) ± z/√(n·v(1 − v)), carried back to shares.

    At v = 0 or 1, where the likelihood has no curvature, half an answer is added to each side.
    """
    z = quantile(level)
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
    (0.99, 0.22)
    """
    return 2 * NormalDist().cdf(math.sqrt(2) * quantile(level) * truth) - 1


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
    z = quantile(level)
    first = 1 / channel.size if share is None else share
    rest = (1 - first) / (channel.size - 1)
    each = float(variances(channel, [first] + [rest] * (channel.size - 1))[0])
    return math.ceil((2 * z / width) ** 2 * each)


def _check_width(width: float) -> None:
    if not 0 < width < 1:
        problem = "the width of an interval of a share lies between 0 and 1"
        raise EstimationError(problem, given=width, expected="such as 0.05")
