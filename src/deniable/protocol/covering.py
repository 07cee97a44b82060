"""Views of groups of k attributes in which every pair meets at least once, in few views.

All k-sets need C(d, k)/⌊d/k⌋ views; all pairs need only about (d − 1)/(k − 1). Two ways
are tried and the better is kept: lines of a plane over a prime field (short for many
attributes) and annealed swaps (short for few). Both are deterministic.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TypeAlias

from deniable.channels.local_hash import is_prime

Groups: TypeAlias = list[tuple[int, ...]]

STEPS = 200_000
"""Swaps tried for each number of views: about a second."""

FEW = 64
"""Beyond this many attributes swaps no longer beat the lines."""

HOT, COLD = 0.6, 0.08


def least_views(count: int, together: int) -> int:
    """Return how many views any such cover needs, by counting pairs and partners."""
    if count <= together:
        return 1
    full, rest = divmod(count, together)
    pairs = full * math.comb(together, 2) + math.comb(rest, 2)
    return max(math.ceil(math.comb(count, 2) / pairs), math.ceil((count - 1) / (together - 1)))


def cover_pairs(count: int, together: int) -> list[Groups]:
    """Return views of groups of at most ``together`` in which every pair meets.

    >>> [len(cover_pairs(d, k)) for d, k in ((3, 3), (9, 3), (16, 4))]
    [1, 4, 5]
    """
    if count <= together:
        return [[tuple(range(count))]]
    found = _lines(count, together)
    if count <= FEW:
        for views in range(least_views(count, together), len(found)):
            better = _Swaps(count, together, views).anneal()
            if better is not None:
                return better
    return found


def _lines(count: int, together: int) -> list[Groups]:
    """Cover pairs of different columns by lines, pairs of one column by the same again.

    Attribute a stands at row a // k and column a % k. For each slope there is a view; two
    points of different columns lie on exactly one line, since the field is prime.
    """
    field = max(math.ceil(count / together), together)
    while not is_prime(field):
        field += 1
    views = []
    for slope in range(field):
        lines: Groups = []
        for start in range(field):
            points = [
                ((start + slope * column) % field) * together + column for column in range(together)
            ]
            lines.append(tuple(sorted(point for point in points if point < count)))
        views.append(_worth_asking(lines))
    rows = math.ceil(count / together)
    for inner in cover_pairs(rows, together):
        joint = [
            tuple(a * together + column for a in group if a * together + column < count)
            for column in range(together)
            for group in inner
        ]
        views.append(_worth_asking(joint))
    return views


def _worth_asking(groups: Groups) -> Groups:
    return sorted(group for group in groups if len(group) > 1)


class _Swaps:
    """Annealing over views that always hold every attribute once; the cost is the pairs unmet."""

    def __init__(self, count: int, together: int, views: int) -> None:
        self.count, self.together = count, together
        self.state = count * 1_000_003 + together * 1009 + views
        self.orders = [self._shuffled() for _ in range(views)]
        self.met = [[0] * count for _ in range(count)]
        for order in self.orders:
            for one, two in self._pairs(order):
                self.met[one][two] += 1
                self.met[two][one] += 1
        self.unmet = sum(not self.met[one][two] for one, two in combinations(range(count), 2))

    def _below(self, bound: int) -> int:
        # A fixed sequence, not a coin: nothing secret depends on it.
        self.state = (self.state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
        return (self.state >> 33) * bound >> 31

    def _shuffled(self) -> list[int]:
        order = list(range(self.count))
        for last in range(self.count - 1, 0, -1):
            other = self._below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def _groups(self, order: list[int]) -> Groups:
        return [
            tuple(sorted(order[start : start + self.together]))
            for start in range(0, self.count, self.together)
        ]

    def _pairs(self, order: list[int]) -> list[tuple[int, int]]:
        return [pair for group in self._groups(order) for pair in combinations(group, 2)]

    def anneal(self) -> list[Groups] | None:
        """Return views in which every pair meets, or none if no swap leads there in time."""
        cooling = math.log(COLD / HOT) / STEPS
        for step in range(STEPS):
            if not self.unmet:
                return [_worth_asking(self._groups(order)) for order in self.orders]
            self._try_swap(HOT * math.exp(cooling * step))
        return None

    def _try_swap(self, temperature: float) -> None:
        order = self.orders[self._below(len(self.orders))]
        here, there = self._below(self.count), self._below(self.count)
        size = self.together
        left, right = here // size, there // size
        if left == right:
            return
        one, two = order[here], order[there]
        met_one, met_two = self.met[one], self.met[two]
        with_one = [a for a in order[left * size : left * size + size] if a != one]
        with_two = [a for a in order[right * size : right * size + size] if a != two]
        change = sum((met_one[a] == 1) - (not met_two[a]) for a in with_one)
        change += sum((met_two[a] == 1) - (not met_one[a]) for a in with_two)
        if change > 0 and self._below(2**20) >= math.exp(-change / temperature) * 2**20:
            return
        for a in with_one:
            met_one[a] -= 1
            met_two[a] += 1
            self.met[a][one] -= 1
            self.met[a][two] += 1
        for a in with_two:
            met_two[a] -= 1
            met_one[a] += 1
            self.met[a][two] -= 1
            self.met[a][one] += 1
        order[here], order[there] = two, one
        self.unmet += change
