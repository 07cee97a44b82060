"""How channels change between blocks: one function for each rule that a design may name."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from deniable.errors import DesignError
from deniable.protocol import update_by_blocks, update_by_clients

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from deniable.protocol import Block, Design, Tally
    from deniable.protocol.design import Channels

    Update: TypeAlias = Callable[[Design, Block, Tally], Channels]


def unchanged(design: Design, block: Block, tally: Tally) -> Channels:
    """Return the channels of the block that has just closed."""
    del design, tally
    return block.channels


def second_stage(design: Design, block: Block, tally: Tally) -> Channels:
    """Return the channels that tell most about dependence, once the first block has closed."""
    from deniable.estimation.two_stage import update_by_stages  # noqa: PLC0415 -- slow to load

    return update_by_stages(design, block, tally)


RULES: Mapping[str, Update] = {
    "fixed": unchanged,
    "classic-blocks": update_by_blocks,
    "classic-clients": update_by_clients,
    "two-stage": second_stage,
}
"""Every rule that this server can follow: from a closed block to the next one's channels."""


def takes_long(design: Design, block: Block) -> bool:
    """Tell whether the channels after a block take so long to find that nobody may wait."""
    return design.rule.name == "two-stage" and block.number == 0


def update_for(design: Design) -> Update:
    """Return the rule of a design, or say that this server cannot follow it."""
    if design.rule.name not in RULES:
        problem = "this server cannot follow the design's rule between blocks"
        raise DesignError(problem, given=design.rule.name, expected=" or ".join(RULES))
    return RULES[design.rule.name]
