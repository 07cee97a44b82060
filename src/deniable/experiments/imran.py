"""Imran & Meo's experiments: convergence (figures 5 and 6) and the classic estimator."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.special import rel_entr

from deniable.estimation.simplex import clip_and_rescale
from deniable.estimation.stacks import stacks_of
from deniable.experiments.literal import unsafe_two_coin, unsafe_update_without_floor
from deniable.planning.convergence import FEW, log_odds_width, normal_width
from deniable.planning.rehearsal import rehearse
from deniable.protocol import Design, Group, Rule, View, view_epsilons
from deniable.protocol.compile import decimal_text
from deniable.protocol.views import round_robin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.bulk.keystream import Keystream

    Array = NDArray[np.float64]

SHARES: Final = (0.072, 0.116, 0.224, 0.356, 0.446, 0.524, 0.732)
SIZES: Final = (18, 50, 150, 250)
TRUTHS: Final = (0.009, 0.048, 0.095, 0.139, 0.221)
LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class Convergence:
    """What the rule of section 5 did in many trials.

    Attributes:
        fired: The share of trials in which it fired at least once.
        tuples: The mean number of reports until it first fired, where it did.
        stayed: The share of trials in which from then on it held in every block.
        calm: The share of all blocks in which it held.
        error: The root mean squared error of the estimate returned where it fired.
    """

    fired: float
    tuples: float
    stayed: float
    calm: float
    error: float


def converge(
    share: float,
    size: int,
    truth: float,
    *,
    rng: np.random.Generator,
    trials: int = 40,
    blocks: int = 200,
) -> Convergence:
    """Run the second version on one category, as sections 7.1 and 7.2 do.

    Args:
        share: The category's true share.
        size: The block size B.
        truth: p of the first coin.
        rng: Draws the counts of each block from their exact distribution.
        trials: How often.
        blocks: How many blocks each time.
    """
    before = np.full(trials, 0.5)
    traces = []
    for _ in range(blocks):
        fake = np.clip(before, 0, 1)
        reported = rng.binomial(size, np.clip(truth * share + (1 - truth) * fake, 0, 1)) / size
        before = (reported - (1 - truth) * fake) / truth  # eq. 4
        traces.append(before)
    trace = np.array(traces)
    calm = _calm(trace, size)
    fires = calm.any(axis=0)
    first = np.argmax(calm, axis=0)
    column = np.arange(trials)
    returned = (trace[first + 1, column] + trace[first, column]) / 2
    later = np.arange(blocks - 1)[:, None] >= first
    stayed = fires & np.all(calm | ~later, axis=0)
    error = float(np.sqrt(np.mean((returned[fires] - share) ** 2))) if fires.any() else np.nan
    tuples = float(np.mean((first[fires] + 2) * size)) if fires.any() else np.nan
    return Convergence(
        float(fires.mean()), tuples, float(np.mean(stayed)), float(calm.mean()), error
    )


def settles(
    share: float,
    size: int,
    truth: float,
    *,
    rng: np.random.Generator,
    trials: int = 40,
    blocks: int = 200,
) -> float:
    """Return in what share of trials the rule holds from some block on, o counting all so far.

    That is eq. 4 as version 1 has it: all reports, and the last T only. A T that is off by x
    makes the next one off by −x·(1 − p)/p, which grows for p below ½. The last quarter of the
    blocks counts as the end.
    """
    before, seen = np.full(trials, 0.5), np.zeros(trials)
    traces = []
    for number in range(1, blocks + 1):
        fake = np.clip(before, 0, 1)
        seen += rng.binomial(size, np.clip(truth * share + (1 - truth) * fake, 0, 1))
        before = (seen / (size * number) - (1 - truth) * fake) / truth
        traces.append(before)
    calm = _calm(np.array(traces), size)
    return float(np.mean(calm[-blocks // 4 :].all(axis=0)))


def _calm(trace: Array, size: int) -> NDArray[np.bool_]:
    """Return where |T_k − T_{k−1}| < δ*, log odds where few answers are expected."""
    inside = np.clip(trace, 0, 1)
    width = np.where(
        inside * size > FEW, normal_width(inside, size, LEVEL), log_odds_width(inside, size, LEVEL)
    )
    calm: NDArray[np.bool_] = np.abs(np.diff(trace, axis=0)) < width[1:]
    return calm


@dataclass(frozen=True, slots=True)
class Score:
    """How far an estimator is from the truth, mean over all pairs of attributes.

    Attributes:
        squared: The mean squared error of a cell.
        divergence: The Jensen–Shannon divergence of the proper table, in nats.
    """

    squared: float
    divergence: float


@dataclass(frozen=True, slots=True)
class Contest:
    """Two estimators on the very same reports.

    Attributes:
        classic: The mean of the last two blocks (section 5, step 4).
        pooled: Maximum likelihood over all blocks and views.
        people: How many respondents answered.
        blocks: In how many blocks.
        promised: ε of the first block, whose fake distribution is even.
        spent: ε of the worst block.
    """

    classic: Score
    pooled: Score
    people: int
    blocks: int
    promised: float
    spent: float

    @property
    def ratio(self) -> float:
        """Return how many times larger the classic squared error is."""
        return self.classic.squared / self.pooled.squared


def literal_design(names: Sequence[str], sizes: Sequence[int], truth: float, size: int) -> Design:
    """Return RRBA to the letter: pairs by round robin, p as given, ε whatever comes of it.

    ``size`` is the block size of one view; with V views a block is V times as many people.
    """
    views = tuple(
        View(tuple(Group(pair, tuple(sizes[a] for a in pair)) for pair in view))
        for view in round_robin(len(sizes))
    )
    channels = tuple(
        tuple(unsafe_two_coin(truth, group.size) for group in view.groups) for view in views
    )
    rule = Rule("classic-blocks", size * len(views), "0")
    promised = decimal_text(max(view_epsilons(channels)))
    attributes = tuple(zip(names, sizes, strict=True))
    return Design("literal", "", attributes, views, channels, promised, "rrba", rule)


def contest(
    names: Sequence[str],
    answers: NDArray[np.int64],
    sizes: Sequence[int],
    *,
    truth: float,
    size: int = 250,
    stream: Keystream | None = None,
) -> Contest:
    """Compare the classic estimator with pooled likelihood on the very same blocks.

    At equal p, that is with the published update and without a floor. The error is that from
    the shares among those who were asked.
    """
    design = literal_design(names, sizes, truth, size)
    tally = rehearse(design, answers, stream=stream, update=unsafe_update_without_floor)
    stacks = stacks_of(tally)
    classic, pooled = [], []
    for pair in combinations(range(len(sizes)), 2):
        shape = tuple(sizes[attribute] for attribute in pair)
        cells = np.ravel_multi_index(tuple(answers[:, a] for a in pair), shape)
        true = np.bincount(cells, minlength=int(np.prod(shape))) / len(answers)
        stack = stacks.by_group[pair]
        last_two = stack.inverses[np.argsort(stack.blocks)][-2:].mean(axis=0)
        classic.append(_score(last_two, true))
        pooled.append(_score(stacks.most_likely(pair).table.reshape(-1), true))
    costs = [max(view_epsilons(block.channels)) for block in tally.blocks.values()]
    return Contest(
        _mean(classic), _mean(pooled), len(answers), len(tally.blocks), costs[0], max(costs)
    )


def _score(found: Array, true: Array) -> Score:
    proper = clip_and_rescale(found)
    middle = (proper + true) / 2
    divergence = (rel_entr(proper, middle).sum() + rel_entr(true, middle).sum()) / 2
    return Score(float(np.mean((found - true) ** 2)), float(divergence))


def _mean(scores: Sequence[Score]) -> Score:
    return Score(
        float(np.mean([score.squared for score in scores])),
        float(np.mean([score.divergence for score in scores])),
    )
