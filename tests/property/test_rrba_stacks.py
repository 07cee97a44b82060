"""A leap and a climb end on the same summit; a stack tells what its sights tell."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.bulk.keystream import unsafe_seeded
from deniable.errors import EstimationError
from deniable.estimation import estimate
from deniable.estimation.climb import climb, likelihood_of
from deniable.estimation.folds import divide
from deniable.estimation.inquiry import covering_of
from deniable.estimation.leap import leap
from deniable.estimation.observation import evidence_of, observe
from deniable.estimation.scene import scenes_of
from deniable.estimation.stacks import stacks_of
from deniable.estimation.unbiased import pooled
from deniable.planning.rehearsal import rehearse
from deniable.protocol import Tally, design_for
from deniable.schema import Attribute, Privacy, Schema, Survey


def tally_of(sizes: list[int], seed: int, design: str = "rrba", **options: object) -> Tally:
    """Rehearse a design with people who answer at random, unevenly."""
    attributes = tuple(
        Attribute.nominal(f"q{place}", [f"c{cell}" for cell in range(size)])
        for place, size in enumerate(sizes)
    )
    survey = Survey("example", Schema(attributes), Privacy(3.0, design, options))  # type: ignore[arg-type]
    rng = np.random.default_rng(seed)
    answers = np.stack([rng.binomial(size - 1, rng.random(), 900) for size in sizes], axis=1)
    return rehearse(design_for(survey), answers, stream=unsafe_seeded(seed, 0))


@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(2, 4), min_size=2, max_size=4), st.integers(0, 999))
def test_a_leap_finds_what_a_climb_over_all_sights_finds(sizes: list[int], seed: int) -> None:
    """The two reach the same likelihood, from stacks and from every block's own sight."""
    tally = tally_of(sizes, seed, block_size=300)
    stacks = stacks_of(tally)
    found = stacks.most_likely((0, 1))
    sights = observe(tally, ["q0", "q1"]).sights
    climbed = climb(sights, np.full(sizes[:2], 1 / (sizes[0] * sizes[1])), gap=1e-4)
    assert found.gap <= 1e-3
    assert found.likelihood == pytest.approx(climbed.likelihood, abs=2e-3)
    assert np.abs(found.table - climbed.table).max() < 0.02
    assert found.steps < 60 or found.table.min() < 1e-6


def test_a_stack_shows_and_traces_as_its_sights_do() -> None:
    """λ and Lᵀw agree with the sights' to rounding, for the group and for one attribute."""
    tally = tally_of([3, 2, 4], 1, block_size=300)
    stack = stacks_of(tally).by_group[0, 2]
    sights = observe(tally, ["q0", "q2"]).covering
    table = np.random.default_rng(1).dirichlet(np.ones(12)).reshape(3, 4)
    assert stack.see(table).reshape(len(sights), 3, 4) == pytest.approx(
        np.array([sight.see(table).reshape(3, 4) for sight in sights])
    )
    weights = np.random.default_rng(2).random(stack.counts.shape)
    together = sum(
        sight.trace(row.reshape(sight.counts.shape), (3, 4))
        for sight, row in zip(sights, weights, strict=True)
    )
    assert stack.trace(weights, (3, 4)) == pytest.approx(np.asarray(together))
    alone = stack.reduced([1], [0])
    assert alone.see(table.sum(axis=0)) == pytest.approx(
        stack.see(table).reshape(-1, 3, 4).sum(axis=1)
    )
    assert alone.people == stack.people


def test_a_large_table_is_climbed() -> None:
    """Beyond the size where a leap pays, the climb answers the same question."""
    tally = tally_of([17, 16], 3, "views", channel="k-ary")
    stacks = stacks_of(tally)
    assert leap([stacks.by_group[0, 1]], (17, 16)).gap <= 1e-3


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.integers(2, 4), min_size=3, max_size=4),
    st.sampled_from([(0, 1), (1, 0), (2, 0), (1,)]),
    st.sampled_from([("rrba", {"block_size": 200}), ("views", {"channel": "k-ary", "k": 3})]),
    st.integers(0, 999),
)
def test_a_scene_from_stacks_is_the_scene_from_sights(
    sizes: list[int],
    wanted: tuple[int, ...],
    design: tuple[str, dict[str, object]],
    seed: int,
) -> None:
    """People, pooled inverse, its covariances and its curve are the same, to rounding."""
    tally = tally_of(sizes, seed, design[0], **design[1])
    names = [f"q{place}" for place in wanted]
    observation = observe(tally, names)
    scene = scenes_of(tally)(names)
    assert not scene.observation.sights  # it does come from stacks
    assert scene.observation.people == observation.people
    slow, fast = pooled(observation.covering), scene.dispersion
    assert fast is not None
    assert fast.centre == pytest.approx(slow.centre)
    assert fast.dense() == pytest.approx(slow.dense(), abs=1e-9)
    share = np.linspace(0.05, 0.9, slow.centre.size).reshape(slow.centre.shape)
    assert fast.curve().at(share) == pytest.approx(slow.curve().at(share), rel=1e-6)
    weights = np.random.default_rng(seed).normal(size=(3, slow.centre.size))
    assert fast.between(weights) == pytest.approx(slow.between(weights), abs=1e-9)
    table = np.random.default_rng(seed).dirichlet(np.ones(slow.centre.size))
    table = table.reshape(slow.centre.shape)
    gained = scene.likelihood(table) - scene.likelihood(np.full(table.shape, 1 / table.size))
    even = np.full(table.shape, 1 / table.size)
    assert gained == pytest.approx(
        likelihood_of(observation.sights, table) - likelihood_of(observation.sights, even)
    )


def test_attributes_never_answered_together_have_a_scene_without_a_dispersion() -> None:
    """The method says which view would be needed."""
    tally = tally_of([2, 2, 2], 1, "independent", channel="k-ary")
    assert scenes_of(tally)(["q0", "q1"]).dispersion is None
    with pytest.raises(EstimationError, match="by the same person"):
        estimate(tally, ["q0", "q1"], rng=np.random.default_rng(1), method="maximum-likelihood")
    with pytest.raises(EstimationError, match="no attribute 'q9'"):
        scenes_of(tally)(["q9"])


def test_blocks_of_one_client_each_are_dealt_to_folds_at_random() -> None:
    """Every fold sees every group, though the groups of a view come in turn; seeded."""
    tally = tally_of([2, 2, 2, 2], 5, rule="classic-clients")
    folds = divide(evidence_of(tally), 8, rng=np.random.default_rng(0))
    for fold in range(8):
        held = folds.evidence_held(fold)
        assert {group for batch in held.batches for group in batch.groups} == set(
            combinations(range(4), 2)
        )
    assert sum(folds.evidence_held(fold).people for fold in range(8)) == 2 * 900


def test_only_two_coins_counted_one_by_one_are_stacked() -> None:
    """Other reports are refused with what would do."""
    with pytest.raises(EstimationError, match="k-ary"):
        stacks_of(tally_of([6, 6], 2, "views", channel="subset"))


def test_the_sights_of_a_whole_table_are_found_without_the_others() -> None:
    """They are those that cover it among all sights; none if nobody was asked all of it."""
    evidence = evidence_of(tally_of([2, 3, 2, 2], 3, block_size=300))
    found = covering_of(evidence, ["q2", "q1"])
    among = observe(evidence, ["q2", "q1"]).covering
    assert [sight.counts.tolist() for sight in found] == [sight.counts.tolist() for sight in among]
    assert found
    assert covering_of(evidence, ["q0", "q1", "q2"]) == ()
