"""What the researcher sees while a survey is collected, and what shows that somebody lies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

from deniable.channels import fresh_id
from deniable.collection import Collection, MemoryStore
from deniable.collection.arrival import Arrival
from deniable.collection.impossible import impossible
from deniable.collection.live import learned, results_of
from deniable.collection.recording import record
from deniable.device import Agreement, Answer, Device, MemoryStorage
from deniable.errors import TallyError
from deniable.estimation import estimate
from deniable.planning.rehearsal import rehearse
from deniable.protocol import Tally, design_for, encode_bytes, first_block, tally_of
from deniable.schema import Attribute, Privacy, Schema, Survey
from deniable.testing import UnsafeSeededCoin

if TYPE_CHECKING:
    from deniable.protocol import Report

SEX = Attribute.nominal("sex", ["f", "m"])
CITY = Attribute.nominal("city", ["a", "b", "c"])


def survey_of(
    design: Literal["independent", "joint"] = "independent",
    epsilon: float = 1.0,
    **options: object,
) -> Survey:
    """Describe a survey of two questions."""
    options = {key: value for key, value in options.items() if value}
    return Survey("health", Schema((SEX, CITY)), Privacy(epsilon, design, options))


class House:
    """A server without HTTP that is sent whatever a test wants."""

    def __init__(self, survey: Survey) -> None:
        """Publish the survey."""
        self.collection = Collection(MemoryStore())
        self.collection.present(survey)

    def send(self, values: str, times: int, view: int = 0) -> None:
        """Let reports of these values arrive in the block that is open."""
        offer = self.collection.offer("health")
        assert offer.current is not None
        number = offer.current.number
        ids = [encode_bytes(fresh_id()) for _ in range(times)]
        arrivals = [Arrival(offer.key, one, number, view, values) for one in ids]
        assert set(record(self.collection.store, arrivals, now=0)) == {"accepted"}

    def shown(self) -> dict[str, Any]:
        """Return what the results page gets."""
        return results_of(self.collection, "health")


@pytest.mark.parametrize("block_size", [0, 100])
def test_the_page_shows_what_the_estimator_says(block_size: int) -> None:
    """Shares and intervals are those of the unbiased estimator, however many blocks there are."""
    house = House(survey_of(channel="k-ary", block_size=block_size))
    for values, times in (("[[0],[2]]", 160), ("[[1],[0]]", 90), ("[[1],[1]]", 50)):
        house.send(values, times)
    tally = house.collection.tally("health")
    for shown in house.shown()["attributes"]:
        table = estimate(tally, [shown["name"]], method="unbiased", rng=np.random.default_rng(1))
        interval = table.interval(0.95)
        assert shown["people"] == 300
        assert shown["estimate"] == pytest.approx(table.estimate, abs=1e-6)
        assert shown["low"] == pytest.approx(interval.low, abs=1e-6)
        assert shown["high"] == pytest.approx(interval.high, abs=1e-6)
        last = shown["convergence"][-1]
        assert (last["people"], last["estimate"]) == (300, shown["estimate"])


def test_too_few_people_are_shown_no_shares() -> None:
    """Below thirty who were asked, the numbers would pretend to a precision that is not there."""
    house = House(survey_of())
    assert house.shown()["attributes"][0]["people"] == 0
    house.send("[[0],[2]]", 29)
    assert [one["estimate"] for one in house.shown()["attributes"]] == [None, None]
    house.send("[[0],[2]]", 1)
    assert None not in [one["estimate"] for one in house.shown()["attributes"]]


def test_an_interval_stays_wide_for_a_category_that_nobody_named() -> None:
    """No report of a category is no certainty that nobody is in it."""
    house = House(survey_of("joint", 4.0, channel="k-ary"))
    house.send("[[0]]", 25)
    house.send("[[3]]", 25)
    city = house.shown()["attributes"][1]
    assert city["estimate"][2] < 0
    assert city["low"][2] == 0.0
    assert city["high"][2] > 0.03


@pytest.mark.parametrize("channel", ["k-ary", "subset", "two-coin"])
def test_a_flood_of_one_report_shows(channel: str) -> None:
    """Everybody says the same, which no population of honest devices can; few do not show."""
    honest, liars = tallied(channel, 2_000, 0), tallied(channel, 0, 500)
    assert impossible(honest) == []
    found: Any = impossible(liars)[0]
    assert found["attributes"] == [0, 1]
    low, high = found["possible"]
    assert not low <= found["seen"] <= high


def tallied(channel: str, honest: int, liars: int) -> Tally:
    """Count honest reports of people of all kinds, and liars who repeat one report."""
    design = design_for(survey_of("joint", channel=channel))
    block = first_block(design)
    rng = np.random.default_rng(5)
    reports: list[Report] = []
    for answer in rng.integers((2, 3), size=(honest + 1, 2)).tolist():
        device = Device(MemoryStorage(), Agreement(1.0), coin=UnsafeSeededCoin(len(reports)))
        reports.append(device.respond(design, block, Answer(tuple(answer), design.sizes)))
    lie = reports.pop()
    reports += [replace(lie, identity=fresh_id()) for _ in range(liars)]
    return tally_of(design, [block], reports, source="here")


def test_a_flood_into_one_block_does_not_drown_among_the_others() -> None:
    """Blocks of one channel are looked at together, and each by itself."""
    house = House(survey_of("joint", channel="k-ary", block_size=600))
    for _ in range(5):
        for cell in range(6):
            house.send(f"[[{cell}]]", 100)
    assert house.shown()["impossible"] == []
    house.send("[[4]]", 200)
    (found,) = house.shown()["impossible"]
    assert (found["blocks"], found["answers"]) == ([5], [1, 1])
    house.send("[[4]]", 4_000)
    pooled = [one["blocks"] for one in house.shown()["impossible"] if one["answers"] == [1, 1]]
    assert pooled == [[0, 1, 2, 3, 4, 5]]


def test_tallies_of_whole_reports_are_merged_group_by_group() -> None:
    """Another server may send either kind; whole reports are added as such only to such."""
    survey = survey_of("independent", channel="k-ary")
    here, there, yonder = House(survey), House(survey), House(survey)
    there.send("[[0],[2]]", 40)
    yonder.send("[[1],[2]]", 50)
    whole = there.collection.tally("health", joint=True)
    assert here.collection.merge("health", whole.to_bytes())
    here.send("[[1],[1]]", 60)
    assert here.collection.tally("health").total == 100
    assert here.shown()["attributes"][0]["people"] == 100
    assert here.shown()["merged"] == 1
    joint = here.collection.tally("health", joint=True)
    assert sorted(sum(counts.values()) for counts in joint.counts.values()) == [100]
    assert here.collection.merge("health", yonder.collection.tally("health").to_bytes())
    assert here.collection.tally("health").total == 150
    with pytest.raises(TallyError, match="whole reports"):
        here.collection.tally("health", joint=True)
    assert here.collection.tally("health", joint=True, own=True).total == 60


def test_a_tally_that_counts_the_same_reports_twice_is_refused() -> None:
    """Whole reports beside the groups of the same reports would count everybody twice."""
    house = House(survey_of("independent", channel="k-ary"))
    house.send("[[0],[2]]", 40)
    whole, single = (house.collection.tally("health", joint=joint) for joint in (True, False))
    both = replace(whole, counts={**whole.counts, **single.counts}, sources=frozenset({"x"}))
    with pytest.raises(TallyError, match="twice"):
        House(survey_of("independent", channel="k-ary")).collection.merge("health", both.to_bytes())


def test_where_every_block_has_channels_of_its_own_fewer_points_are_shown() -> None:
    """What a look at the results costs stays bounded however many blocks there are."""
    schema = Schema(tuple(Attribute.nominal(name, ["x", "y", "z"]) for name in "abcd"))
    design = design_for(Survey("q", schema, Privacy(1.0, "rrba", {"k": 2, "block_size": 5})))
    tally = rehearse(design, np.random.default_rng(2).integers(0, 3, size=(1_500, 4)))
    assert len({block.channels for block in tally.blocks.values()}) > 100
    for shown in learned(tally):
        assert len(shown["convergence"]) <= 10  # 20 where channels are few
        assert (shown["people"], shown["convergence"][-1]["people"]) == (1_500, 1_500)
