"""Whatever a design, a report or a tally says, it says again after the trip over the wire."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.channels import channel_for
from deniable.device import Agreement, Answer, Device, MemoryStorage
from deniable.errors import DeniableError, DesignError, ReportError, TallyError
from deniable.protocol import (
    Design,
    Group,
    Tally,
    View,
    block_from_bytes,
    canonical,
    design_from_bytes,
    first_block,
    next_block,
    report_from_bytes,
    round_robin,
    tally_from_bytes,
    tally_of,
)
from deniable.testing import UnsafeSeededCoin, ask_one_design

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@st.composite
def designs(draw: st.DrawFn) -> Design:
    """Draw a design of some views of disjoint groups, through channels of every kind."""
    sizes = draw(st.lists(st.integers(2, 5), min_size=1, max_size=5))
    views, channels = [], []
    kinds = ["k-ary", "subset", "symmetric-unary", "local-hash", "rounded-laplace"]
    for _ in range(draw(st.integers(1, 3))):
        order = draw(st.permutations(range(len(sizes))))
        cuts = sorted(draw(st.sets(st.integers(1, len(sizes)), max_size=2)) | {len(sizes)})
        parts = [tuple(order[a:b]) for a, b in zip([0, *cuts], cuts, strict=False)]
        groups = tuple(Group(part, tuple(sizes[a] for a in part)) for part in parts)
        views.append(View(groups, draw(st.integers(1, 3))))
        kind = draw(st.sampled_from(kinds))
        if kind == "rounded-laplace" and max(g.size for g in groups) > 30:
            kind = "k-ary"
        channels.append(tuple(channel_for(kind, 1.0, group.size) for group in groups))
    return Design(
        survey=draw(st.text(min_size=1, max_size=8).filter(lambda t: t.isprintable())),
        schema="-" * 43,
        attributes=tuple((f"q{place}", size) for place, size in enumerate(sizes)),
        views=tuple(views),
        channels=tuple(channels),
        epsilon=str(len(sizes)),
    )


def respond(design: Design, seed: int) -> bytes:
    """Return one report's bytes."""
    coin = UnsafeSeededCoin(seed)
    device = Device(MemoryStorage(), Agreement(float(len(design.sizes))), coin=coin)
    answer = Answer([coin.below(size) for size in design.sizes], design.sizes)
    return device.respond(design, first_block(design), answer).to_bytes()


@settings(max_examples=60, deadline=None)
@given(designs(), st.integers(0, 2**32))
def test_designs_blocks_reports_and_tallies_round_trip(design: Design, seed: int) -> None:
    """Bytes, digest and contents are the same after reading what was written."""
    again = design_from_bytes(design.to_bytes(), design.digest)
    assert again == design
    assert again.to_bytes() == design.to_bytes()
    block = next_block(design, first_block(design))
    assert block_from_bytes(block.to_bytes(), design, block.digest) == block
    sent = [respond(design, seed + k) for k in range(5)]
    reports = [report_from_bytes(data) for data in sent]
    assert [report.to_bytes() for report in reports] == sent
    assert all(canonical(json.loads(data)) == data for data in sent)
    for joint in (False, True):
        tally = tally_of(design, [first_block(design)], reports, source="a", joint=joint)
        assert tally.total == 5
        assert tally_from_bytes(tally.to_bytes()) == tally


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_tallies_add_in_any_order_and_grouping(parts: list[int], shuffle: object) -> None:
    """However reports are spread over tallies, the sum is the tally of all of them."""
    design = ask_one_design((2, 3, 2))
    block = first_block(design)
    reports = [report_from_bytes(respond(design, seed)) for seed in range(len(parts))]
    whole = tally_of(design, [block], reports, source="all")
    bins = [[r for r, part in zip(reports, parts, strict=True) if part == k] for k in range(4)]
    tallies = [tally_of(design, [block], bin_, source=str(k)) for k, bin_ in enumerate(bins)]
    shuffle.shuffle(tallies)  # type: ignore[attr-defined]
    one, two, three, four = tallies
    left = one.plus(two).plus(three).plus(four)
    right = one.plus(two.plus(three.plus(four)))
    assert left == right
    assert left.counts == whole.counts


@settings(max_examples=200, deadline=None)
@given(JSON)
def test_any_other_json_is_one_clear_error(data: object) -> None:
    """Nothing that is not a design, report or tally raises anything but our own errors."""
    text = json.dumps(data)
    for read, kind in (
        (design_from_bytes, DesignError),
        (report_from_bytes, ReportError),
        (tally_from_bytes, TallyError),
    ):
        try:
            read(text)
        except DeniableError as error:
            assert isinstance(error, kind)  # noqa: PT017
        else:
            message = "arbitrary JSON was taken for a message"
            raise AssertionError(message)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_message_with_one_part_replaced_never_breaks_the_reader(data: st.DataObject) -> None:
    """Replacing any one value of a good message gives a good message or one of our errors."""
    design = ask_one_design((2, 3))
    report = report_from_bytes(respond(design, 1))
    tally = tally_of(design, [first_block(design)], [report], source="a")
    for message, read in (
        (design.to_bytes(), design_from_bytes),
        (report.to_bytes(), report_from_bytes),
        (tally.to_bytes(), tally_from_bytes),
    ):
        found = json.loads(message)
        place: object = found
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))  # type: ignore[arg-type]
            key = data.draw(st.sampled_from(keys))
            inner = place[key]  # type: ignore[index]
            if isinstance(inner, dict | list) and inner and data.draw(st.booleans()):
                place = inner
                continue
            place[key] = data.draw(JSON)  # type: ignore[index]
            break
        try:
            result = read(json.dumps(found))
        except DeniableError:
            continue
        assert isinstance(result, Design | Tally | type(report))


@given(st.integers(1, 40))
def test_round_robin_meets_every_pair_once(count: int) -> None:
    """Every pair meets in exactly one view, and no view holds an attribute twice."""
    views = round_robin(count)
    pairs = [pair for view in views for pair in view]
    assert len(pairs) == len(set(pairs)) == count * (count - 1) // 2
    for view in views:
        members = [attribute for pair in view for attribute in pair]
        assert len(members) == len(set(members))
    assert len(views) == (count - 1 if count % 2 == 0 else count) or count == 1
