"""A promise: what a block of a design costs, and the refusal of one that costs too much."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from deniable.channels import format_epsilon, keeps_floor
from deniable.errors import DigestError, PrivacyRefusedError
from deniable.protocol.design import attribute_epsilons, check_channels, view_epsilons

if TYPE_CHECKING:
    from deniable.protocol.block import Block
    from deniable.protocol.design import Design


def check_promise(
    design: Design, block: Block, *, epsilon: float = math.inf, floor: float = 0.0
) -> None:
    """Refuse a block that breaks the promise of its design.

    Every view is judged, not only one that will be drawn, so that a refusal tells the
    server nothing about the draw.

    Args:
        design: What was promised.
        block: What was sent.
        epsilon: The most that a view may cost, if that is less than the design promises.
        floor: The floor that a fake distribution must keep, if that is more.
    """
    if block.design != design.digest:
        problem = "the block belongs to another design"
        raise DigestError(problem, given=block.design, expected=design.digest)
    if block.channels is not design.channels:
        check_channels(block.channels, design)
        if design.rule.name == "fixed" and block.channels != design.channels:
            problem = "a fixed design came with changed channels"
            expected = "the channels that stand in the design"
            raise PrivacyRefusedError(problem, expected=expected)
    spent, allowed = max(view_costs(design, block)), min(epsilon, float(design.epsilon))
    if spent > allowed:
        problem = "the channels cost more privacy than was agreed"
        given = f"epsilon {format_epsilon(spent, 6)}"
        raise PrivacyRefusedError(problem, given=given, expected=f"at most {allowed}")
    floor = max(floor, float(design.rule.floor))
    if floor and not all(keeps_floor(c, floor) for view in block.channels for c in view):
        problem = "a fake distribution falls below the floor that was agreed"
        raise PrivacyRefusedError(problem, expected=f"every fake cell at least {floor}/m")


def view_costs(design: Design, block: Block) -> tuple[float, ...]:
    """Return the ε of each view of a block: what answering it costs (record-level)."""
    if block.channels is design.channels:  # which computed it when it was made
        return design.view_costs
    return tuple(view_epsilons(block.channels))


def attribute_costs(design: Design, block: Block) -> tuple[float, ...]:
    """Return the ε of each attribute: what a change in one answer alone could show."""
    if block.channels is design.channels:
        return design.attribute_costs
    return attribute_epsilons(design, block.channels)
