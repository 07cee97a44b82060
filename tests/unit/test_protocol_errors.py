"""Designs, blocks, reports and tallies that cannot be are refused in one sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from deniable.channels import k_ary
from deniable.device import Agreement, Answer, Device, MemoryStorage
from deniable.errors import DesignError, DigestError, ReportError, TallyError
from deniable.protocol import (
    Block,
    Design,
    Group,
    Report,
    Rule,
    Tally,
    View,
    attribute_epsilons,
    block_from_bytes,
    check_report,
    decode_bytes,
    design_from_bytes,
    first_block,
    next_block,
    report_from_bytes,
    tally_from_bytes,
    tally_of,
    view_epsilons,
)
from deniable.testing import UnsafeSeededCoin, ask_one_design

if TYPE_CHECKING:
    from collections.abc import Callable

DESIGN = ask_one_design((2, 3, 4))
BLOCK = first_block(DESIGN)
PAIR = Group((0, 1), (2, 3))


def report(seed: int = 1) -> Report:
    """Return a report of the example design."""
    device = Device(MemoryStorage(), Agreement(1.0), coin=UnsafeSeededCoin(seed))
    return device.respond(DESIGN, BLOCK, Answer((0, 1, 2), (2, 3, 4)))


def design(**changes: Any) -> Design:  # noqa: ANN401 - any field of a design
    """Return a design of one view with one pair, changed as asked."""
    parts: dict[str, Any] = {
        "survey": "s",
        "schema": "-" * 43,
        "attributes": (("a", 2), ("b", 3)),
        "views": (View((PAIR,)),),
        "channels": ((k_ary(1.0, 6),),),
        "epsilon": "1",
    }
    return Design(**{**parts, **changes})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"attributes": (("a", 2), ("a", 3))}, "different names"),
        ({"views": ()}, "at least one view"),
        ({"views": (View(()),)}, "asks nothing"),
        ({"views": (View((Group((), ()),)),)}, "asks nothing"),
        ({"views": (View((Group((0, 2), (2, 3)),)),)}, "does not exist"),
        ({"views": (View((PAIR, Group((1,), (3,)))),)}, "overlap.*'b'"),
        ({"views": (View((PAIR,), 0),)}, "weight"),
        ({"views": (View((Group((0, 1), (2, 4)),)),)}, "does not fit its attributes"),
        ({"channels": ((k_ary(1.0, 5),),)}, "5 cells"),
        ({"channels": ()}, "do not fit the views"),
        ({"channels": ((k_ary(1.0, 6), k_ary(1.0, 6)),)}, "do not fit the views"),
        ({"channels": ((k_ary(1.1, 6),),)}, "cost more than it promises"),
        ({"epsilon": "0"}, "positive decimal"),
        ({"epsilon": "-1"}, "positive decimal"),
        ({"epsilon": "1e3"}, "positive decimal"),
        ({"epsilon": "nan"}, "positive decimal"),
        ({"rule": Rule("whatever")}, "unknown rule"),
        ({"rule": Rule("fixed", 0, "2")}, "floor"),
        ({"repeats": 0}, "repeats.*given: 0"),
        ({"repeats": -1}, "repeats"),
        ({"repeats": 1.5}, "repeats"),
        ({"repeats": True}, "repeats"),
        ({"survey": ""}, "named"),
        ({"survey": None}, "named"),
        ({"survey": 7}, "named"),
    ],
)
def test_a_design_that_cannot_be_asked_is_refused(changes: dict[str, object], words: str) -> None:
    """Each inconsistency is one clear error."""
    design()
    with pytest.raises(DesignError, match=words):
        design(**changes)


def test_a_design_that_was_tampered_with_has_another_digest() -> None:
    """A changed design does not pass for the published one."""
    other = replace(DESIGN, repeats=2)
    with pytest.raises(DigestError, match="published"):
        design_from_bytes(other.to_bytes(), DESIGN.digest)
    with pytest.raises(DesignError, match="canonical"):
        design_from_bytes(DESIGN.to_bytes().replace(b",", b", "))
    with pytest.raises(DesignError, match="'rule'"):
        design_from_bytes(DESIGN.to_bytes().replace(b'"rule"', b'"rulle"'))


def test_a_block_of_another_design_or_with_other_channels_is_refused() -> None:
    """A fixed design's channels never change, whoever says so."""
    weaker = tuple((k_ary(0.1, row[0].size),) for row in DESIGN.channels)
    with pytest.raises(DesignError, match="never change"):
        next_block(DESIGN, BLOCK, weaker)
    with pytest.raises(DesignError, match="never change"):
        block_from_bytes(Block(DESIGN.digest, 1, weaker).to_bytes(), DESIGN)
    with pytest.raises(DigestError, match="another design"):
        block_from_bytes(BLOCK.to_bytes(), design())
    with pytest.raises(DigestError, match="published"):
        block_from_bytes(BLOCK.to_bytes(), DESIGN, next_block(DESIGN, BLOCK).digest)


@pytest.mark.parametrize("length", range(0, 175, 7))
def test_a_truncated_report_is_refused(length: int) -> None:
    """However much of a report is lost, it is an error and never another report."""
    with pytest.raises(ReportError):
        report_from_bytes(report().to_bytes()[:length])


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (lambda r: replace(r, design="A" * 43), DigestError, "another design"),
        (lambda r: replace(r, block="A" * 43), DigestError, "another block"),
        (lambda r: replace(r, view=3), ReportError, "not offered"),
        (lambda r: replace(r, values=()), ReportError, "every group"),
        (lambda r: replace(r, values=((99,),)), ReportError, "expected"),
        (lambda r: replace(r, values=((),)), ReportError, "expected"),
    ],
)
def test_a_report_that_the_block_cannot_have_made_is_refused(
    change: Callable[[Report], Report], kind: type[Exception], words: str
) -> None:
    """Wrong digests, views and cells are refused, each with its reason."""
    with pytest.raises(kind, match=words):
        check_report(change(report()), DESIGN, BLOCK)


def test_an_id_of_another_length_is_refused() -> None:
    """A report id is exactly sixteen bytes, spelled in the one way there is."""
    assert decode_bytes("AAAAAAAAAAAAAAAAAAAAAA", 16) == bytes(16)
    for text in ("", "AAAA", "AAAAAAAAAAAAAAAAAAAAAB", "AAAAAAAAAAAAAAAAAAAAA!", "A" * 43):
        with pytest.raises(ReportError):
            decode_bytes(text, 16)


def test_a_tally_merged_twice_is_noticed() -> None:
    """A source counts once; other designs and other channels do not mix."""
    one = tally_of(DESIGN, [BLOCK], [report()], source="one")
    with pytest.raises(TallyError, match="already added"):
        one.plus(one)
    other = view_design()
    whole, single = (
        tally_of(other, [first_block(other)], [view_report(other)], source=str(joint), joint=joint)
        for joint in (True, False)
    )
    with pytest.raises(TallyError, match="counts whole reports"):
        whole.plus(single)
    with pytest.raises(DigestError, match="different designs"):
        one.plus(Tally(other, {}, {}, frozenset({"two"})))
    with pytest.raises(DigestError, match="no block"):
        tally_of(DESIGN, [next_block(DESIGN, BLOCK)], [report()], source="one")


def view_design() -> Design:
    """Return a design with two groups in one view."""
    groups = (Group((0,), (2,)), Group((1,), (3,)))
    return design(views=(View(groups),), channels=((k_ary(0.5, 2), k_ary(0.5, 3)),))


def view_report(asked: Design) -> Report:
    """Return a report of it."""
    device = Device(MemoryStorage(), Agreement(1.0))
    return device.respond(asked, first_block(asked), Answer((0, 0), (2, 3)))


def test_levels_add_within_a_view_and_not_across_attributes() -> None:
    """A view costs the sum of its groups; one attribute costs its own group only."""
    asked = view_design()
    (view,) = view_epsilons(asked.channels)
    assert view == pytest.approx(1.0, abs=1e-6)
    assert attribute_epsilons(asked, asked.channels) == pytest.approx((0.5, 0.5), abs=1e-6)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("strata", 0, "block"), []),
        (("strata", 0, "block"), 7),
        (("strata", 0, "view"), True),
        (("strata", 0, "groups"), [1]),
        (("strata", 0, "counts"), [-1]),
        (("strata", 0, "reports"), [[99]]),
        (("deniable",), True),
        (("deniable",), 2),
        (("blocks", 0, "block"), True),
        (("sources",), ["a", "a"]),
    ],
)
def test_a_tally_with_one_wrong_part_is_refused(
    place: tuple[str | int, ...], value: object
) -> None:
    """Impossible strata, counts and versions are errors of ours."""
    found = json.loads(tally_of(DESIGN, [BLOCK], [report()], source="a").to_bytes())
    inner = found
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    with pytest.raises((TallyError, DesignError, DigestError, ReportError)):
        tally_from_bytes(json.dumps(found))
