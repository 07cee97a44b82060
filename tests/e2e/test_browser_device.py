"""The browser's device in a real browser: what leaves it, what it remembers, what it survives."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deniable.channels import best, epsilon_of_all
from deniable.protocol import (
    Design,
    Group,
    View,
    check_report,
    first_block,
    report_from_bytes,
    report_from_dict,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, Page

SOURCES = Path(__file__).parents[2] / "clients" / "browser" / "src"
SIZES = (2, 3, 1000)
CHANNELS = tuple(best(1.0, size) for size in SIZES)
DESIGN = Design(
    survey="in-a-browser",
    schema="A" * 43,
    attributes=tuple((f"q{place}", size) for place, size in enumerate(SIZES)),
    views=(View(tuple(Group((place,), (size,)) for place, size in enumerate(SIZES))),),
    channels=(CHANNELS,),
    epsilon=f"{epsilon_of_all(CHANNELS) + 1e-6:.6f}",
)
BLOCK = first_block(DESIGN)
PAGE = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>device</title>
<link rel="icon" href="data:,"><script type="module" src="/page.js"></script>"""
SCRIPT = b"""import * as client from "/src/index.js";
const fetchBytes = async (path) => new Uint8Array(await (await fetch(path)).arrayBuffer());
window.open_ = async (epsilon) => {
  const design = await client.readDesign(await fetchBytes("/design"));
  const block = await client.readBlock(await fetchBytes("/block"), design);
  const agreement = new client.Agreement({ epsilon });
  const device = new client.Device({ storage: new client.BrowserStorage(), agreement });
  return { client, design, block, device };
};
window.answer = async (answers, epsilon = 4) => {
  const { client, design, block, device } = await window.open_(epsilon);
  const report = await device.respond(design, block, client.Answer.of(design, answers));
  return { report: String(report), lasting: device.lasting };
};
window.ready = true;"""
TOSS_FAILS = "() => { crypto.getRandomValues = () => { throw new Error('a coin was tossed'); } }"
ANSWERS = {"q0": 1, "q1": 2, "q2": 737}


@dataclass
class Site:
    """A page with the client's modules, and every request that came."""

    url: str = ""
    failures: list[int] = field(default_factory=list)
    requests: list[tuple[str, str, bytes]] = field(default_factory=list)

    @property
    def posted(self) -> list[bytes]:
        """Return the bodies that were posted, in order."""
        return [body for method, _, body in self.requests if method == "POST"]


def visitor(site: Site) -> type[BaseHTTPRequestHandler]:
    """Return what answers one request."""
    texts = {
        "/": PAGE,
        "/page.js": SCRIPT,
        "/design": DESIGN.to_bytes(),
        "/block": BLOCK.to_bytes(),
    }

    class Visitor(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.requests.append(("GET", self.path + str(self.headers), b""))
            name = Path(self.path).name
            module = self.path.startswith("/src/") and (SOURCES / name).is_file()
            text = (SOURCES / name).read_bytes() if module else texts.get(self.path)
            kind = "text/javascript" if self.path.endswith(".js") else "text/html; charset=utf-8"
            self.reply(404 if text is None else 200, text or b"", kind)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            site.requests.append(("POST", self.path + str(self.headers), body))
            status = site.failures.pop(0) if site.failures else 200
            results = [{"id": report["id"]} for report in json.loads(body)["reports"]]
            self.reply(status, json.dumps({"results": results}).encode(), "application/json")

        def reply(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    return Visitor


@pytest.fixture
def site() -> Iterator[Site]:
    """Serve the page on this machine."""
    found = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), visitor(found))
    found.url = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """Open a browser profile of its own."""
    found = chromium.new_context()
    found.set_default_timeout(120_000)
    yield found
    found.close()


def opened(context: BrowserContext, site: Site) -> Page:
    """Open the page and wait for its modules."""
    page = context.new_page()
    page.goto(site.url)
    page.wait_for_function("window.ready === true")
    return page


def answered(page: Page, answers: dict[str, int] | None = None) -> dict[str, Any]:
    """Answer on the page and return the report it hands out."""
    found: dict[str, Any] = page.evaluate("answer", answers or ANSWERS)
    return found


def test_what_is_posted_is_a_report_of_the_design(context: BrowserContext, site: Site) -> None:
    """The posted bytes are the report handed out, and Python reads and accepts them."""
    page = opened(context, site)
    report = answered(page)
    assert report["lasting"] is True
    arrived = page.evaluate("async () => (await open_(4)).device.submit('/v1/reports')")
    assert arrived == 1
    (body,) = site.posted
    assert body == b'{"reports":[' + report["report"].encode() + b"]}"
    found = report_from_bytes(report["report"])
    check_report(found, DESIGN, BLOCK)
    assert found.to_bytes() == report["report"].encode()


def test_a_retry_sends_the_same_bytes(context: BrowserContext, site: Site) -> None:
    """After failures of the server the same bytes are posted again, and then no more."""
    page = opened(context, site)
    site.failures = [503, 429]
    answered(page)
    submit = "async () => (await open_(4)).device.submit('/v1/reports', {wait: async () => {}})"
    assert page.evaluate(submit) == 1
    assert page.evaluate(submit) == 0
    assert len(site.posted) == 3
    assert len(set(site.posted)) == 1


def test_a_reload_returns_the_same_report(context: BrowserContext, site: Site) -> None:
    """Another visit, and another answer, give the report that was made first."""
    first = answered(opened(context, site))
    page = opened(context, site)
    page.reload()
    page.wait_for_function("window.ready === true")
    assert answered(page, {"q0": 0, "q1": 0, "q2": 0}) == first


def test_two_tabs_at_once_give_one_report(context: BrowserContext, site: Site) -> None:
    """Tabs that answer at the same moment agree on one report."""
    pages = [opened(context, site) for _ in range(3)]
    for page in pages:
        page.evaluate("(answers) => { window.running = answer(answers); }", ANSWERS)
    reports = {page.evaluate("running")["report"] for page in pages}
    assert len(reports) == 1


def test_a_fresh_profile_gives_another_report(chromium: Browser, site: Site) -> None:
    """Nothing ties two devices together: ids differ, values are drawn anew."""
    found = []
    for _ in range(2):
        context = chromium.new_context()
        context.set_default_timeout(120_000)
        found.append(report_from_bytes(answered(opened(context, site))["report"]))
        context.close()
    assert found[0].identity != found[1].identity
    assert found[0].values != found[1].values  # s of 1,000 cells: equal once in 1e300


def test_a_storage_that_throws_is_survived(context: BrowserContext, site: Site) -> None:
    """With storage denied the page answers, repeats itself, and says it will not last."""
    context.add_init_script(
        "Object.defineProperty(window, 'localStorage', "
        "{get() { throw new DOMException('denied', 'SecurityError'); }});"
    )
    page = opened(context, site)
    found = page.evaluate(
        """async (answers) => {
          const { client, design, block, device } = await open_(4);
          const answer = client.Answer.of(design, answers);
          const two = [await device.respond(design, block, answer),
                       await device.respond(design, block, answer)].map(String);
          return { two, lasting: device.lasting, arrived: await device.submit('/v1/reports') };
        }""",
        ANSWERS,
    )
    assert found["two"][0] == found["two"][1]
    assert (found["lasting"], found["arrived"]) == (False, 1)
    assert len(site.posted) == 1


def test_a_full_storage_is_survived(context: BrowserContext, site: Site) -> None:
    """With no room left the page answers all the same, and says it will not last."""
    context.add_init_script(
        "Storage.prototype.setItem = "
        "() => { throw new DOMException('full', 'QuotaExceededError'); };"
    )
    found = answered(opened(context, site))
    assert found["lasting"] is False
    check_report(report_from_bytes(found["report"]), DESIGN, BLOCK)


def test_a_dear_design_is_refused_and_nothing_leaves(context: BrowserContext, site: Site) -> None:
    """A device that agreed to less refuses, tosses no coin, stores and posts nothing."""
    page = opened(context, site)
    page.evaluate(TOSS_FAILS)
    code = page.evaluate("(a) => answer(a, 0.5).catch((error) => error.code)", ANSWERS)
    assert code == "privacy-refused"
    assert page.evaluate("localStorage.length") == 0
    assert site.posted == []


def test_no_answer_is_in_the_network_the_storage_or_the_console(
    context: BrowserContext, site: Site
) -> None:
    """What is posted and stored has no place for an answer, and no request line names one.

    The answer 737 of 1,000 is looked for in every address and header; in the randomized
    values it may stand by chance.
    """
    page = opened(context, site)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    asked = [request for request in site.requests if request[0] == "GET"]
    answered(page)
    page.evaluate("async () => (await open_(4)).device.submit('/v1/reports')")
    (body,) = site.posted
    (posted,) = json.loads(body)["reports"]
    stored = page.evaluate("({...localStorage})")
    ((_, document),) = stored.items()
    memory = json.loads(document)
    (entry,) = memory["entries"]
    assert report_from_bytes(entry["report"]) == report_from_dict(posted)
    assert set(posted) == {"deniable", "design", "block", "id", "view", "values"}
    assert set(memory) == {"deniable", "cap", "entries"}
    assert set(entry) == {"survey", "wave", "report", "epsilon", "attributes", "sent"}
    assert said == []
    lines = [(method, line) for method, line, _ in site.requests[len(asked) :]]
    assert [line for _, line in lines if "737" in line.replace(site.url[7:-1], "")] == []
    (sent,) = [line for method, line in lines if method == "POST"]
    assert sent.startswith("/v1/reports")
    assert "Cookie" not in sent
    assert "Referer" not in sent
