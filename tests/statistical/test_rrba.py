"""RRBA finds the truth, converges as √n, and its classic estimator and rule do what is said."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from deniable.bulk.keystream import unsafe_seeded
from deniable.channels import k_ary, variances
from deniable.estimation import estimate
from deniable.estimation.stacks import stacks_of
from deniable.planning.convergence import (
    firing_probability,
    log_odds_width,
    normal_width,
    people_for_width,
    trace,
)
from deniable.planning.rehearsal import rehearse
from deniable.protocol import Tally, design_for
from deniable.schema import Attribute, Privacy, Schema, Survey

FALSE_ALARM = 1e-9
FAR = NormalDist().inv_cdf(1 - FALSE_ALARM / 2)
TRUTH = np.array([[0.42, 0.08], [0.13, 0.37]])


def people(count: int, seed: int) -> np.ndarray:
    """Draw respondents of two dependent attributes and one that is independent of both."""
    rng = np.random.default_rng(seed)
    cells = rng.choice(4, count, p=TRUTH.reshape(-1))
    return np.stack([cells // 2, cells % 2, rng.integers(0, 3, count)], axis=1)


def tally_for(
    count: int, seed: int, design: str, *, joint: bool = False, more: int = 0, **options: object
) -> Tally:
    """Rehearse a design with them; ``more`` attributes besides are the same for everybody."""
    sizes = (2, 2, 3, *[2] * more)
    attributes = tuple(
        Attribute.nominal(f"q{place}", [f"c{cell}" for cell in range(size)])
        for place, size in enumerate(sizes)
    )
    survey = Survey("example", Schema(attributes), Privacy(2.0, design, options))  # type: ignore[arg-type]
    stream = unsafe_seeded(seed, 0)
    joint = joint or design == "independent"  # pairs live in whole reports there
    answers = np.pad(people(count, seed), ((0, 0), (0, more)))
    return rehearse(design_for(survey), answers, stream=stream, joint=joint)


DESIGNS: list[tuple[str, dict[str, Any]]] = [
    ("independent", {}),
    ("joint", {}),
    ("clusters", {"clusters": [["q0", "q1"]]}),
    ("views", {}),
    ("ask-one", {}),
    ("rrba", {"block_size": 2_000}),
]


@pytest.mark.parametrize(("design", "options"), DESIGNS, ids=[name for name, _ in DESIGNS])
def test_every_protocol_s_error_falls_as_the_square_root_of_n(
    design: str, options: dict[str, Any]
) -> None:
    """On a log scale the slope is −½. Seeded, so it never fails by chance; ±0.2 is 4 errors."""
    sizes = [1_000, 4_000, 16_000, 64_000]
    rng = np.random.default_rng(0)
    found, reported = [], []
    for count in sizes:
        squares, raw = [], []
        for seed in range(12):
            tally = tally_for(count, 100 * seed + 7, design, **options)
            pooled = estimate(tally, ["q0", "q1"], rng=rng, method="maximum-likelihood").estimate
            squares.append(np.sum((pooled - TRUTH) ** 2))
            raw.append(np.sum((0.5 * pooled + 0.125 - TRUTH) ** 2))  # as if half were still faked
        found.append(math.sqrt(np.mean(squares)))
        reported.append(math.sqrt(np.mean(raw)))
    slope = np.polyfit(np.log(sizes), np.log(found), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.2)
    assert np.polyfit(np.log(sizes), np.log(reported), 1)[0] > -0.3  # a biased one is told apart


def test_pooled_blocks_hold_the_truth_within_their_error() -> None:
    """The running estimate is within its own standard errors, false alarm 1e-9 a cell."""
    courses: list[tuple[str, int, dict[str, Any]]] = [
        ("classic-blocks", 24_000, {"block_size": 750}),
        ("classic-clients", 700, {}),
    ]
    for rule, count, options in courses:
        found = trace(tally_for(count, 11, "rrba", rule=rule, **options), ["q0", "q1"])
        assert np.all(np.abs(found.running[-1] - TRUTH) < FAR * found.error[-1])
        assert np.all(FAR * found.error[-1] < (0.35 if count > 1_000 else 2.5))


def test_more_blocks_narrow_the_pooled_interval_and_not_the_last_two() -> None:
    """Sixteen times the blocks: a quarter of the pooled error, the same last-two error."""
    spread: dict[int, tuple[float, float]] = {}
    for blocks in (4, 64):
        last, running = [], []
        for seed in range(10):
            tally = tally_for(450 * blocks, seed, "rrba", block_size=450)
            found = trace(tally, ["q0", "q1"])
            last.append(found.last_two - TRUTH)
            running.append(found.running[-1] - TRUTH)
        spread[blocks] = float(np.std(last)), float(np.std(running))
    assert 0.6 < spread[64][0] / spread[4][0] < 1.7
    assert spread[64][1] / spread[4][1] < 0.45


def test_the_last_two_of_a_trace_are_the_registry_s() -> None:
    """Step 4 of Imran's section 5 is computed in one way only."""
    tally = tally_for(3_000, 3, "rrba", block_size=600)
    found = estimate(tally, ["q0", "q1"], rng=np.random.default_rng(0), method="last-two-blocks")
    assert trace(tally, ["q0", "q1"]).last_two == pytest.approx(found.estimate)


@pytest.mark.parametrize("rule", ["classic-blocks", "classic-clients"])
def test_the_classic_estimates_are_the_same_however_the_reports_are_counted(rule: str) -> None:
    """Groups kept together show a pair across groups, too; eq. 4 speaks of its own group only."""
    size = 300 if rule == "classic-blocks" else 1
    count = 2_400 if rule == "classic-blocks" else 150
    apart, together = (
        tally_for(count, 5, "rrba", joint=joint, more=1, rule=rule, block_size=size)
        for joint in (False, True)
    )
    rng = np.random.default_rng(0)
    for method in ("eq-4-clients", "eq-4-blocks", "last-two-blocks"):
        one, two = (
            estimate(t, ["q0", "q1"], rng=rng, method=method).estimate for t in (apart, together)
        )
        assert one == pytest.approx(two), method
    plain, joint = (trace(tally, ["q0", "q1"]) for tally in (apart, together))
    assert plain.blocks == joint.blocks
    assert plain.counted == joint.counted
    assert plain.step == pytest.approx(joint.step)
    assert plain.tolerance() == pytest.approx(joint.tolerance())
    # What is known so far is another matter: there, whoever answered both tells.
    assert sum(joint.people) == count > 2 * sum(plain.people)
    if rule == "classic-blocks":  # of single clients the variances are no more than guesses
        assert joint.error[-1].max() < plain.error[-1].max()


def test_version_1_is_traced_by_all_clients_so_far() -> None:
    """T of a client moves by one report in n, not by one report alone."""
    found = trace(tally_for(200, 3, "rrba", rule="classic-clients"), ["q0", "q1"])
    clients = len(found.blocks)
    assert found.counted == tuple(range(1, clients + 1))
    assert found.people == (1,) * clients
    assert found.step[-1].max() < 8 / clients
    assert found.estimate[-1].sum() == pytest.approx(1)


def test_the_classic_rule_fires_by_chance_whatever_the_block_size() -> None:
    """It fires with 2Φ(√2·z·p) − 1 a block; a tenth more or less is told apart, alarm 1e-9."""
    rng = np.random.default_rng(8)
    share, truth, rounds = 0.3, 0.4, 40_000
    expected = firing_probability(truth)
    band = FAR * math.sqrt(expected * (1 - expected) / rounds)
    assert band < expected / 15
    for size in (5_000, 500_000):
        seen = rng.binomial(size, share, (2, rounds)) / size
        blocks = (seen - (1 - truth) * share) / truth  # T is the truth already
        width = normal_width(np.full(rounds, share), size)
        fired = np.mean(np.abs(blocks[1] - blocks[0]) < width)
        assert abs(fired - expected) < band + 0.01  # shares of a block come in steps


def test_widths_are_the_published_ones_and_agree_where_both_hold() -> None:
    """Normal and log-odds intervals are alike for many answers, and differ for few."""
    assert normal_width(np.array(0.5), 100, 0.95) == pytest.approx(2 * 1.95996 * 0.05, rel=1e-4)
    assert log_odds_width(np.array(0.3), 10_000) == pytest.approx(
        normal_width(np.array(0.3), 10_000), rel=1e-3
    )
    assert log_odds_width(np.array(0.02), 50) > normal_width(np.array(0.02), 50)
    assert log_odds_width(np.array(0.0), 50) > 0 == normal_width(np.array(0.0), 50)


def test_a_trace_stops_at_the_width_asked_for() -> None:
    """The block it names is the first whose intervals are all narrow enough."""
    found = trace(tally_for(20_000, 5, "rrba", block_size=1_000), ["q0", "q1"])
    widths = 2 * NormalDist().inv_cdf(0.975) * found.error.reshape(len(found.blocks), -1)
    wanted = float(widths[9].max()) * (1 + 1e-9)
    stop = found.stop_at_width(wanted)
    assert stop is not None
    assert stop <= 10
    assert widths[stop - 1].max() <= wanted < widths[: stop - 1].max(axis=1).min()
    assert found.stop_at_width(0.001) is None
    classic = found.classic_stop()
    assert classic is None or classic >= 2
    assert found.tolerance(kind="log-odds").shape == found.estimate.shape


def test_block_size_advice_gives_the_width() -> None:
    """With as many people as advised, the interval is as wide as wanted and no wider."""
    channel = k_ary(1.0, 4)
    count = people_for_width(channel, 0.1, share=0.3)
    each = float(variances(channel, [0.3, 0.7 / 3, 0.7 / 3, 0.7 / 3])[0])
    width = 2 * NormalDist().inv_cdf(0.975) * math.sqrt(each / count)
    assert width <= 0.1 < width * math.sqrt(count / (count - 1)) * 1.0001


def test_stacked_likelihood_is_no_worse_than_the_pooled_inverse() -> None:
    """On average over seeds the likelihood of all blocks beats the last two by far."""
    stacked, classic = [], []
    for seed in range(8):
        tally = tally_for(24_000, seed, "rrba", block_size=750)
        stacked.append(np.sum((stacks_of(tally).most_likely((0, 1)).table - TRUTH) ** 2))
        classic.append(np.sum((trace(tally, ["q0", "q1"]).last_two - TRUTH) ** 2))
    assert np.mean(classic) > 8 * np.mean(stacked)
