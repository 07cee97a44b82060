"""Every protocol works over the real server: devices, blocks, tallies, and the truth in the end."""

from __future__ import annotations

import math
import time
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import pytest

from deniable.channels import TwoCoin
from deniable.collection import Collection, MemoryStore, Settings, create_app, serving
from deniable.collection.simulating import Line, Notice, simulate
from deniable.device import Agreement, Answer, Device, MemoryStorage, examine, reports_body
from deniable.estimation import estimate
from deniable.planning.clusters import cluster
from deniable.planning.learning import learn_from_estimates
from deniable.schema import Attribute, Privacy, Schema, Survey
from deniable.testing import UnsafeSeededCoin

if TYPE_CHECKING:
    from deniable.protocol import Block, Design, Report, Tally

FALSE_ALARM = 1e-9
FAR = NormalDist().inv_cdf(1 - FALSE_ALARM / 2)
TRUTH = np.array([[0.42, 0.08], [0.13, 0.37]])
SIZES = (2, 2, 3)
NAMES = ("smokes", "drinks", "region")
EPSILON = 6.0
SETTINGS = Settings()
TOGETHER = 200
SEEDS = 16
LONGEST_WAIT = 300.0

DESIGNS: list[tuple[str, dict[str, object]]] = [
    ("independent", {"channel": "k-ary"}),
    ("joint", {}),
    ("clusters", {"clusters": [["smokes", "drinks"]]}),
    ("views", {}),
    ("ask-one", {}),
    ("rrba", {"block_size": 150}),
    ("two-stage", {"block_size": 150}),
]


def people(count: int, seed: int) -> list[list[int]]:
    """Draw respondents of two dependent attributes and one that is independent of both."""
    rng = np.random.default_rng(seed)
    cells = rng.choice(4, count, p=TRUTH.reshape(-1))
    found: list[list[int]] = np.stack(
        [cells // 2, cells % 2, rng.integers(0, 3, count)], 1
    ).tolist()
    return found


def survey_of(design: str, options: dict[str, object], name: str = "habits") -> Survey:
    """Return a survey of a design."""
    attributes = tuple(
        Attribute.nominal(name, [f"c{cell}" for cell in range(size)])
        for name, size in zip(NAMES, SIZES, strict=True)
    )
    return Survey(name, Schema(attributes), Privacy(EPSILON, design, options))  # type: ignore[arg-type]


def wait_for_block(address: str, survey: str, number: int) -> tuple[Design, Block]:
    """Return the design and the block of a number, once it is handed out."""
    notice = Notice(address, survey)
    deadline = time.monotonic() + LONGEST_WAIT
    try:
        while True:
            design, block = notice.read()
            if block.number >= number:
                return design, block
            assert time.monotonic() < deadline, f"block {number} never opened"
            time.sleep(0.05)
    finally:
        notice.close()


def collect(design: str, options: dict[str, object], count: int, seed: int = 1) -> Tally:
    """Serve a survey, let everybody answer by HTTP, and return what was counted."""
    collection = Collection(MemoryStore())
    with serving(create_app(collection, SETTINGS)) as address:
        return ask(collection, address, survey_of(design, options), count, seed)


def ask(collection: Collection, address: str, survey: Survey, count: int, seed: int) -> Tally:
    """Publish a survey on a server that runs, and let everybody answer it.

    Devices toss seeded coins, and as many as a block holds answer each block: the same seed
    gives the same tally, however slow the machine is.
    """
    collection.present(survey)
    everybody = list(enumerate(people(count, seed)))
    wave = int(str(survey.privacy.options.get("block_size", count)))
    line = Line(address)
    for start in range(0, count, wave):
        offered = wait_for_block(address, survey.name, start // wave)
        end = min(start + wave, count)
        for place in range(start, end, TOGETHER):
            some = everybody[place : min(place + TOGETHER, end)]
            reports = [respond(*offered, cells, 10**6 * seed + who) for who, cells in some]
            reply = line.send(f"/v1/surveys/{survey.name}/reports", reports_body(reports))
            assert reply.status == 200, reply.body
    line.close()
    tally = collection.tally(survey.name, joint=True)
    assert tally.total == count
    return tally


def respond(design: Design, block: Block, cells: list[int], seed: int) -> Report:
    """Return what a device of its own sends, having checked the block."""
    device = Device(MemoryStorage(), Agreement(EPSILON + 1e-9), coin=UnsafeSeededCoin(seed))
    return device.respond(design, block, Answer(cells, design.sizes))


@pytest.mark.parametrize(("design", "options"), DESIGNS, ids=[name for name, _ in DESIGNS])
def test_every_protocol_finds_the_truth_over_http(design: str, options: dict[str, object]) -> None:
    """The pair's table is within its own standard errors; the false alarm is 1e-9 a cell."""
    tally = collect(design, options, 600)
    found = estimate(tally, NAMES[:2], rng=np.random.default_rng(0), method="unbiased")
    assert found.people > 0
    assert np.all(np.abs(found.estimate - TRUTH) < FAR * found.standard_error)
    assert FAR * found.standard_error.max() < 0.75  # so that a wrong estimate can be seen


def test_the_server_updates_rrba_and_every_block_keeps_the_promise() -> None:
    """Blocks follow one another, their fake distributions move, no device would refuse one."""
    tally = collect("rrba", {"block_size": 150}, 600)
    assert len(tally.blocks) >= 3
    agreement = Agreement(EPSILON + 1e-9, floor=0.1)
    for block in tally.blocks.values():
        assert examine(tally.design, block, agreement).epsilon <= EPSILON + 1e-9
    first, last = (tally.blocks[number].channels[0][0] for number in (0, max(tally.blocks)))
    assert isinstance(first, TwoCoin)
    assert isinstance(last, TwoCoin)
    assert first.fake != last.fake


def test_the_server_publishes_the_second_stage_and_every_device_accepts_it() -> None:
    """The first block closes, a matrix for dependence opens at the same level, and is answered."""
    tally = collect("two-stage", {"block_size": 300}, 1_500)
    first, second = (tally.blocks[number] for number in (0, 1))
    # At this level some pairs have nothing to win, and keep the first channel.
    assert "matrix" in {channel.kind for view in second.channels for channel in view}
    assert {channel.kind for view in first.channels for channel in view} == {"k-ary"}
    agreement = Agreement(EPSILON + 1e-9)
    assert examine(tally.design, second, agreement).epsilon <= EPSILON + 1e-9
    table = estimate(tally, NAMES[:2], rng=np.random.default_rng(0), method="unbiased")
    # Rare reports weigh much, so the bound is twice that of a normal error.
    assert np.all(np.abs(table.estimate - TRUTH) < 2 * FAR * table.standard_error)
    assert float(table.standard_error.max()) < 0.1


def test_version_1_makes_a_block_of_every_client_over_the_server() -> None:
    """Each client is sent a fake distribution of its own, none of which costs more."""
    tally = collect("rrba", {"rule": "classic-clients", "block_size": 1}, 24)
    assert len(tally.blocks) >= 24
    agreement = Agreement(EPSILON + 1e-9, floor=0.1)
    for block in tally.blocks.values():
        assert examine(tally.design, block, agreement).epsilon <= EPSILON + 1e-9
    moved = {block.channels for block in tally.blocks.values()}
    assert len(moved) > 12  # those whose view's channels moved
    found = estimate(tally, NAMES[:2], rng=np.random.default_rng(0), method="eq-4-clients")
    assert any("earlier tables" in note for note in found.notes)
    assert found.estimate.sum() == pytest.approx(1)


def test_clients_one_after_another_each_find_the_block_of_the_last_one_s_report() -> None:
    """Version 1 with respondents who come as they like: nobody is handed an old block."""
    collection = Collection(MemoryStore())
    collection.present(survey_of("rrba", {"rule": "classic-clients"}))
    with serving(create_app(collection, SETTINGS)) as address:
        answers = people(12, 3)
        outcome = simulate(address, "habits", answers, epsilon=EPSILON + 1e-9, threads=1)
    assert outcome.arrived == 12
    tally = collection.tally("habits")
    assert [sum(tally.people(block, view) for view in range(3)) for block in range(12)] == [1] * 12


def test_clusters_are_learned_published_and_collected_in_two_stages() -> None:
    """Stage one asks each attribute alone; its clusters make the design of stage two."""
    first = collect("independent", {"channel": "k-ary"}, 1_500)
    learned = learn_from_estimates(first, [False] * 3, rng=np.random.default_rng(0))
    found = cluster(learned.dependence, SIZES, most_cells=4, least_dependence=0.2)
    assert found.groups == ((0, 1), (2,))
    named = [[NAMES[attribute] for attribute in group] for group in found.groups]
    second = collect("clusters", {"clusters": named}, 600, seed=2)
    table = estimate(second, NAMES[:2], rng=np.random.default_rng(0), method="unbiased")
    assert np.all(np.abs(table.estimate - TRUTH) < FAR * table.standard_error)
    # Whoever answered both stages spent both: the promise is the sum.
    assert learned.epsilon == pytest.approx(EPSILON, abs=1e-5)


def slope_over_http(design: str, options: dict[str, object], sizes: list[int]) -> float:
    """Return how the error falls with the number of people, on a log scale."""
    errors = []
    collection = Collection(MemoryStore())
    with serving(create_app(collection, SETTINGS)) as address:
        for count in sizes:
            if "block_size" in options:  # the same share of all people, at every size
                options = options | {"block_size": count // 6}
            squares = []
            for seed in range(SEEDS):
                survey = survey_of(design, options, f"habits-{count}-{seed}")
                tally = ask(collection, address, survey, count, seed)
                rng = np.random.default_rng(0)
                found = estimate(tally, NAMES[:2], rng=rng, method="maximum-likelihood")
                squares.append(np.sum((found.estimate - TRUTH) ** 2))
            errors.append(math.sqrt(np.mean(squares)))
    return float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])


PROMPT = [one for one in DESIGNS if one[0] != "two-stage"]  # which is seconds between its blocks


@pytest.mark.parametrize(("design", "options"), PROMPT, ids=[name for name, _ in PROMPT])
def test_the_error_falls_as_the_square_root_of_n_over_http(
    design: str, options: dict[str, object]
) -> None:
    """The slope is −½ ± 0.25, by seeded coins; that of an estimate that stays biased is 0."""
    assert slope_over_http(design, options, [150, 600, 2_400]) == pytest.approx(-0.5, abs=0.25)


@pytest.mark.prove
@pytest.mark.parametrize(("design", "options"), DESIGNS, ids=[name for name, _ in DESIGNS])
def test_the_error_falls_so_for_many_people_over_http(
    design: str, options: dict[str, object]
) -> None:
    """The same, eight times as many people at the most."""
    assert slope_over_http(design, options, [300, 2_400, 19_200]) == pytest.approx(-0.5, abs=0.15)
