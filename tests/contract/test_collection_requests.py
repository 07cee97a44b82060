"""What staff may ask, word for word: a wish that is misspelt is refused, not passed over."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from deniable.collection import Collection, MemoryStore, Terms, create_app, issue_token, serving
from deniable.collection.http.rates import RateLimit
from deniable.collection.http.settings import Settings
from deniable.device import reports_body
from deniable.errors import DigestError, StateError, TwiceError
from deniable.protocol import Report, design_for, first_block
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA = Schema((Attribute.nominal("sex", ["f", "m"]),))


def survey_of(name: str = "health", epsilon: float = 1.0) -> Survey:
    """Describe a survey of one question."""
    return Survey(name, SCHEMA, Privacy(epsilon, "joint", {"channel": "k-ary"}))


@pytest.fixture
def collection() -> Collection:
    """Publish a survey, open to all, and one by invitation."""
    collection = Collection(MemoryStore())
    collection.present(survey_of())
    collection.present(survey_of("asked"), Terms(invited=True))
    return collection


@pytest.fixture
def staff(collection: Collection) -> Iterator[httpx.Client]:
    """Call a server as one who may do everything."""
    token = issue_token(collection.store, "manage", now=collection.now())
    headers = {"Authorization": f"Bearer {token}"}
    with (
        serving(create_app(collection)) as address,
        httpx.Client(base_url=address, headers=headers) as client,
    ):
        yield client


@pytest.fixture
def spec(root: Path) -> dict[str, Any]:
    """Read the written interface."""
    found: dict[str, Any] = json.loads((root / "spec" / "openapi.json").read_text("utf-8"))
    return found


def staff_routes(spec: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield what needs a token: method, address of the open survey, what is written of it."""
    for path, methods in spec["paths"].items():
        for method, said in methods.items():
            if method != "parameters" and said["security"]:
                yield method, path.replace("{name}", "health").replace("{number}", "0"), said


def test_every_staff_route_refuses_what_it_does_not_ask(
    staff: httpx.Client, spec: dict[str, Any]
) -> None:
    """A parameter that no route has is 400 everywhere, and the interface says that it may be."""
    for method, path, said in staff_routes(spec):
        answer = staff.request(method, path, params={"colour": "blue"})
        assert answer.status_code == 400, path
        assert "asks for nothing of this name (given: 'colour')" in answer.json()["detail"]
        assert "400" in said["responses"], path
        known = [one["name"] for one in said.get("parameters", ())]
        assert all(name in answer.json()["detail"] for name in known or ["no query"])


@pytest.mark.parametrize(
    ("method", "path", "nearest"),
    [
        ("POST", "/v1/validate?poeple=5", "people"),
        ("POST", "/v1/surveys?invted=true", "invited"),
        ("POST", "/v1/surveys/health/tokens?scop=merge&dais=1", "scope"),
        ("GET", "/v1/surveys/health/tally?jiont=true", "joint"),
        ("GET", "/v1/surveys/health/reports?formt=csv", "format"),
    ],
)
def test_a_misspelt_wish_is_answered_with_the_nearest(
    staff: httpx.Client, method: str, path: str, nearest: str
) -> None:
    """Nothing is done as if it had not been said."""
    answer = staff.request(method, path, content=survey_of("new").to_text())
    assert answer.status_code == 400
    assert answer.json()["detail"].endswith(f"expected '{nearest}'.")
    assert len(staff.get("/v1/surveys").json()["surveys"]) == 2


def test_a_wish_said_twice_is_refused(staff: httpx.Client) -> None:
    """Which of the two was meant?"""
    answer = staff.post("/v1/surveys/health/tokens?days=1&days=300")
    assert answer.status_code == 400
    assert "days is said more than once" in answer.json()["detail"]


def test_numbers_are_refused_where_the_interface_ends(
    staff: httpx.Client, spec: dict[str, Any]
) -> None:
    """One less than the least and one more than the most: 400, not the nearest that would do."""
    tried = []
    for method, path, said in staff_routes(spec):
        for one in said.get("parameters", ()):
            if one["schema"].get("type") != "integer":
                continue
            for number in (one["schema"]["minimum"] - 1, one["schema"]["maximum"] + 1):
                text = survey_of("new").to_text()
                answer = staff.request(method, path, params={one["name"]: number}, content=text)
                assert answer.status_code == 400, (path, number)
                tried.append((one["name"], number))
    assert {("days", 0), ("people", 0), ("count", 0)} <= set(tried)
    assert staff.post("/v1/surveys/health/tokens?days=1").json()["days"] == 1


def test_the_server_hands_out_its_written_interface(
    staff: httpx.Client, spec: dict[str, Any]
) -> None:
    """As it stands in spec/openapi.json, without a token, to be kept for a while."""
    address = staff.base_url.join("/v1/openapi.json")
    answer = httpx.get(address)
    assert answer.json() == spec
    assert answer.headers["content-type"] == "application/json"
    assert "max-age" in answer.headers["cache-control"]
    same = httpx.get(address, headers={"If-None-Match": answer.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")


def test_an_open_survey_makes_no_codes(staff: httpx.Client, collection: Collection) -> None:
    """They would be good for nothing; a survey by invitation makes as many as are asked."""
    answer = staff.post("/v1/surveys/health/invitations?count=2")
    assert answer.status_code == 409
    assert "an open survey takes reports without a code" in answer.json()["detail"]
    with pytest.raises(StateError, match="drafted with invited=true"):
        collection.invite("health", 1)
    made = staff.post("/v1/surveys/asked/invitations?count=2")
    assert (made.status_code, len(made.json()["codes"])) == (201, 2)


def test_a_tally_of_something_else_is_refused_as_such(collection: Collection) -> None:
    """Another survey, then another design, then the very reports: the first that is wrong is told.

    They come from one server, whose reports would otherwise be counted already.
    """
    send(collection, "asked")
    other = collection.tally("asked").to_bytes()
    with pytest.raises(DigestError, match=r"of another survey \(given: 'asked'\).*'health'"):
        collection.merge("health", other)
    elsewhere = Collection(MemoryStore())
    elsewhere.present(survey_of(epsilon=2.0))
    with pytest.raises(DigestError, match="under another design"):
        collection.merge("health", elsewhere.tally("health").to_bytes())
    send(collection, "health")
    with pytest.raises(TwiceError, match="counted here already"):
        collection.merge("health", collection.tally("health").to_bytes())


def send(collection: Collection, name: str, **other: str) -> httpx.Response:
    """Send one report for a survey, with another design or block if asked."""
    design = design_for(survey_of(name))
    digests = {"design": design.digest, "block": first_block(design).digest} | other
    report = Report(digests["design"], digests["block"], bytes(16), 0, ((0,),))
    codes = collection.invite(name, 1) if name == "asked" else []
    body = reports_body([report], *codes)
    with serving(create_app(collection)) as address:
        return httpx.post(f"{address}/v1/surveys/{name}/reports", content=body)


def test_a_wrong_design_is_not_counted_as_a_wrong_block(
    collection: Collection, staff: httpx.Client
) -> None:
    """A monitor and the researcher tell the two apart."""
    design = design_for(survey_of())
    block = first_block(design)
    foreign = [
        Report("A" * 43, block.digest, b"a" * 16, 0, ((0,),)),
        Report("A" * 43, "A" * 43, b"b" * 16, 0, ((0,),)),
        Report(design.digest, "A" * 43, b"c" * 16, 0, ((0,),)),
        Report(design.digest, block.digest, b"d" * 16, 0, ((0,),)),
    ]
    answer = staff.post("/v1/surveys/health/reports", content=reports_body(foreign))
    problems = [one.get("problem", {}).get("type") for one in answer.json()["results"]]
    assert problems == ["/v1/problems/wrong-digest"] * 3 + [None]
    metrics = staff.get("/metrics").text
    assert 'deniable_refused_total{reason="wrong-design"} 2' in metrics
    assert 'deniable_refused_total{reason="wrong-block"} 1' in metrics
    assert collection.tally("health").total == 1


def test_a_burst_is_a_minute_s_worth_at_most(root: Path) -> None:
    """As the guide says: at one report a second, 60 at once, whatever burst was asked for."""
    burst = Settings().burst
    for rate, most in ((1.0, 60), (0.5, 30), (5.0, burst)):
        assert RateLimit(rate, burst).most("192.0.2.1") == most
    guide = (root / "docs" / "how-to" / "run-a-server.md").read_text(encoding="utf-8")
    assert f"burst of {burst}" in guide
    assert "never more than a minute's worth" in guide
