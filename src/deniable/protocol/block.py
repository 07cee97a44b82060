"""A block: respondents who share the same channels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.errors import DesignError
from deniable.protocol.canonical import canonical, digest
from deniable.protocol.design import VERSION, channels_to_list, check_channels

if TYPE_CHECKING:
    from deniable.protocol.design import Channels, Design


@dataclass(frozen=True)
class Block:
    """The channels of one block of one design. Frozen, canonical, hashed."""

    design: str
    number: int
    channels: Channels

    def __post_init__(self) -> None:
        """Refuse a block without a place."""
        number = self.number
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            problem = "a block's number must be an integer of at least 0"
            raise DesignError(problem, given=number)

    def to_dict(self) -> dict[str, object]:
        """Return the wire form (``spec/block.schema.json``)."""
        return {
            "deniable": VERSION,
            "design": self.design,
            "block": self.number,
            "channels": channels_to_list(self.channels),
        }

    def to_bytes(self) -> bytes:
        """Return the canonical bytes that are published and hashed."""
        return canonical(self.to_dict())

    @cached_property
    def digest(self) -> str:
        """Return the digest that every report of this block carries."""
        return digest(self.to_bytes())


def first_block(design: Design) -> Block:
    """Return block 0, whose channels stand in the design."""
    return Block(design.digest, 0, design.channels)


def next_block(design: Design, before: Block, channels: Channels | None = None) -> Block:
    """Return the block after ``before``, with the same channels unless others are given."""
    chosen = before.channels if channels is None else channels
    check_channels(chosen, design)
    if design.rule.name == "fixed" and chosen != design.channels:
        problem = "the channels of a fixed design never change"
        raise DesignError(problem, expected="an adaptive rule, or the design's own channels")
    return Block(design.digest, before.number + 1, chosen)
