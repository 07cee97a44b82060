"""Every store keeps the same promises: memory, SQLite, PostgreSQL."""

from __future__ import annotations

import contextlib
import random
import sqlite3
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from deniable.channels import fresh_id
from deniable.collection.arrival import Arrival
from deniable.collection.recording import record
from deniable.collection.service import Collection, Terms
from deniable.collection.store import (
    BlockRow,
    MemoryStore,
    ReportRow,
    TokenRow,
    fresh,
    open_store,
    pages_of_reports,
)
from deniable.collection.tokens import check_token, hash_of, issue_token
from deniable.errors import (
    ConflictError,
    NotFoundError,
    ScopeError,
    StateError,
    StorageError,
    TokenError,
    TwiceError,
)
from deniable.protocol import encode_bytes, tally_from_bytes
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.collection.store import Store

SCHEMA = Schema((Attribute.nominal("sex", ["f", "m"]), Attribute.nominal("city", ["a", "b", "c"])))


def survey_of(name: str = "health", block_size: int = 0) -> Survey:
    """Describe a survey of two questions, asked one at a time."""
    options: dict[str, object] = {"k": 1, "channel": "k-ary"}
    if block_size:
        options["block_size"] = block_size
    return Survey(name, SCHEMA, Privacy(1.0, "ask-one", options))


def published(store: Store, *, block_size: int = 0, terms: Terms | None = None) -> Collection:
    """Publish the survey."""
    collection = Collection(store, clock=lambda: 1_000)
    collection.draft(survey_of(block_size=block_size), terms)
    collection.publish("health")
    return collection


def key_of(store: Store) -> int:
    """Return the store's number of the survey."""
    with store.reading() as reading:
        row = reading.survey("health")
    assert row is not None
    return row.key


def arrival(key: int, *, block: int = 0, cell: int = 0, code: str = "") -> Arrival:
    """Make a report of view 0 with an id of its own."""
    return Arrival(key, encode_bytes(fresh_id()), block, 0, f"[[{cell}]]", code)


def test_a_report_is_kept_once_whatever_comes_again(store: Store) -> None:
    """Same id and bytes succeed again and again; other bytes conflict; the first stays."""
    published(store)
    first = arrival(key_of(store))
    other = first._replace(values="[[1]]")
    assert record(store, [first, first, other], now=0) == ["accepted", "repeated", "conflict"]
    assert record(store, [other, first], now=0) == ["conflict", "repeated"]
    with store.reading() as reading:
        kept = list(pages_of_reports(reading, first.survey))
    assert kept == [ReportRow(first.id, 0, 0, "[[0]]", late=False)]


def test_the_same_id_in_another_survey_is_another_report(store: Store) -> None:
    """Ids are unique within a survey; two surveys in one group do not disturb each other."""
    collection = published(store)
    collection.draft(survey_of("second"))
    collection.publish("second")
    with store.reading() as reading:
        keys = [row.key for row in reading.surveys()]
    one = arrival(keys[0])
    fates = record(store, [one, one._replace(survey=keys[1]), one], now=0)
    assert fates == ["accepted", "accepted", "repeated"]
    assert collection.tally("second").total == collection.tally("health").total == 1


def test_a_transaction_that_fails_keeps_nothing(store: Store) -> None:
    """An error in the middle leaves the store as it was."""
    published(store)
    key = key_of(store)
    row = ReportRow("a" * 22, 0, 0, "[[0]]", late=False)
    with pytest.raises(ZeroDivisionError), store.writing() as writing:  # noqa: PT012
        writing.add_reports(key, [row])
        writing.add_refusals(key, {"why": 1})
        writing.add_to_block(key, 0, 1)
        raise ZeroDivisionError
    with store.reading() as reading:
        assert reading.kept(key, [row.id]) == {}
        assert reading.refusals(key) == {}
        block = reading.open_block(key)
        assert block is not None
        assert block.count == 0


def test_a_kept_report_is_never_written_over(store: Store) -> None:
    """If one of the ids is kept already, the transaction fails and adds none of the reports."""
    published(store)
    key = key_of(store)
    row = ReportRow("a" * 22, 0, 0, "[[0]]", late=False)
    with store.writing() as writing:
        writing.add_reports(key, [row])
        writing.add_reports(key, [])
    with pytest.raises(ConflictError), store.writing() as writing:
        writing.add_reports(key, [row._replace(id="b" * 22), row._replace(values="x")])
    with store.reading() as reading:
        assert reading.kept(key, [row.id, "b" * 22]) == {row.id: row}


def test_a_block_closes_at_its_size_and_what_comes_later_is_late(store: Store) -> None:
    """The tally of a block holds exactly its size; late reports count in their block too."""
    collection = published(store, block_size=3)
    key = key_of(store)
    assert record(store, [arrival(key) for _ in range(5)], now=0) == ["accepted"] * 5
    with store.reading() as reading:
        first, second = reading.blocks(key)
        assert reading.blocks(key, 1) == [second]
        assert reading.open_block(key) == second
    assert (first.count, first.is_open, second.number, second.is_open) == (3, False, 1, True)
    assert first.tally is not None
    assert tally_from_bytes(first.tally).total == 3
    assert tally_from_bytes(collection.block_tally("health", 0)).total == 3
    record(store, [arrival(key), arrival(key, block=1)], now=0)
    assert collection.block_tally("health", 0) == first.tally
    whole = collection.tally("health")
    assert whole.people(0, 0) == 6
    assert whole.people(1, 0) == 1
    assert {source.partition("/")[2] for source in whole.sources} == {
        "health/0",
        "health/0/late",
        "health/1",
    }


def test_many_writers_close_every_block_exactly_once(store: Store) -> None:
    """Eight writers at once: blocks follow each other without gap, each with its size."""
    collection = published(store, block_size=10)
    key = key_of(store)

    def write() -> None:
        for _ in range(12):
            with store.reading() as reading:
                block = reading.open_block(key)
            assert block is not None
            record(store, [arrival(key, block=block.number) for _ in range(4)], now=0)

    writers = [threading.Thread(target=write) for _ in range(8)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    assert collection.tally("health").total == 8 * 12 * 4
    with store.reading() as reading:
        blocks = reading.blocks(key)
    assert [block.number for block in blocks] == list(range(len(blocks)))
    assert [block.is_open for block in blocks] == [False] * (len(blocks) - 1) + [True]
    for block in blocks[:-1]:
        assert block.tally is not None
        assert tally_from_bytes(block.tally).total == block.count == 10


def test_a_block_closes_at_its_time_unless_it_is_empty(store: Store) -> None:
    """An empty block waits for another stretch; one with a report closes, once."""
    clock = [1_000]
    collection = Collection(store, clock=lambda: clock[0])
    collection.draft(survey_of(), Terms(block_seconds=60))
    collection.publish("health")
    key = key_of(store)

    def numbers() -> list[tuple[int, int | None]]:
        with store.reading() as reading:
            return [(block.number, block.closes_at) for block in reading.blocks(key)]

    clock[0] += 61
    collection.close_due_blocks()
    assert numbers() == [(0, 1_121)]
    record(store, [arrival(key)], now=clock[0])
    collection.close_due_blocks()
    assert numbers() == [(0, 1_121)]
    clock[0] = 1_121
    collection.close_due_blocks()
    collection.close_due_blocks()
    assert numbers() == [(0, 1_121), (1, 1_181)]


def test_a_clock_that_is_moved_changes_no_count(store: Store) -> None:
    """Back to 1970 and far ahead: blocks close at odd times, and every report counts once."""
    clock = [1_000]
    collection = Collection(store, clock=lambda: clock[0])
    collection.draft(survey_of(), Terms(block_seconds=60))
    collection.publish("health")
    key = key_of(store)
    for moment in (10**9, 0, 2 * 10**9, 5, 10**9):
        clock[0] = moment
        with store.reading() as reading:
            block = reading.open_block(key)
        assert block is not None
        collection.record([arrival(key, block=block.number)], {})
        collection.close_due_blocks()
    assert collection.tally("health").total == 5


def test_a_closed_survey_accepts_nothing_new_but_recognizes_what_it_has(store: Store) -> None:
    """A retry of a kept report succeeds for ever; a new one is refused; all blocks are closed."""
    collection = published(store)
    one = arrival(key_of(store))
    record(store, [one], now=0)
    collection.close("health")
    assert record(store, [one, arrival(one.survey)], now=0) == ["repeated", "closed"]
    with store.reading() as reading:
        assert reading.open_block(one.survey) is None
    with pytest.raises(StateError):
        collection.publish("health")
    with pytest.raises(StateError):
        collection.draft(survey_of())


def test_a_draft_can_change_and_go_and_what_is_published_cannot(store: Store) -> None:
    """The definition is locked by publishing."""
    collection = Collection(store)
    collection.draft(survey_of())
    collection.draft(survey_of(block_size=5), Terms(invited=True))
    with pytest.raises(NotFoundError):
        collection.offer("health")
    collection.discard("health")
    with pytest.raises(NotFoundError):
        collection.publish("health")
    published(store)
    with pytest.raises(StateError):
        collection.discard("health")
    assert collection.offer("health").current is not None


def test_an_invitation_is_good_for_one_report(store: Store) -> None:
    """Unknown and used codes are refused; a retry of the report itself succeeds."""
    collection = published(store, terms=Terms(invited=True))
    code, other = (hash_of(code) for code in collection.invite("health", 2))
    key = key_of(store)
    first = arrival(key, code=code)
    both = [first, arrival(key, code=code)]
    assert record(store, both, now=0) == ["accepted", "invitation-used"]
    assert record(store, [first, arrival(key)], now=0) == ["repeated", "uninvited"]
    assert record(store, [arrival(key, code="x"), arrival(key, code=other)], now=0) == [
        "uninvited",
        "accepted",
    ]
    with store.reading() as reading:
        assert reading.invitation_totals(key) == (2, 2)


def test_a_reading_sees_one_state(store: Store) -> None:
    """What is kept while somebody reads shows only to who reads afterwards."""
    published(store)
    key = key_of(store)
    writer = threading.Thread(target=record, args=(store, [arrival(key)]), kwargs={"now": 0})
    with store.reading() as reading:
        assert reading.counts(key) == []
        writer.start()
        writer.join(0.3)  # a store may let the writer wait, or not
        assert reading.counts(key) == []
    writer.join()
    with store.reading() as reading:
        assert [count.reports for count in reading.counts(key)] == [1]


def answered_by_invitation(store: Store, people: int) -> Collection:
    """Let invited people answer one after another, in another order than they were invited."""
    collection = published(store, terms=Terms(invited=True))
    key = key_of(store)
    codes = collection.invite("health", people)
    for place in range(people):
        code = codes[place * 7 % people]
        assert record(store, [arrival(key, code=hash_of(code))], now=0) == ["accepted"]
    return collection


def test_postgresql_forgets_the_order_and_what_came_together(postgresql: Callable[[], str]) -> None:
    """The transaction that wrote a row shows at first, and the place on the disk; then neither."""
    where = postgresql()
    store = open_store(where)
    collection = answered_by_invitation(store, 10)
    pairs = b"SELECT 1 FROM report JOIN invitation ON report.xmin = invitation.xmin"
    order = b"SELECT id, xmin::text FROM report ORDER BY ctid"
    with psycopg.connect(where, autocommit=True) as connection:
        assert len(connection.execute(pairs).fetchall()) == 10
        collection.tidy()
        assert connection.execute(pairs).fetchall() == []
        assert len(set(connection.execute(order).fetchall())) == 10
        collection.close("health")
        rows = connection.execute(order).fetchall()
        text = file_of(connection, "report")
    assert [name for name, _ in rows] == sorted(name for name, _ in rows)
    assert {text.count(name.encode()) for name, _ in rows} == {1}, "no older copy is left behind"
    assert len({transaction for _, transaction in rows}) == 1
    assert len(rows) == collection.tally("health").total == 10
    store.close()


def file_of(connection: psycopg.Connection[Any], table: str) -> bytes:
    """Return a table's file as whoever took the disk would see it."""
    connection.execute("CHECKPOINT")
    found = connection.execute(
        "SELECT current_setting('data_directory'), pg_relation_filepath(%s)", (table,)
    ).fetchone()
    assert found is not None
    return Path(*found).read_bytes()


def test_sqlite_cuts_its_log_and_lays_down_by_id(tmp_path: Path) -> None:
    """The log of changes is emptied; after closing, the reports lie in the file by their ids."""
    path = tmp_path / "reports.db"
    store = open_store(str(path))
    collection = answered_by_invitation(store, 10)
    log = path.with_name("reports.db-wal")
    assert log.stat().st_size > 0
    collection.tidy()
    assert log.stat().st_size == 0
    (code,) = collection.invite("health", 1)
    assert record(store, [lowest(key_of(store), code)], now=0) == ["accepted"]
    collection.tidy()
    with store.reading() as reading:
        names = [row.id.encode() for row in pages_of_reports(reading, key_of(store))]

    def places() -> list[int]:
        text = path.read_bytes()
        return [text.rindex(name) for name in names]

    assert sorted(places(), reverse=True) != places()
    collection.close("health")
    # A page is filled from its end.
    assert sorted(places(), reverse=True) == places()
    assert {path.read_bytes().count(name) for name in names} == {1}, "no older copy is left behind"
    assert log.stat().st_size == 0
    store.close()


def test_sqlite_keeps_each_report_once_wherever_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loose, in parts or laid down; two processes by turns, failures, restarts: as in memory."""
    monkeypatch.setattr(fresh, "MOST_LOOSE", 20)
    monkeypatch.setattr(fresh, "MOST_FRESH", 60)
    chance = random.Random(1)  # noqa: S311 -- what comes again, and where
    path = str(tmp_path / "reports.db")
    model, stores = MemoryStore(), [open_store(path), open_store(path)]
    published(model)
    published(stores[0])
    key = key_of(model)
    assert key == key_of(stores[0])
    sent, places = [arrival(key)], set[tuple[bool, bool, bool]]()
    for _ in range(120):
        new = [arrival(key, cell=chance.randrange(2)) for _ in range(chance.randrange(12))]
        old = [chance.choice(sent) for _ in range(3)]
        group = [*new, *old, old[0]._replace(values="[[2]]")]
        store = chance.choice(stores)
        if chance.random() < 0.2:
            fail_after(store, key, new)
        assert record(store, group, now=0) == record(model, group, now=0)
        sent += group
        places.add(where_reports_lie(path))
        if chance.random() < 0.05:
            stores[0].close()
            stores[0] = open_store(path)
        if chance.random() < 0.05:
            store.tidy()
            assert where_reports_lie(path)[:2] == (False, False)
        with store.reading() as reading, model.reading() as expected:
            assert sorted(reading.counts(key)) == sorted(expected.counts(key))
            assert list(pages_of_reports(reading, key, 7)) == list(pages_of_reports(expected, key))
    assert (True, True, True) in places
    for one in stores:
        one.close()


def fail_after(store: Store, key: int, new: list[Arrival]) -> None:
    """Keep reports in a transaction that is given up."""
    rows = [ReportRow(one.id, 0, 0, one.values, late=False) for one in new]
    with pytest.raises(ZeroDivisionError), store.writing() as writing:  # noqa: PT012
        writing.add_reports(key, rows)
        raise ZeroDivisionError


def where_reports_lie(path: str) -> tuple[bool, bool, bool]:
    """Tell whether there are loose bundles, parts, and reports laid down."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        asked = ("fresh WHERE part = ''", "fresh WHERE part > ''", "report")
        found = [connection.execute(f"SELECT 1 FROM {one} LIMIT 1").fetchone() for one in asked]  # noqa: S608
    return found[0] is not None, found[1] is not None, found[2] is not None


def lowest(key: int, code: str) -> Arrival:
    """Make a report that is first by its id, whenever it comes."""
    return arrival(key, code=hash_of(code))._replace(id="-" * 21 + "A")


def test_refusals_are_added_up_by_reason(store: Store) -> None:
    """Counts of refused reports survive from one group to the next."""
    published(store)
    key = key_of(store)
    record(store, [], now=0, refusals={key: {"a": 2, "b": 1}})
    record(store, [arrival(key)], now=0, refusals={key: {"a": 3}})
    with store.reading() as reading:
        assert reading.refusals(key) == {"a": 5, "b": 1}


def test_a_token_is_kept_as_a_hash_has_a_scope_and_expires(store: Store) -> None:
    """Nothing but the right token, in time, for the right survey and purpose is let in."""
    token = issue_token(store, "research", survey="health", now=100, seconds=10)
    check_token(store, token, "research", "health", now=109)
    with pytest.raises(TokenError):
        check_token(store, token, "research", "health", now=110)
    with pytest.raises(TokenError):
        check_token(store, token + "x", "research", "health", now=100)
    with pytest.raises(TokenError):
        check_token(store, hash_of(token), "research", "health", now=100)
    with pytest.raises(TokenError):
        check_token(store, None, "research", "health", now=100)
    with pytest.raises(ScopeError):
        check_token(store, token, "manage", "health", now=100)
    with pytest.raises(ScopeError):
        check_token(store, token, "research", "other", now=100)
    with store.writing() as writing:
        kept = writing.token(hash_of(token))
        assert kept == TokenRow(hash_of(token), "research", "health", 110)
        writing.remove_expired_tokens(110)
        assert writing.token(hash_of(token)) is None


def test_tallies_of_other_servers_are_added_once(store: Store) -> None:
    """Order does not matter; the same tally again changes nothing; an overlap is refused."""
    elsewhere = []
    for number in (2, 3):
        other = MemoryStoreWith(number)
        elsewhere.append(other.tally())
    collection = published(store)
    record(store, [arrival(key_of(store))], now=0)
    assert collection.merge("health", elsewhere[1])
    assert collection.merge("health", elsewhere[0])
    assert not collection.merge("health", elsewhere[1])
    assert collection.tally("health").total == 1 + 2 + 3
    own = collection.tally("health", own=True)
    assert own.total == 1
    with pytest.raises(TwiceError):
        collection.merge("health", own.to_bytes())
    both = tally_from_bytes(elsewhere[0]).plus(tally_from_bytes(elsewhere[1])).to_bytes()
    with pytest.raises(TwiceError):
        collection.merge("health", both)
    assert collection.tally("health").total == 6


class MemoryStoreWith:
    """Another server that has collected some reports of the same survey."""

    def __init__(self, reports: int) -> None:
        """Collect them."""
        self._collection = published(MemoryStore())
        key = key_of(self._collection.store)
        record(self._collection.store, [arrival(key) for _ in range(reports)], now=0)

    def tally(self) -> bytes:
        """Return its tally."""
        return self._collection.tally("health").to_bytes()


def test_published_configuration_is_found_by_digest(store: Store) -> None:
    """A design and a block are the bytes that their digest names; nothing else is found."""
    offer = published(store).offer("health")
    assert offer.current is not None
    with store.reading() as reading:
        assert reading.design(offer.design.digest) == offer.design.to_bytes()
        assert reading.block(offer.current.digest) == offer.current.to_bytes()
        assert reading.design(offer.current.digest) is None
        assert reading.block("' OR 1=1 --") is None


def test_a_block_cannot_be_opened_twice(store: Store) -> None:
    """Two workers that open the same block: one fails and changes nothing."""
    published(store)
    key = key_of(store)
    with store.reading() as reading:
        block = reading.open_block(key)
    assert block is not None
    again = BlockRow(block.number, "d", b"", 0)
    with pytest.raises(StorageError), store.writing() as writing:
        writing.add_block(key, again)
    with store.reading() as reading:
        assert reading.blocks(key) == [block]


def test_postgresql_is_durable_even_if_it_is_set_not_to_be(postgresql: Callable[[], str]) -> None:
    """A role that acknowledges before it has written is overruled for our commits."""
    import psycopg  # noqa: PLC0415 -- as in the fixture

    where = postgresql()
    with psycopg.connect(where, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
    store = open_store(where)
    with store._engine.connect() as found:  # noqa: SLF001 -- no other way to see it
        assert found.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
    store.close()
