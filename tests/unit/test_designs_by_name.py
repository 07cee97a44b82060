"""Every protocol of the sources is a design that a survey file can name."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable.channels import KAry, SubsetSelection, TwoCoin
from deniable.errors import DesignError
from deniable.protocol import Design, attribute_epsilons, design_for, view_epsilons
from deniable.schema import Attribute, Category, Privacy, Schema, Survey


def survey(privacy: Privacy, sizes: tuple[int, ...] = (2, 3, 4, 2)) -> Survey:
    """Return a survey of attributes of the given sizes."""
    attributes = tuple(
        Attribute(f"q{place}", "nominal", tuple(Category(c, f"c{c}") for c in range(size)))
        for place, size in enumerate(sizes)
    )
    return Survey("example", Schema(attributes), privacy)


def groups(design: Design) -> list[list[tuple[int, ...]]]:
    """Return the groups of each view."""
    return [[group.attributes for group in view.groups] for view in design.views]


def test_ask_one_makes_every_pair_a_view_of_its_own() -> None:
    """Each respondent spends the whole level on one random pair."""
    design = design_for(survey(Privacy(1.0, "ask-one")))
    assert groups(design) == [[(0, 1)], [(0, 2)], [(0, 3)], [(1, 2)], [(1, 3)], [(2, 3)]]
    assert all(1.0 - 1e-6 < cost <= 1.0 for cost in view_epsilons(design.channels))


@pytest.mark.parametrize("level", [np.float64(0.5), np.float32(0.5), Fraction(1, 2)])
def test_a_level_out_of_an_array_is_the_level(level: float) -> None:
    """Whoever tries the levels of an array gets the designs of the plain numbers."""
    assert design_for(survey(Privacy(level))).digest == design_for(survey(Privacy(0.5))).digest
    whole: Any = np.int64(1)
    assert design_for(survey(Privacy(whole))).epsilon == "1"


def test_ask_one_takes_groups_as_they_are_given() -> None:
    """Named groups may overlap, since one respondent answers only one of them."""
    options = {"groups": [["q0", "q1", "q2"], ["q2", "q3"]]}
    design = design_for(survey(Privacy(1.0, "ask-one", options)))
    assert groups(design) == [[(0, 1, 2)], [(2, 3)]]


@pytest.mark.parametrize(("level", "each"), [("respondent", 0.25), ("attribute", 1.0)])
def test_independent_asks_every_attribute_alone(level: str, each: float) -> None:
    """A level per respondent is divided, a level per attribute is not, and both are stated."""
    design = design_for(survey(Privacy(1.0, "independent", level=level)))  # type: ignore[arg-type]
    assert groups(design) == [[(0,), (1,), (2,), (3,)]]
    assert attribute_epsilons(design, design.channels) == pytest.approx([each] * 4, abs=1e-6)
    assert max(view_epsilons(design.channels)) == pytest.approx(4 * each, abs=1e-6)
    assert float(design.epsilon) == 4 * each


def test_joint_asks_all_attributes_as_one_cell() -> None:
    """RR-Joint is one view with one group, however many cells that has."""
    design = design_for(survey(Privacy(2.0, "joint"), (9, 16, 7, 15, 6, 5, 2, 2)))
    assert groups(design) == [[tuple(range(8))]]
    assert design.channels[0][0].size == 1_814_400


def test_clusters_are_answered_together_and_the_rest_alone() -> None:
    """RR-Clusters is one view whose groups are the named clusters."""
    options = {"clusters": [["q0", "q2"], ["q1"], ["q3"]]}
    design = design_for(survey(Privacy(2.0, "clusters", options)))
    assert groups(design) == [[(0, 2), (1,), (3,)]]


def test_views_of_pairs_are_a_round_robin() -> None:
    """Four attributes make three views of two pairs, and the level is divided by two."""
    design = design_for(survey(Privacy(1.0, "views")))
    assert [len(view) for view in groups(design)] == [2, 2, 2]
    assert max(view_epsilons(design.channels)) <= 1.0


def test_rrba_starts_from_even_fakes_and_states_its_rule() -> None:
    """RRBA names its block size and floor; its channels toss two coins."""
    options = {"block_size": 100, "floor": 0.25}
    design = design_for(survey(Privacy(1.0, "rrba", options)))
    assert all(isinstance(channel, TwoCoin) for row in design.channels for channel in row)
    assert (design.rule.name, design.rule.block_size) == ("classic-blocks", 100)
    assert design.rule.floor == "0.25"


@pytest.mark.parametrize(("name", "kind"), [("k-ary", KAry), ("subset", SubsetSelection)])
def test_a_channel_may_be_named(name: str, kind: type) -> None:
    """The channel named in the survey is the one that is used."""
    design = design_for(survey(Privacy(1.0, "joint", {"channel": name})))
    assert isinstance(design.channels[0][0], kind)


def test_a_design_depends_on_everything_it_promises() -> None:
    """Another level, schema or name gives another digest; the same survey the same one."""
    base = survey(Privacy(1.0, "ask-one"))
    assert design_for(base).digest == design_for(survey(Privacy(1.0, "ask-one"))).digest
    others = [
        survey(Privacy(1.5, "ask-one")),
        survey(Privacy(1.0, "ask-one", repeats=2)),
        survey(Privacy(1.0, "ask-one"), (2, 3, 4, 3)),
    ]
    digests = {design_for(one).digest for one in others}
    assert len(digests | {design_for(base).digest}) == 4


def test_a_group_with_too_many_cells_is_an_error_that_names_it() -> None:
    """More cells than can be sampled are refused with the attributes' names."""
    with pytest.raises(DesignError, match="q0, q1"):
        design_for(survey(Privacy(1.0, "joint"), (60_000, 60_000)))
