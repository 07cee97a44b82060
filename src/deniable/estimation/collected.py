"""Collected: how the reports behind a table were made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.channels import epsilon_of_all, format_epsilon

if TYPE_CHECKING:
    from deniable.channels import Channel


@dataclass(frozen=True, slots=True)
class Collected:
    """How the reports behind a table were made.

    Attributes:
        views: Through how many views its attributes were asked.
        blocks: In how many blocks.
        answered: Each set of channels that one respondent answered through, with those of
            attributes that the table does not have.
    """

    views: int
    blocks: int
    answered: tuple[tuple[Channel, ...], ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the channels' kinds, each once."""
        return tuple(dict.fromkeys(one.kind for row in self.answered for one in row))

    @property
    def epsilon(self) -> float:
        """Return the most that one respondent's answer cost, rounded up."""
        return max(map(epsilon_of_all, self.answered))

    def __str__(self) -> str:
        """Say it in a sentence without a full stop."""
        return (
            f"collected by {' and '.join(self.kinds)}, {_counted(self.views, 'view')}, "
            f"{_counted(self.blocks, 'block')}, ε per answer at most "
            f"{format_epsilon(self.epsilon)}"
        )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
