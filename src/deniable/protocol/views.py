"""Which attributes are answered together: groups and views, deterministic."""

from __future__ import annotations

from itertools import combinations


def single_groups(count: int) -> list[tuple[int, ...]]:
    """Return every attribute as a group of its own."""
    return [(attribute,) for attribute in range(count)]


def all_groups(count: int, together: int) -> list[tuple[int, ...]]:
    """Return every set of ``together`` attributes, in lexicographic order."""
    return list(combinations(range(count), together))


def round_robin(count: int) -> list[list[tuple[int, ...]]]:
    """Return views in which every pair of attributes meets exactly once (circle method).

    d − 1 views for even d; d views for odd d, each leaving out one attribute.

    >>> round_robin(4)
    [[(0, 3), (1, 2)], [(2, 3), (0, 1)], [(1, 3), (0, 2)]]
    """
    seats = count + count % 2
    views = []
    for turn in range(seats - 1):
        ring = [(seat - turn) % (seats - 1) for seat in range(seats - 1)]
        pairs = [(ring[0], seats - 1)]
        pairs += [(ring[k], ring[-k]) for k in range(1, seats // 2)]
        ordered = [tuple(sorted(pair)) for pair in pairs]
        views.append([pair for pair in ordered if max(pair) < count])
    return views
