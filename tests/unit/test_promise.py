"""What a block costs is computed from its own channels, and known where they are the design's."""

from __future__ import annotations

import math

import pytest

from deniable.channels import two_coin
from deniable.errors import PrivacyRefusedError
from deniable.protocol import (
    attribute_epsilons,
    block_from_bytes,
    design_for,
    first_block,
    next_block,
    view_epsilons,
)
from deniable.protocol.promise import attribute_costs, check_promise, view_costs
from deniable.schema import Attribute, Privacy, Schema, Survey

DESIGN = design_for(
    Survey(
        "changing",
        Schema(tuple(Attribute.nominal(name, ["no", "yes"]) for name in "abcd")),
        Privacy(1.0, "rrba"),
    )
)


def test_a_block_that_changes_nothing_costs_what_its_design_does() -> None:
    """Read from the wire it shares the design's record, so that nothing is computed twice."""
    block = block_from_bytes(first_block(DESIGN).to_bytes(), DESIGN)
    assert block.channels is DESIGN.channels
    assert view_costs(DESIGN, block) is DESIGN.view_costs
    assert list(DESIGN.view_costs) == view_epsilons(DESIGN.channels)
    assert attribute_costs(DESIGN, block) == attribute_epsilons(DESIGN, DESIGN.channels)


def test_a_block_that_changes_something_is_costed_afresh() -> None:
    """A later block's cost is that of its channels, whatever the first one's was."""
    fake = [0.1, 0.2, 0.3, 0.4]
    channels = tuple(tuple(two_coin(0.25, fake) for _ in row) for row in DESIGN.channels)
    block = next_block(DESIGN, first_block(DESIGN), channels)
    assert list(view_costs(DESIGN, block)) == view_epsilons(channels)
    assert max(view_costs(DESIGN, block)) < min(DESIGN.view_costs)
    assert max(attribute_costs(DESIGN, block)) < min(DESIGN.attribute_costs)
    check_promise(DESIGN, block, epsilon=max(view_costs(DESIGN, block)))
    with pytest.raises(PrivacyRefusedError):
        check_promise(DESIGN, block, epsilon=math.nextafter(max(view_costs(DESIGN, block)), 0))
