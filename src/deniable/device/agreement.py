"""What the respondent agreed to, and the check that is the guarantee.

The server's word is not: the device computes ε from the channels it was sent, for
every view it might draw, before any coin is tossed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.channels import format_epsilon
from deniable.channels.exact import is_share
from deniable.errors import DigestError, EpsilonError
from deniable.protocol.promise import attribute_costs, check_promise, view_costs
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
        if not is_share(self.floor):
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
    """Return the certificate of a design and block, or refuse them."""
    if agreement.design is not None and design.digest != agreement.design:
        problem = "this is not the design that was agreed to"
        raise DigestError(problem, given=design.digest, expected=agreement.design)
    check_promise(design, block, epsilon=agreement.epsilon, floor=agreement.floor)
    views, attributes = view_costs(design, block), attribute_costs(design, block)
    return Certificate(design.digest, block.digest, views, attributes, design.repeats)
