"""The HTTP interface: what each route promises, and what it refuses."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx
import jsonschema
import pytest

from deniable.collection import Collection, Settings, create_app, issue_token, serving
from deniable.collection.http.problems import STATUS
from deniable.collection.http.rates import RateLimit
from deniable.device import Agreement, Answer, Device, MemoryStorage, reports_body, submit
from deniable.errors import SubmissionError
from deniable.protocol import block_from_bytes, design_from_bytes, tally_from_bytes
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.applications import Starlette

    from deniable.collection import Store
    from deniable.collection.tokens import Scope
    from deniable.protocol import Report

SCHEMA = Schema((Attribute.nominal("sex", ["f", "m"]), Attribute.nominal("city", ["a", "b", "c"])))
REPORTS = "/v1/surveys/health/reports"


def survey_of(name: str = "health") -> Survey:
    """Describe a survey of two questions, asked together."""
    return Survey(name, SCHEMA, Privacy(1.0, "joint", {"channel": "k-ary"}))


class House:
    """A running server with a token of each kind."""

    def __init__(self, app: Starlette, collection: Collection, address: str) -> None:
        """Open a client."""
        self.app = app
        self.collection = collection
        self.address = address
        self.http = httpx.Client(base_url=address)

    def as_staff(self, scope: Scope = "manage", survey: str = "") -> dict[str, str]:
        """Return headers with a new token."""
        now = self.collection.now()
        token = issue_token(self.collection.store, scope, survey=survey, now=now)
        return {"Authorization": f"Bearer {token}"}

    def publish(self, name: str = "health", **terms: str) -> None:
        """Draft and publish a survey over HTTP."""
        staff = self.as_staff()
        text = survey_of(name).to_text()
        assert self.http.post("/v1/surveys", content=text, headers=staff, params=terms).is_success
        assert self.http.post(f"/v1/surveys/{name}/publish", headers=staff).is_success

    def report(self, name: str = "health") -> Report:
        """Answer a survey as a new device would."""
        found = self.http.get(f"/v1/surveys/{name}").json()
        design = design_from_bytes(
            self.http.get(f"/v1/designs/{found['design']}").content, found["design"]
        )
        block = block_from_bytes(
            self.http.get(f"/v1/blocks/{found['block']}").content, design, found["block"]
        )
        device = Device(MemoryStorage(), Agreement(1.0, design=found["design"]))
        return device.respond(design, block, Answer((0, 1), design.sizes))

    def post(self, *reports: Report, invitation: str = "") -> httpx.Response:
        """Send reports."""
        body = reports_body(reports)
        if invitation:
            body = body[:-1] + b',"invitation":' + json.dumps(invitation).encode() + b"}"
        return self.http.post(REPORTS, content=body)


@pytest.fixture
def settings() -> Settings:
    """Return the limits of the server under test; a test may ask for others."""
    return Settings()


@pytest.fixture
def house(store: Store, settings: Settings) -> Iterator[House]:
    """Run a server on every kind of store."""
    collection = Collection(store)
    app = create_app(collection, settings)
    with serving(app) as address:
        house = House(app, collection, address)
        yield house
        house.http.close()


def other_value(report: Report) -> Report:
    """Return a report of the same id that says something else."""
    return replace(report, values=(((report.values[0][0] + 1) % 6,),))


def test_a_report_arrives_once_and_repeats_for_ever(house: House) -> None:
    """Accepted, then repeated; other bytes under its id are a conflict with a sentence."""
    house.publish()
    report = house.report()
    first, again = house.post(report), house.post(report)
    assert (first.status_code, again.status_code) == (200, 200)
    assert [answer.json()["results"][0]["status"] for answer in (first, again)] == [
        "accepted",
        "repeated",
    ]
    conflict = house.post(other_value(report))
    assert conflict.status_code == 409
    assert conflict.headers["content-type"] == "application/problem+json"
    assert conflict.json()["type"] == "/v1/problems/report-conflict"
    assert conflict.json()["results"][0]["problem"]["status"] == 409


def test_a_batch_is_answered_item_by_item_in_order(house: House) -> None:
    """Good items are kept although others are bad; each bad one is told why."""
    house.publish()
    good, twice = house.report(), house.report()
    assert house.post(twice).is_success
    bad = [
        replace(house.report(), values=((6,),)),
        replace(house.report(), values=((0,), (1,))),
        replace(house.report(), view=1),
        replace(house.report(), design="A" * 43),
        replace(house.report(), block="A" * 43),
    ]
    items = [json.loads(report.to_bytes()) for report in (good, *bad, twice)]
    items += [7, None, {"id": "short"}, {**items[0], "id": "x" * 22}, {**items[0], "deniable": 2}]
    answer = house.http.post(REPORTS, json={"reports": items})
    assert answer.status_code == 200
    results = answer.json()["results"]
    assert [result.get("status") or result["problem"]["status"] for result in results] == [
        *("accepted", 422, 422, 422, 409, 409, "repeated"),
        *(422, 422, 422, 422, 422),
    ]
    assert [result["id"] for result in results[:7]] == [item["id"] for item in items[:7]]
    shown = house.http.get("/v1/surveys/health/results", headers=house.as_staff()).json()
    assert shown["people"] == 2


def test_refused_reports_are_counted_by_reason(house: House) -> None:
    """The researcher sees how many were refused and why; a monitor sees the same."""
    house.publish()
    report = house.report()
    house.post(report)
    house.post(other_value(report))
    house.post(replace(report, values=((9,),)))
    house.http.post(REPORTS, content=b"{")
    house.post(house.report())  # whose group carries the counts into the store
    shown = house.http.get("/v1/surveys/health/results", headers=house.as_staff()).json()
    assert shown["refused"] == {"conflict": 1, "invalid-report": 1, "invalid-request": 1}
    metrics = house.http.get("/metrics").text
    assert 'deniable_refused_total{reason="conflict"} 1' in metrics
    assert 'deniable_reports_total{fate="accepted"} 2' in metrics


def test_a_survey_lives_from_draft_to_closed_over_http(house: House) -> None:
    """Each step is possible once, in order; what was published is locked."""
    staff = house.as_staff()
    text = survey_of().to_text()
    assert house.http.get("/v1/surveys/health").status_code == 404
    forecast = house.http.post("/v1/validate", content=text, headers=staff, params={"people": 400})
    assert forecast.json()["epsilon"]["answer"] == "1.000"
    assert 0 < forecast.json()["tables"][0]["half_width"] < 1
    assert house.http.get("/v1/surveys", headers=staff).json() == {"surveys": []}
    assert house.http.post("/v1/surveys", content=text, headers=staff).status_code == 201
    assert house.http.get("/v1/surveys/health").status_code == 404
    assert house.http.delete("/v1/surveys/health", headers=staff).status_code == 204
    house.publish()
    assert house.http.post("/v1/surveys", content=text, headers=staff).status_code == 409
    assert house.http.delete("/v1/surveys/health", headers=staff).status_code == 409
    assert house.http.post("/v1/surveys/health/publish", headers=staff).status_code == 409
    report, late = house.report(), house.report()
    assert house.post(report).status_code == 200
    assert house.http.post("/v1/surveys/health/close", headers=staff).status_code == 200
    assert house.post(report).json()["results"][0]["status"] == "repeated"
    assert house.post(late).status_code == 409
    assert house.http.get("/v1/surveys", headers=staff).json() == {
        "surveys": [{"name": "health", "state": "closed"}]
    }
    closed = house.http.get("/v1/surveys/health/blocks/0/tally", headers=staff)
    assert tally_from_bytes(closed.content).total == 1


def test_staff_routes_want_a_token_for_that_survey_and_purpose(house: House) -> None:
    """Nobody reads or changes a survey without its token; a token of another one is refused."""
    house.publish()
    house.publish("second")
    spec = json.loads(STAFF)
    for method, path in spec:
        url = path.replace("{name}", "health").replace("{number}", "0")
        none = house.http.request(method, url)
        assert (none.status_code, none.headers["www-authenticate"]) == (401, "Bearer"), url
        in_query = house.http.request(method, url, params={"token": "x"})
        assert in_query.status_code == 401
        if "{name}" in path:
            wrong = house.http.request(method, url, headers=house.as_staff("manage", "second"))
            assert wrong.status_code == 403, url
        merger = house.http.request(method, url, headers=house.as_staff("merge", "second"))
        assert merger.status_code == 403, url
    researcher = house.as_staff("research", "health")
    assert house.http.get("/v1/surveys/health/results", headers=researcher).status_code == 200
    assert house.http.post("/v1/surveys/health/close", headers=researcher).status_code == 403


STAFF = json.dumps(
    [
        ("GET", "/v1/surveys"),
        ("POST", "/v1/surveys"),
        ("POST", "/v1/validate"),
        ("DELETE", "/v1/surveys/{name}"),
        ("POST", "/v1/surveys/{name}/publish"),
        ("POST", "/v1/surveys/{name}/close"),
        ("POST", "/v1/surveys/{name}/invitations"),
        ("POST", "/v1/surveys/{name}/tokens"),
        ("POST", "/v1/surveys/{name}/tallies"),
        ("GET", "/v1/surveys/{name}/reports"),
        ("GET", "/v1/surveys/{name}/results"),
        ("GET", "/v1/surveys/{name}/tally"),
        ("GET", "/v1/surveys/{name}/blocks/{number}/tally"),
    ]
)


def test_an_invited_survey_takes_one_report_for_each_code(house: House) -> None:
    """No code, an unknown code and a used code are refused; a retry succeeds."""
    house.publish(invited="true")
    made = house.http.post("/v1/surveys/health/invitations?count=1", headers=house.as_staff())
    (code,) = made.json()["codes"]
    first, second = house.report(), house.report()
    assert house.post(first).status_code == 403
    assert house.post(first, invitation="unknown").status_code == 403
    assert house.post(first, invitation=code).status_code == 200
    assert house.post(first, invitation=code).json()["results"][0]["status"] == "repeated"
    assert house.post(second, invitation=code).status_code == 403
    assert house.post(first, second, invitation=code).status_code == 400


def test_exports_hold_the_very_bytes_that_devices_sent(house: House) -> None:
    """One line for each report, in the order of ids, in two formats."""
    house.publish()
    reports = sorted((house.report() for _ in range(5)), key=lambda one: one.to_bytes())
    house.post(*reports)
    staff = house.as_staff("research", "health")
    lines = house.http.get(REPORTS, headers=staff).content.splitlines()
    assert sorted(lines) == [report.to_bytes() for report in reports]
    names = [json.loads(line)["id"] for line in lines]
    assert names == sorted(names)
    table = house.http.get(REPORTS, headers=staff, params={"format": "csv"}).text.splitlines()
    assert table[0] == "id,block,view,values"
    assert [row.partition(",")[0] for row in table[1:]] == names


def test_servers_merge_over_http(house: House) -> None:
    """A tally fetched from one server is taken by another once; twice is noticed."""
    from deniable.collection import MemoryStore  # noqa: PLC0415

    elsewhere = Collection(MemoryStore())
    with serving(create_app(elsewhere)) as address:
        other = House(house.app, elsewhere, address)
        other.publish()
        other.post(other.report(), other.report())
        tally = other.http.get(
            "/v1/surveys/health/tally", headers=other.as_staff("research", "health")
        ).content
        other.http.close()
    house.publish()
    house.post(house.report())
    staff = house.as_staff("merge", "health")
    assert house.http.post("/v1/surveys/health/tallies", content=tally, headers=staff).json() == {
        "status": "accepted"
    }
    again = house.http.post("/v1/surveys/health/tallies", content=tally, headers=staff)
    assert (again.status_code, again.json()) == (200, {"status": "repeated"})
    own = house.collection.tally("health", own=True).to_bytes()
    assert house.http.post("/v1/surveys/health/tallies", content=own, headers=staff).is_error
    shown = house.http.get("/v1/surveys/health/results", headers=house.as_staff()).json()
    assert shown["people"] == 3


def test_the_python_device_submits_to_the_server(house: House) -> None:
    """The device's own submit succeeds, and tells the server's sentence when refused."""
    house.publish()
    found = house.http.get("/v1/surveys/health").json()
    design = design_from_bytes(house.http.get(f"/v1/designs/{found['design']}").content)
    block = block_from_bytes(house.http.get(f"/v1/blocks/{found['block']}").content, design)
    device = Device(MemoryStorage(), Agreement(1.0))
    device.respond(design, block, Answer((1, 1), design.sizes))
    assert submit(device, house.address + REPORTS) == 1
    assert submit(device, house.address + REPORTS) == 0
    house.http.post("/v1/surveys/health/close", headers=house.as_staff())
    late = Device(MemoryStorage(), Agreement(1.0))
    late.respond(design, block, Answer((1, 1), design.sizes))
    with pytest.raises(SubmissionError, match="the survey is closed"):
        submit(late, house.address + REPORTS)


def test_configuration_is_immutable_and_cacheable(house: House) -> None:
    """A design and a block are cached for ever under their digest."""
    house.publish()
    found = house.http.get("/v1/surveys/health").json()
    for kind in ("design", "block"):
        url = f"/v1/{kind}s/{found[kind]}"
        answer = house.http.get(url)
        assert "immutable" in answer.headers["cache-control"]
        same = house.http.get(url, headers={"If-None-Match": answer.headers["etag"]})
        assert (same.status_code, same.content) == (304, b"")
        assert house.http.get(f"/v1/{kind}s/{'A' * 43}").status_code == 404


@pytest.mark.parametrize("settings", [Settings(largest_body=2_000, most_reports=3)])
def test_what_is_too_large_is_refused(house: House) -> None:
    """A long body, told beforehand or not, and too many reports are 413."""
    house.publish()
    reports = [house.report() for _ in range(4)]
    assert house.post(*reports[:3]).status_code == 200
    assert house.post(*reports).status_code == 413
    assert house.http.post(REPORTS, content=b"x" * 2_001).status_code == 413
    streamed = house.http.post(REPORTS, content=iter([b"x" * 1_500] * 2))
    assert streamed.status_code == 413


@pytest.mark.parametrize("settings", [Settings(rate=0.05, burst=3)])
def test_who_asks_too_often_is_told_when_to_come_back(house: House) -> None:
    """After the burst 429 with Retry-After; reading what is published is not limited."""
    house.publish()
    report = house.report()
    *answers, refused = from_afar(house, "192.0.2.1", *[[report]] * 5)
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert 15 <= int(refused.headers["retry-after"]) <= 20
    assert house.http.get("/v1/surveys/health").status_code == 200


def from_afar(house: House, address: str, *requests: list[Report]) -> list[httpx.Response]:
    """Send requests from an address that is not this machine's."""

    async def send() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app=house.app, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url=house.address) as http:
            return [await http.post(REPORTS, content=reports_body(one)) for one in requests]

    return asyncio.run(send())


@pytest.mark.parametrize("settings", [Settings(rate=0.05, burst=3)])
def test_the_rate_counts_reports_however_many_come_at_once(house: House) -> None:
    """Three in one request leave no room; four never fit; another address is not concerned."""
    house.publish()
    one, three, four = ([house.report() for _ in range(number)] for number in (1, 3, 4))
    assert [a.status_code for a in from_afar(house, "192.0.2.1", three, one)] == [200, 429]
    assert [a.status_code for a in from_afar(house, "2001:db8::1", one, four)] == [200, 413]


@pytest.mark.parametrize("settings", [Settings(rate=0.05, burst=3)])
def test_this_machine_is_not_limited(house: House) -> None:
    """A proxy or a simulation here speaks for many people."""
    house.publish()
    report = house.report()
    assert {house.post(report).status_code for _ in range(10)} == {200}


def test_a_server_limits_addresses_unless_it_is_told_not_to() -> None:
    """Without a word of anybody there is a rate; several workers share it."""
    assert Settings().rate > 0
    for workers in (2, 4):
        part = Settings(rate=8.0, burst=200).shared_by(workers)
        limits = [RateLimit(part.rate, part.burst, clock=lambda: 0.0) for _ in range(workers)]
        let_in = sum(limit.wait_for("192.0.2.1", 1) == 0 for limit in limits for _ in range(300))
        assert let_in == 200
        assert part.rate * workers == 8.0
    none = RateLimit(0.0, 200)
    assert {none.wait_for("192.0.2.1", 1) for _ in range(300)} == {0.0}


def test_injected_text_is_only_text(house: House) -> None:
    """SQL, paths, markup and header breaks in any place change nothing and leak nothing."""
    house.publish()
    before = house.collection.tally("health").to_bytes()
    for attack in ("x' OR '1'='1", "health'; DROP TABLE report; --", "<script>alert(1)</script>"):
        for path in ("/v1/surveys/{}", "/v1/designs/{}", "/s/{}", "/v1/surveys/{}/results"):
            answer = house.http.get(path.format(attack.replace("/", "%2F")))
            assert answer.status_code in {200, 401, 404}
            assert "<script>alert" not in answer.text or "json" in answer.headers["content-type"]
        bad = house.http.get("/v1/surveys", headers={"Authorization": f"Bearer {attack}"})
        assert bad.status_code == 401
    for path in (
        "/static/x/../../../pyproject.toml",
        "/static/x/..%2f..%2fpyproject.toml",
        "//etc",
    ):
        assert house.http.get(path).status_code == 404
    broken = house.http.get("/v1/surveys/a%0d%0aSet-Cookie:%20x=1")
    assert broken.status_code == 404
    assert "set-cookie" not in broken.headers
    assert house.collection.tally("health").to_bytes() == before


def test_pages_are_held_to_their_bytes_and_to_nothing_foreign(house: House) -> None:
    """A strict policy without inline code, integrity for every file, no cookie, 60 KB in all."""
    house.publish()
    total = 0
    for path in ("/s/health", "/r/health"):
        page = house.http.get(path)
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "set-cookie" not in page.headers
        assert not re.search(r"\son\w+=|<script>|<style|style=", page.text)
        links = re.findall(r'(?:src|href)="(/static/[^"]+)"( integrity="sha384-[^"]+")?', page.text)
        assert all(held or address.endswith(".svg") for address, held in links)
        if path == "/s/health":
            packed = [house.app, *links]
            files = [page.content, *(house.http.get(address).content for address, _ in links)]
            total = sum(len(gzip.compress(body, 9)) for body in files)
            assert len(packed) > 20
    assert 20_000 < total < 60_000


def test_problems_are_those_of_the_shared_list(root: Path) -> None:
    """Status and title of each code are what spec/errors.json says."""
    listed = json.loads((root / "spec" / "errors.json").read_text(encoding="utf-8"))
    told = {one["code"]: (one["status"], one["title"]) for one in listed if one["status"]}
    assert dict(STATUS) == told


def test_the_written_interface_is_the_one_that_is_served(house: House, root: Path) -> None:
    """spec/openapi.json names every route under /v1 and its methods, and no others."""
    spec = json.loads((root / "spec" / "openapi.json").read_text(encoding="utf-8"))
    written = {
        (method.upper(), path)
        for path, methods in spec["paths"].items()
        for method in methods
        if method != "parameters"
    }
    served = {
        (method, route.path)  # type: ignore[attr-defined]
        for route in house.app.routes
        for method in route.methods - {"HEAD"}  # type: ignore[attr-defined]
        if route.path.startswith(("/v1", "/metrics"))  # type: ignore[attr-defined]
    }
    assert written == served
    assert {(m, p) for m, p in json.loads(STAFF)} == {
        (method.upper(), path)
        for path, methods in spec["paths"].items()
        for method, said in methods.items()
        if method != "parameters" and said["security"]
    }


def test_answers_fit_the_written_interface(house: House, root: Path) -> None:
    """What the server says is what the schemas of spec/openapi.json say it says."""
    spec = json.loads((root / "spec" / "openapi.json").read_text(encoding="utf-8"))

    def fits(answer: httpx.Response, name: str) -> None:
        schema = {"$ref": f"#/components/schemas/{name}", "components": spec["components"]}
        jsonschema.validate(answer.json(), schema)

    house.publish()
    staff = house.as_staff()
    report = house.report()
    jsonschema.validate(
        json.loads(reports_body([report])),
        {"$ref": "#/components/schemas/Submission", "components": spec["components"]},
    )
    fits(house.post(report), "Results")
    fits(house.post(other_value(report)), "Problem")
    fits(house.http.get("/v1/surveys/health"), "Survey")
    fits(house.http.get("/v1/surveys/health/page"), "Page")
    fits(house.http.get("/v1/surveys", headers=staff), "Surveys")
    fits(house.http.get("/v1/surveys/health/results", headers=staff), "LiveResults")
    fits(house.http.get("/v1/surveys/health/tally", headers=staff), "Tally")
    fits(house.http.post("/v1/surveys/health/tokens", headers=staff), "Token")
    text = survey_of("other").to_text()
    fits(house.http.post("/v1/validate", content=text, headers=staff), "Forecast")
    fits(house.http.get("/v1/surveys/none"), "Problem")


def test_a_server_starts_without_the_statistics() -> None:
    """A worker that only takes reports loads no number crunching: results do, when asked for."""
    program = (
        "import sys; import deniable.collection;"
        "print([name for name in ('numpy', 'scipy', 'numba') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout == "[]\n"
