"""Surveys drawn without people: counts of reports, as many as respondents would have sent."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from deniable.bulk.keystream import Keystream
from deniable.bulk.sampler import dtype_for, sampler_of
from deniable.channels import best, k_ary, two_coin
from deniable.estimation.evidence import Batch, Evidence
from deniable.estimation.two_stage import FIRST, update_by_stages
from deniable.protocol import (
    Design,
    Group,
    Rule,
    Stratum,
    Tally,
    View,
    first_block,
    next_block,
    update_by_blocks,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from deniable.channels import Channel

    Array = NDArray[np.float64]

MOST_LISTED = 20_000
BLOCKS = 8


@dataclass(frozen=True)
class Ask:
    """One place of a grid: what is asked, how, and at which margins.

    Attributes:
        shape: The numbers of categories.
        way: ``k-ary``, ``subset``, ``view`` (each attribute apart), ``blocks`` (fake
            distributions learned in eight blocks) or ``two-stage``.
        epsilon: The level of all answers together.
        margins: ``even`` or ``skewed``: 1, ½, ¼, …
    """

    shape: tuple[int, ...]
    way: str
    epsilon: float
    margins: str = "even"

    @property
    def names(self) -> tuple[str, ...]:
        """Return the attributes."""
        return tuple(f"q{axis}" for axis in range(len(self.shape)))

    @property
    def cells(self) -> int:
        """Return the cells of the table."""
        return math.prod(self.shape)

    @cached_property
    def truth(self) -> Array:
        """Return the independent table."""
        result = np.ones(())
        for size in self.shape:
            share = np.ones(size) if self.margins == "even" else 0.5 ** np.arange(size)
            result = np.multiply.outer(result, share / share.sum())
        return result

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        """Return the channels of the first block, one for each group."""
        if self.way == "view":
            each = self.epsilon / len(self.shape)
            return tuple(k_ary(each, size) for size in self.shape)
        if self.way == "blocks":
            return (two_coin(self.epsilon, [1 / self.cells] * self.cells, floor=0.1),)
        make = k_ary if self.way == "k-ary" else best
        return (make(self.epsilon, self.cells),)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Return the attributes of each group."""
        axes = range(len(self.shape))
        return tuple((axis,) for axis in axes) if self.way == "view" else (tuple(axes),)

    def surveys(
        self, truth: Array, people: int, times: int, *, rng: np.random.Generator
    ) -> Iterator[Evidence]:
        """Yield what comes back from each of many surveys of a population."""
        if self.way in {"blocks", "two-stage"}:
            for _ in range(times):
                yield self._in_blocks(truth, people, rng)
            return
        if not self.is_listed:
            for counts in rng.multinomial(people, truth.reshape(-1), size=times):
                yield self._evidence([self._one_by_one(counts)])
            return
        listed, seen = self._listed(truth)
        for counts in rng.multinomial(people, seen, size=times):
            yield self._evidence([Batch(self.groups, self.channels, listed, counts)])

    @property
    def is_listed(self) -> bool:
        """Tell whether all reports through the first channel can be listed."""
        return self.way == "view" or _number(self.channels[0]) <= MOST_LISTED

    def expected(self, truth: Array, people: float) -> Evidence:
        """Return the reports that so many people of a population send, without chance."""
        listed, seen = self._listed(truth)
        counts = np.round(people * seen).astype(np.int64)
        return self._evidence([Batch(self.groups, self.channels, listed, counts)])

    def _listed(self, truth: Array) -> tuple[tuple[NDArray[np.int64], ...], Array]:
        """Return all possible reports of each group, and the share of each."""
        if len(self.channels) == 1:
            values, rows = listed_of(self.channels[0])
            seen = truth.reshape(-1) @ rows
            return (values,), seen / seen.sum()
        seen = truth
        for channel in self.channels:  # each in turn takes the first axis and becomes the last
            seen = np.tensordot(seen, listed_of(channel)[1], axes=(0, 0))
        places = np.array(list(product(*(range(size) for size in self.shape))))
        return tuple(column[:, None] for column in places.T), seen.reshape(-1) / seen.sum()

    def _one_by_one(self, counts: NDArray[np.int64]) -> Batch:
        (channel,) = self.channels
        cells = np.repeat(np.arange(self.cells), counts).astype(dtype_for(self.cells))
        reports = sampler_of(channel).randomize(cells, Keystream()).astype(np.int64)
        return Batch(self.groups, self.channels, (reports,), np.ones(len(cells), np.int64))

    def _in_blocks(self, truth: Array, people: int, rng: np.random.Generator) -> Evidence:
        staged = self.way == "two-stage"
        first = math.ceil(FIRST * people) if staged else math.ceil(people / BLOCKS)
        sizes = [first, people - first] if staged else [first] * BLOCKS
        design = self._design(first)
        block, batches = first_block(design), []
        for size in sizes:
            (channel,) = block.channels[0]
            values, rows = _listed_once(channel) if block.number == 0 else listed_of(channel)
            seen = truth.reshape(-1) @ rows
            counts = rng.multinomial(size, seen / seen.sum())
            batches.append(Batch(self.groups, (channel,), (values,), counts))
            found = Counter(
                {tuple(v): int(n) for v, n in zip(values.tolist(), counts, strict=True) if n}
            )
            tally = Tally(
                design,
                {block.number: block},
                {Stratum(block.number, 0, (0,)): found},
                frozenset({"survey"}),
            )
            update = update_by_stages if staged else update_by_blocks
            block = next_block(design, block, update(design, block, tally))
        return self._evidence(batches)

    def _design(self, block_size: int) -> Design:
        rule = Rule("two-stage", block_size) if self.way == "two-stage" else None
        return Design(
            survey="survey",
            schema="A" * 43,
            attributes=tuple(zip(self.names, self.shape, strict=True)),
            views=(View((Group(self.groups[0], self.shape),)),),
            channels=(self.channels,),
            epsilon=f"{self.epsilon:.6f}",
            rule=rule or Rule("classic-blocks", block_size, "0.1"),
        )

    def _evidence(self, batches: list[Batch]) -> Evidence:
        return Evidence(self.names, self.shape, tuple(batches))


def listed_of(channel: Channel) -> tuple[NDArray[np.int64], Array]:
    """Return all reports of a channel and P(report | answer), a row for each answer."""
    if channel.kind == "matrix":
        rows = np.array(channel.rows, np.float64) / 2**32  # type: ignore[attr-defined]
        return np.arange(rows.shape[1])[:, None], rows
    reports = list(channel.reports())
    values = np.array(reports, np.int64)
    if channel.kind == "subset":
        inside = np.zeros((channel.size, len(reports)))
        inside[values.T, np.arange(len(reports))] = 1
        head, chosen = channel.head / 2**32, channel.chosen  # type: ignore[attr-defined]
        high = head / math.comb(channel.size - 1, chosen - 1)
        low = (1 - head) / math.comb(channel.size - 1, chosen)
        return values, low + (high - low) * inside
    rows = [[float(channel.probability(y, x)) for y in reports] for x in range(channel.size)]
    return values, np.array(rows)


_KNOWN: dict[Channel, tuple[NDArray[np.int64], Array]] = {}


def _listed_once(channel: Channel) -> tuple[NDArray[np.int64], Array]:
    if channel not in _KNOWN:
        _KNOWN[channel] = listed_of(channel)
    return _KNOWN[channel]


def _number(channel: Channel) -> int:
    """Return how many different reports there are."""
    if channel.kind == "subset":
        return math.comb(channel.size, channel.chosen)  # type: ignore[attr-defined]
    return channel.size
