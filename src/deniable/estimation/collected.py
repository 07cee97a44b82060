"""Collected: how the reports behind a table were made."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from deniable.channels import epsilon_of_all, format_epsilon

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deniable.channels import Channel

    Row = tuple[Channel, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Collected:
    """How the reports behind a table were made.

    Attributes:
        views: The views through which its attributes were asked.
        blocks: The blocks in which they were, numbered within their view.
        answered: All the channels that one respondent answered through, those of attributes
            that the table does not have among them, for each view and block.
    """

    views: frozenset[int]
    blocks: frozenset[int]
    answered: tuple[Row, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the channels' kinds, each once."""
        return tuple(dict.fromkeys(one.kind for row in self.answered for one in row))

    @property
    def epsilon(self) -> float:
        """Return the most that one respondent's answer cost, rounded up."""
        # Told apart by identity: comparing channels of a million cells takes long.
        different = {tuple(map(id, row)): row for row in self.answered}
        return max(map(epsilon_of_all, different.values()))

    def __str__(self) -> str:
        """Say it in a clause."""
        return (
            f"collected by {' and '.join(self.kinds)}, {_counted(len(self.views), 'view')}, "
            f"{_counted(len(self.blocks), 'block')}, ε per answer at most "
            f"{format_epsilon(self.epsilon)}"
        )


def collected_from(asked: Iterable[tuple[int, int, Row]]) -> Collected:
    """Return how reports were made from their blocks, views and channels."""
    blocks: dict[int, set[int]] = {}
    answered = []
    for block, view, row in asked:
        blocks.setdefault(view, set()).add(block)
        answered.append(row)
    most = max(map(len, blocks.values()))
    return Collected(frozenset(blocks), frozenset(range(most)), tuple(answered))


def collected_together(parts: Sequence[Collected]) -> Collected:
    """Return how the reports of all parts were made."""
    return Collected(
        frozenset().union(*(part.views for part in parts)),
        frozenset().union(*(part.blocks for part in parts)),
        tuple(chain.from_iterable(part.answered for part in parts)),
    )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
