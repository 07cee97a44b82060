"""What the respondent agreed to, and the check that is the guarantee.

The server's word is not: the device computes ε from the channels it was sent, for
every view it might draw, before any coin is tossed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.channels import format_epsilon, keeps_floor
from deniable.errors import DigestError, EpsilonError, PrivacyRefusedError
from deniable.protocol import attribute_epsilons, view_epsilons
from deniable.protocol.design import check_channels
from deniable.schema.privacy import epsilon_fault

if TYPE_CHECKING:
    from deniable.protocol import Block, Design


@dataclass(frozen=True, slots=True)
class Agreement:
    """The most that one answer may cost, and the least that a fake distribution must keep.

    Attributes:
        epsilon: The largest ε of one answered view (all its groups together).
        floor: The share g of the even distribution in any fake distribution: min T ≥ g/m.
        design: The digest of the one design agreed to; ``None`` accepts any that fits.
    """

    epsilon: float
    floor: float = 0.0
    design: str | None = None

    def __post_init__(self) -> None:
        """Refuse an agreement to nothing or to everything."""
        fault = epsilon_fault(self.epsilon)
        if fault:
            problem = f"an agreed epsilon {fault}"
            raise EpsilonError(problem, given=self.epsilon, expected="a number such as 1.0")
        if not 0 <= self.floor <= 1:
            problem = "an agreed floor must lie between 0 and 1"
            raise EpsilonError(problem, given=self.floor, expected="a share such as 0.1")


@dataclass(frozen=True, slots=True)
class Certificate:
    """What the device computed for itself about a design and block, rounded up.

    Attributes:
        design: The digest of the design.
        block: The digest of the block.
        views: The ε of each view: what answering it costs (record-level).
        attributes: The ε of each attribute: what a change in one answer alone could
            show (attribute-level).
        repeats: How many fresh answers the design allows.
    """

    design: str
    block: str
    views: tuple[float, ...]
    attributes: tuple[float, ...]
    repeats: int

    @property
    def epsilon(self) -> float:
        """Return the cost of one answer: the costliest view that may be drawn."""
        return max(self.views)

    @property
    def whole_survey(self) -> float:
        """Return the cost of every answer that the design allows one respondent."""
        return math.nextafter(self.epsilon * self.repeats, math.inf)

    def __str__(self) -> str:
        """Say what an answer costs, rounded up."""
        return (
            f"ε ≤ {format_epsilon(self.epsilon)} per answer, "
            f"≤ {format_epsilon(max(self.attributes))} for any one attribute, "
            f"≤ {format_epsilon(self.whole_survey)} for the whole survey"
        )


def examine(design: Design, block: Block, agreement: Agreement) -> Certificate:
    """Return the certificate of a design and block, or refuse them.

    Every view is examined, not only the one that will be drawn, so that a refusal
    tells the server nothing about the draw.
    """
    if agreement.design is not None and design.digest != agreement.design:
        problem = "this is not the design that was agreed to"
        raise DigestError(problem, given=design.digest, expected=agreement.design)
    if block.design != design.digest:
        problem = "the block belongs to another design"
        raise DigestError(problem, given=block.design, expected=design.digest)
    check_channels(block.channels, design)
    if design.rule.name == "fixed" and block.channels != design.channels:
        problem = "a fixed design came with changed channels"
        raise PrivacyRefusedError(problem, expected="the channels that stand in the design")
    costs = view_epsilons(block.channels)
    allowed = min(agreement.epsilon, float(design.epsilon))
    if max(costs) > allowed:
        problem = "the channels cost more privacy than was agreed"
        given = f"epsilon {format_epsilon(max(costs), 6)}"
        raise PrivacyRefusedError(problem, given=given, expected=f"at most {allowed}")
    floor = max(agreement.floor, float(design.rule.floor))
    if floor and not all(keeps_floor(c, floor) for view in block.channels for c in view):
        problem = "a fake distribution falls below the floor that was agreed"
        raise PrivacyRefusedError(problem, expected=f"every fake cell at least {floor}/m")
    attributes = attribute_epsilons(design, block.channels)
    return Certificate(design.digest, block.digest, tuple(costs), attributes, design.repeats)
