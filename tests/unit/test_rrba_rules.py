"""The classic rules: what they learn, what each block costs, what a device makes of it."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from deniable.bulk.keystream import unsafe_seeded
from deniable.channels import TwoCoin, epsilon_of, keeps_floor
from deniable.channels.coin import WORD
from deniable.device import Agreement, examine
from deniable.errors import DesignError, PrivacyRefusedError
from deniable.experiments.literal import unsafe_update_without_floor
from deniable.planning.rehearsal import rehearse
from deniable.protocol import (
    Design,
    Rule,
    Stratum,
    Tally,
    design_for,
    first_block,
    next_block,
    update_by_blocks,
    update_by_clients,
)
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deniable.channels import Value


def design_of(sizes: list[int], epsilon: float = 1.0, **options: object) -> Design:
    """Return the RRBA design of attributes of the given sizes."""
    attributes = tuple(
        Attribute.nominal(f"q{place}", [f"c{cell}" for cell in range(size)])
        for place, size in enumerate(sizes)
    )
    return design_for(Survey("example", Schema(attributes), Privacy(epsilon, "rrba", options)))


def tally_of_cells(design: Design, counts: dict[tuple[int, int], list[int]]) -> Tally:
    """Return a tally of the first block from counts by (view, group)."""
    strata: dict[Stratum, Mapping[Value, int]] = {
        Stratum(0, view, (place,)): Counter({(c,): n for c, n in enumerate(seen) if n})
        for (view, place), seen in counts.items()
    }
    return Tally(design, {0: first_block(design)}, strata, frozenset({"test"}))


def coins(channel: object) -> TwoCoin:
    """Say that a channel is one of two coins."""
    assert isinstance(channel, TwoCoin)
    return channel


def test_a_block_teaches_eq_4_with_a_floor_and_p_keeps_the_level() -> None:
    """T' = (1 − g)·eq. 4 + g/m and p = a·t/(1 + a·t), from the closed block alone."""
    design = design_of([4], floor=0.2)
    before = coins(design.channels[0][0])
    truth = before.head / WORD
    counts = [50, 30, 15, 5]
    ((after,),) = update_by_blocks(
        design, first_block(design), tally_of_cells(design, {(0, 0): counts})
    )
    eq_4 = [(count / 100 - (1 - truth) / 4) / truth for count in counts]
    lifted = np.maximum(eq_4, 0)
    expected = 0.8 * lifted / lifted.sum() + 0.2 / 4
    fake = np.array(coins(after).fake) / WORD
    assert fake == pytest.approx(expected, abs=1e-9)
    gain = (math.e - 1) * fake.min()
    assert coins(after).head / WORD == pytest.approx(gain / (1 + gain), abs=1e-8)


def test_a_group_that_nobody_answered_keeps_its_channel() -> None:
    """A block without reports on a view teaches nothing about it."""
    design = design_of([2, 2, 2])
    tally = tally_of_cells(design, {(0, 0): [4, 0, 0, 0]})
    after = update_by_blocks(design, first_block(design), tally)
    assert after[0] != design.channels[0]
    assert after[1:] == design.channels[1:]


def test_groups_counted_together_teach_the_same() -> None:
    """The rule does not care whether a tally keeps the groups of a view together."""
    design = design_of([2, 2, 2, 2], block_size=400)
    answers = np.random.default_rng(4).integers(0, 2, (400, 4))
    one = rehearse(design, answers, stream=unsafe_seeded(4, 0))
    two = rehearse(design, answers, stream=unsafe_seeded(4, 0), joint=True)
    block = first_block(design)
    assert update_by_blocks(design, block, one) == update_by_blocks(design, block, two)


@pytest.mark.parametrize("rule", ["classic-blocks", "classic-clients"])
def test_every_block_of_a_classic_design_costs_what_the_first_does(rule: str) -> None:
    """A device accepts all of them: ε never rises and the floor is kept."""
    options: dict[str, object] = {"rule": rule}
    if rule == "classic-blocks":
        options["block_size"] = 60
    design = design_of([3, 2, 5], 2.0, **options)
    answers = np.random.default_rng(5).integers(0, [1, 2, 2], (300, 3))
    tally = rehearse(design, answers, stream=unsafe_seeded(5, 0))
    assert len(tally.blocks) == (5 if rule == "classic-blocks" else 300)
    agreement = Agreement(2.0, floor=0.1)
    for block in tally.blocks.values():
        assert examine(design, block, agreement).epsilon <= 2.0
    last = coins(tally.blocks[max(tally.blocks)].channels[0][0])
    assert keeps_floor(last, 0.1)
    assert epsilon_of(last) == pytest.approx(epsilon_of(design.channels[0][0]), abs=1e-6)
    assert last.head != coins(design.channels[0][0]).head


def test_the_literal_update_is_refused_by_every_device() -> None:
    """Without a floor a fake share reaches 0, ε runs away, and the device says no."""
    design = design_of([2, 3], 2.0, block_size=200)
    answers = np.zeros((1200, 2), dtype=np.int64)  # all alike, so that other cells fade
    tally = rehearse(
        design, answers, stream=unsafe_seeded(6, 0), update=unsafe_update_without_floor
    )
    worst = max(epsilon_of(block.channels[0][0]) for block in tally.blocks.values())
    assert worst > 20
    refused = 0
    for block in list(tally.blocks.values())[1:]:
        with pytest.raises(PrivacyRefusedError):
            examine(design, block, Agreement(2.0))
        refused += 1
    assert refused == 5


def test_a_classic_rule_without_a_floor_is_refused_by_the_server_too() -> None:
    """The error says that a cell never faked proves an answer."""
    safe = design_of([2, 2])
    bare = Design(
        safe.survey,
        safe.schema,
        safe.attributes,
        safe.views,
        safe.channels,
        safe.epsilon,
        rule=Rule("classic-blocks", 10, "0"),
    )
    tally = tally_of_cells(bare, {(0, 0): [1, 1, 1, 1]})
    with pytest.raises(DesignError, match="proves an answer"):
        update_by_blocks(bare, first_block(bare), tally)


def test_clients_move_the_fake_distribution_ever_less() -> None:
    """Version 1 is a running mean: the n-th client moves T by 1/(n + 1) of what the first does."""
    design = design_of([2], floor=1e-6, rule="classic-clients")
    first = coins(design.channels[0][0])
    truth = first.head / WORD
    newcomer = (1 - (1 - truth) / 2) / truth
    for number in (0, 1, 9):
        block = first_block(design)
        while block.number < number:
            block = next_block(design, block)
        strata: dict[Stratum, Mapping[Value, int]] = {Stratum(number, 0, (0,)): {(0,): 1}}
        tally = Tally(design, {number: block}, strata, frozenset({"test"}))
        ((after,),) = update_by_clients(design, block, tally)
        expected = min(0.5 + (newcomer - 0.5) / (number + 2), 1.0)
        assert coins(after).fake[0] / WORD == pytest.approx(expected, abs=2e-6)
