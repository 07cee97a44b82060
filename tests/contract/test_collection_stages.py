"""A block whose channels take long to find is prepared beside the work, and opened once."""

from __future__ import annotations

import contextlib
import json
import threading
import urllib.request
from typing import TYPE_CHECKING

import pytest

from deniable.channels import fresh_id
from deniable.collection import Collection, create_app, preparing, rules, serving
from deniable.collection.arrival import Arrival
from deniable.collection.recording import record
from deniable.collection.simulating import Notice, simulate
from deniable.protocol import encode_bytes
from deniable.schema import Attribute, Privacy, Schema, Survey
from tests.contract.servers import Server

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from deniable.collection import Store
    from deniable.protocol import Block, Design, Tally
    from deniable.protocol.design import Channels

SIZE = 40
SCHEMA = Schema((Attribute.nominal("sex", ["f", "m"]), Attribute.nominal("city", ["a", "b"])))
SURVEY = Survey("stages", SCHEMA, Privacy(2.0, "two-stage", {"block_size": SIZE}))


@pytest.fixture
def collection(store: Store) -> Collection:
    """Publish a survey in two stages, whose first block has just closed."""
    collection = Collection(store)
    collection.present(SURVEY)
    assert answer(collection, SIZE) == ["accepted"] * SIZE
    return collection


def answer(collection: Collection, people: int) -> list[str]:
    """Keep reports of the first stage."""
    with collection.store.reading() as reading:
        row = reading.survey("stages")
    assert row is not None
    cells = [place % 4 for place in range(people)]
    sent = [Arrival(row.key, encode_bytes(fresh_id()), 0, 0, f"[[{cell}]]") for cell in cells]
    return list(record(collection.store, sent, now=0))


def blocks(collection: Collection) -> list[tuple[int, int, bool]]:
    """Return number, count and openness of every block."""
    with collection.store.reading() as reading:
        row = reading.survey("stages")
        assert row is not None
        return [(one.number, one.count, one.is_open) for one in reading.blocks(row.key)]


def meanwhile(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Let something happen while the channels of the next block are searched for."""
    found = rules.update_for

    def update_for(design: Design) -> Callable[[Design, Block, Tally], Channels]:
        def update(design: Design, block: Block, tally: Tally) -> Channels:
            happens()
            return found(design)(design, block, tally)

        del design
        return update

    monkeypatch.setattr(preparing, "update_for", update_for)


def test_nobody_waits_for_the_second_stage(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reports are kept while it is prepared, and count in the block they were made for."""
    offer = collection.offer("stages")
    assert offer.is_between_blocks
    assert blocks(collection) == [(0, SIZE, False)]
    fates: list[str] = []

    def write() -> None:
        writer = threading.Thread(target=lambda: fates.extend(answer(collection, 3)), daemon=True)
        writer.start()
        writer.join(20)
        assert not writer.is_alive(), "a transaction is open during the search"

    meanwhile(monkeypatch, write)
    collection.prepare_blocks()
    assert fates == ["accepted"] * 3
    collection.refresh(offer)
    assert not offer.is_between_blocks
    assert offer.current is not None
    assert offer.current.number == 1
    assert blocks(collection) == [(0, SIZE, False), (1, 0, True)]
    assert collection.tally("stages").people(0, 0) == SIZE + 3


def test_one_of_two_who_prepare_the_same_block_opens_it(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever comes second finds it open and changes nothing."""
    row = blocks(collection)
    once = iter([True])

    def prepare_it_first() -> None:
        if next(once, False):
            # As a worker whose lock got lost with its connection would.
            assert preparing._prepare(collection.store, "stages", collection.now)  # noqa: SLF001

    meanwhile(monkeypatch, prepare_it_first)
    assert not preparing.prepare_next(collection.store, "stages", now=collection.now)
    assert blocks(collection) == [*row, (1, 0, True)]
    assert not preparing.prepare_next(collection.store, "stages", now=collection.now)


def test_a_survey_that_is_closed_meanwhile_stays_closed(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No block is opened for a closed survey."""
    meanwhile(monkeypatch, lambda: collection.close("stages"))
    collection.prepare_blocks()
    assert blocks(collection) == [(0, SIZE, False)]
    assert collection.offer("stages").is_closed
    assert not collection.offer("stages").is_between_blocks


def test_a_search_that_is_cut_off_is_made_again(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever ends it, the closed block's tally is there, and the lock is not."""

    def end() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, contextlib.suppress(KeyboardInterrupt):
        meanwhile(patched, end)
        collection.prepare_blocks()
    assert blocks(collection) == [(0, SIZE, False)]
    collection.prepare_blocks()
    assert blocks(collection) == [(0, SIZE, False), (1, 0, True)]


def test_devices_are_told_when_to_come_back(collection: Collection) -> None:
    """Published, without a block, with Retry-After; the server then prepares it by itself."""
    with serving(create_app(collection)) as address:
        for path in ("/v1/surveys/stages", "/v1/surveys/stages/page"):
            with urllib.request.urlopen(address + path) as reply:  # noqa: S310 -- our own
                found = json.loads(reply.read())
            if found["block"] is None:  # else it was prepared already
                assert (found["state"], reply.headers["Retry-After"]) == ("published", "2")
        notice = Notice(address, "stages")
        assert notice.read()[1].number == 1
        notice.close()


def test_a_server_killed_between_the_stages_prepares_the_second(tmp_path: Path) -> None:
    """Killed as soon as the first block has closed, and started again: the second opens."""
    path = tmp_path / "survey.json"
    path.write_text(json.dumps(SURVEY.to_dict()))
    with Server(path, str(tmp_path / "reports.db"), 1) as server:
        people = [(0, 0), (1, 1)] * (SIZE // 2)
        assert simulate(server.address, "stages", people, epsilon=2.1).arrived == SIZE
        server.kill()
        server.start()
        notice = Notice(server.address, "stages")
        assert notice.read()[1].number == 1
        notice.close()
        assert simulate(server.address, "stages", people, epsilon=2.1).arrived == SIZE


def test_workers_take_turns_to_prepare(postgresql: Callable[[], str]) -> None:
    """One at a time, and the next after it, also where two connections ask."""
    from deniable.collection import open_store  # noqa: PLC0415 -- as in the fixture

    where = postgresql()
    one, two = open_store(where), open_store(where)
    with one.preparing("stages") as first, two.preparing("stages") as second:
        assert (first, second) == (True, False)
        with two.preparing("other") as other:
            assert other
    with two.preparing("stages") as second:
        assert second
    one.close()
    two.close()
