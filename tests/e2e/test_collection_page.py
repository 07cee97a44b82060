"""The respondent's page and the results page in a real browser."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import pytest

from deniable.channels import support_of
from deniable.collection import Collection, MemoryStore, Terms, create_app, issue_token, serving
from deniable.collection.assets import example
from deniable.protocol import digest, report_from_bytes
from deniable.protocol.canonical import canonical
from deniable.schema import Survey

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page, Request, Route

SEND = "button.primary"
WAIT = 120_000


@pytest.fixture
def collection() -> Collection:
    """Publish the example on a sensitive subject."""
    collection = Collection(MemoryStore())
    collection.present(Survey.parse(example("health.toml")))
    return collection


@pytest.fixture
def address(collection: Collection) -> Iterator[str]:
    """Serve it."""
    with serving(create_app(collection)) as address:
        yield address


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """Open a browser of a respondent who reads English, on a phone."""
    context = chromium.new_context(
        locale="en-GB", viewport={"width": 390, "height": 844}, reduced_motion="reduce"
    )
    context.set_default_timeout(WAIT)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """Open a page whose console must stay silent."""
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda message: (
            complaints.append(message.text)
            if message.type in {"error", "warning"}
            and "ERR_INTERNET_DISCONNECTED" not in message.text
            and "status of 409" not in message.text
            else None
        ),
    )
    yield page
    assert complaints == []


def begin(page: Page, address: str) -> None:
    """Open the page and agree to its ε."""
    page.goto(f"{address}/s/health")
    page.locator(SEND).click()
    page.wait_for_selector("fieldset")


def fill(page: Page, choice: int = -1) -> None:
    """Choose the same place in every question and go to the toss."""
    while page.locator("fieldset").count():
        heading = page.locator("h1").inner_text()
        for question in page.locator("fieldset").all():
            question.locator("input").nth(choice).check()
        page.locator(SEND).click()
        page.wait_for_function(
            "heading => document.querySelector('h1').innerText !== heading", arg=heading
        )


def toss(page: Page) -> str:
    """Toss the coins; return what the page says would leave."""
    page.locator(SEND).click()
    return page.locator("pre").inner_text()


def kept(collection: Collection) -> int:
    """Count what the server has kept."""
    return collection.tally("health").total


def accessibility(page: Page) -> list[str]:
    """List what axe finds wrong on the page as it is now."""
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 -- few tests need it

    found: Any = Axe().run(page).response
    return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found["violations"]]


def test_answering_sends_exactly_what_was_shown_and_nothing_else(
    page: Page, address: str, collection: Collection
) -> None:
    """The one thing posted is the report that stood on the page; the receipt names it."""
    requests: list[Request] = []
    page.on("request", lambda request: requests.append(request))  # noqa: PLW0108 -- it marks functions
    begin(page, address)
    fill(page)
    shown = toss(page)
    assert kept(collection) == 0
    page.locator(SEND).click()
    page.get_by_text("Your report has arrived").wait_for()
    posted = [request.post_data for request in requests if request.method != "GET"]
    assert posted == ['{"reports":[' + shown + "]}"]
    assert report_from_bytes(shown).to_bytes() == shown.encode()
    assert json.loads(shown)["id"] in page.locator("dl").inner_text()
    assert kept(collection) == 1
    chosen = ("30 or more", "30+", "infection", "weekly", "every day")
    for request in requests:
        assert request.url.startswith(address), "no third party"
        assert not any(word in (request.url + (request.post_data or "")) for word in chosen)
        assert "cookie" not in request.headers


def test_a_reload_tosses_no_coin_again(page: Page, address: str, collection: Collection) -> None:
    """Before sending, the same report is shown again and waits for consent; after, the receipt."""
    begin(page, address)
    fill(page)
    shown = toss(page)
    page.reload()
    assert page.locator("pre").inner_text() == shown
    assert kept(collection) == 0
    page.locator(SEND).click()
    page.get_by_text("Your report has arrived").wait_for()
    page.reload()
    page.get_by_text("Your report has arrived").wait_for()
    assert page.locator("fieldset").count() == 0
    assert kept(collection) == 1


def test_an_answer_without_connection_is_sent_later(
    page: Page, context: BrowserContext, address: str, collection: Collection
) -> None:
    """Offline the page opens, asks and keeps; back online it sends by itself, unchanged."""
    page.goto(f"{address}/s/health")
    page.locator(SEND).wait_for()
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    page.reload()  # now the service worker sees what the page loads
    page.locator(SEND).wait_for()
    context.set_offline(True)
    page.reload()
    page.locator(SEND).click()
    fill(page)
    shown = toss(page)
    page.locator(SEND).click()
    page.get_by_text("to be sent later").wait_for()
    assert kept(collection) == 0
    context.set_offline(False)
    page.get_by_text("Your report has arrived").wait_for()
    assert json.loads(shown)["id"] in page.locator("dl").inner_text()
    assert kept(collection) == 1


@pytest.mark.parametrize("lie", ["other bytes", "another digest", "another design"])
def test_a_survey_that_costs_more_than_it_says_is_refused_before_any_coin(
    page: Page, address: str, collection: Collection, lie: str
) -> None:
    """Refused: bytes that are not the published ones, another channel, a design that is dearer."""
    offer = collection.offer("health")
    assert offer.current is not None
    design = json.loads(offer.design.to_bytes())
    block = json.loads(offer.current.to_bytes())
    if lie == "other bytes":
        block["block"] = 1
    else:
        design["channels"][0][0]["head"] = block["channels"][0][0]["head"] = 4_000_000_000
    changed = canonical(design)
    if lie == "another design":
        block["design"] = digest(changed)
        page.route("**/v1/designs/*", lambda route: route.fulfill(body=changed))
    stronger = canonical(block)
    page.route("**/v1/blocks/*", lambda route: route.fulfill(body=stronger))
    if lie != "other bytes":
        named = {"block": digest(stronger), "design": block["design"]}

        def rename(route: Route) -> None:
            found = route.fetch().json()
            route.fulfill(json=found | named)

        page.route("**/v1/surveys/health/page", rename)
    page.add_init_script("crypto.getRandomValues = () => { throw new Error('a coin was tossed'); }")
    page.goto(f"{address}/s/health")
    page.get_by_role("heading", name="Nothing was sent").wait_for()
    told = {
        "other bytes": "not the one that was published",
        "another digest": "never change",
        "another design": "epsilon",
    }
    assert told[lie] in page.locator(".lead").inner_text()
    assert page.locator("fieldset, button").count() == 0


def answer_all(page: Page, address: str) -> None:
    """Answer and press Send."""
    page.goto(address)
    page.locator(SEND).click()
    page.wait_for_selector("fieldset")
    fill(page)
    toss(page)
    page.locator(SEND).click()


def test_a_report_that_is_refused_is_said_to_be(
    page: Page, address: str, collection: Collection
) -> None:
    """A survey that closed meanwhile: the page says so, and not that there is no connection."""
    begin(page, address)
    fill(page)
    toss(page)
    collection.close("health")
    page.locator(SEND).click()
    page.get_by_role("heading", name="The server did not take your report").wait_for()
    assert "has been closed" in page.locator(".lead").inner_text()
    assert kept(collection) == 0


def test_an_invitation_opens_the_survey_once(chromium: Browser) -> None:
    """Without a code nothing is asked; a code in the address is good for one device."""
    collection = Collection(MemoryStore())
    collection.present(Survey.parse(example("health.toml")), Terms(invited=True))
    (code,) = collection.invite("health", 1)
    with serving(create_app(collection)) as address:
        for person in ("first", "second"):
            context = chromium.new_context(locale="en", reduced_motion="reduce")
            context.set_default_timeout(WAIT)
            page = context.new_page()
            page.goto(f"{address}/s/health")
            page.get_by_text("This survey is by invitation").wait_for()
            page.goto("about:blank")
            answer_all(page, f"{address}/s/health#{code}")
            if person == "first":
                page.get_by_text("Your report has arrived").wait_for()
            else:
                page.get_by_text("Your invitation is not good, or it has been used").wait_for()
            context.close()
        assert kept(collection) == 1


def test_the_coins_can_be_tried(page: Page, address: str, collection: Collection) -> None:
    """A thousand tosses for a pretended answer, counted on the page; nothing is sent for them."""
    requests: list[str] = []
    page.goto(f"{address}/s/health")
    page.locator("summary").click()
    page.on("request", lambda request: requests.append(request.url))
    page.get_by_role("button", name="Toss 1,000 times").click()
    counts = [int(text) for text in page.locator(".counts td.number").all_inner_texts()]
    offer = collection.offer("health")
    assert offer.current is not None
    support = support_of(offer.current.channels[0][0])
    named = 1000 * float(support.slope + support.offsets[0])
    # Binomial: 6.2 standard errors are exceeded once in 2·10⁹ runs.
    assert abs(counts[0] - named) < 6.2 * (named * (1 - named / 1000)) ** 0.5
    assert requests == []
    assert kept(collection) == 0


@pytest.mark.parametrize("module", ["respond.js", "client/randomize.js"])
def test_a_module_with_other_bytes_does_not_run(
    chromium: Browser, address: str, module: str
) -> None:
    """One changed byte in the page's own module or in a client module: nothing is asked."""
    context = chromium.new_context()
    context.set_default_timeout(WAIT)
    page = context.new_page()

    def change(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text() + " ")

    page.route(f"**/static/*/{module}", change)
    with page.expect_console_message(lambda found: "integrity" in found.text):
        page.goto(f"{address}/s/health")
    page.wait_for_load_state("networkidle")
    assert page.locator("button, fieldset").count() == 0
    context.close()


def test_the_page_speaks_the_readers_language(chromium: Browser, address: str) -> None:
    """German first where the browser asks for it; the choice changes page and questions."""
    context = chromium.new_context(locale="de-AT")
    context.set_default_timeout(WAIT)
    page = context.new_page()
    page.goto(f"{address}/s/health")
    page.get_by_role("heading", name="Gesundheit und Gewohnheiten").wait_for()
    assert page.locator("html").get_attribute("lang") == "de"
    page.get_by_label("Language").select_option("it")
    page.get_by_role("heading", name="Salute e abitudini").wait_for()
    page.locator(SEND).click()
    page.get_by_text("Quanti anni ha?").wait_for()
    context.close()


def test_the_keyboard_alone_is_enough(page: Page, address: str, collection: Collection) -> None:
    """From the first button to the receipt with Tab, Space, arrows and Enter."""
    page.goto(f"{address}/s/health")
    page.locator(SEND).wait_for()

    def press_until(selector: str, key: str = "Tab") -> None:
        for _ in range(60):
            if page.evaluate("s => document.activeElement.matches(s)", selector):
                return
            page.keyboard.press(key)
        pytest.fail(f"the keyboard never reaches {selector}")

    press_until(SEND)
    page.keyboard.press("Enter")
    for _ in range(3):
        page.wait_for_selector("fieldset")
        heading = page.locator("h1").inner_text()
        assert page.evaluate("document.activeElement.tagName") == "H1"
        for _ in page.locator("fieldset").all():
            page.keyboard.press("Tab")
            press_until("input")
            page.keyboard.press("Space")
        press_until(SEND)
        page.keyboard.press("Enter")
        page.wait_for_function("h => document.querySelector('h1').innerText !== h", arg=heading)
    press_until(SEND)
    page.keyboard.press("Enter")
    page.locator("pre").wait_for()
    press_until(SEND)
    page.keyboard.press("Enter")
    page.get_by_text("Your report has arrived").wait_for()
    assert kept(collection) == 1


def test_an_unanswered_question_is_pointed_out(page: Page, address: str) -> None:
    """The page stays, says what is missing, and goes to the first open question."""
    begin(page, address)
    page.locator(SEND).click()
    assert page.get_by_role("status").inner_text() == "2 questions are not answered yet."
    assert page.locator(".error").first.inner_text() == "Please choose an answer."
    assert page.evaluate("document.activeElement.name") == "age"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_has_a_barrier_that_axe_knows(
    chromium: Browser, address: str, collection: Collection, scheme: Literal["light", "dark"]
) -> None:
    """Every view of both pages, light and dark, has no violation."""
    context = chromium.new_context(
        locale="en",
        color_scheme=scheme,
        viewport={"width": 390, "height": 844},
        reduced_motion="reduce",
        bypass_csp=True,
    )
    context.set_default_timeout(WAIT)
    page = context.new_page()
    found: dict[str, list[str]] = {}
    page.goto(f"{address}/s/health")
    page.locator("summary").click()
    found["intro"] = accessibility(page)
    page.locator(SEND).click()
    page.wait_for_selector("fieldset")
    page.locator(SEND).click()
    found["missing"] = accessibility(page)
    fill(page)
    found["ready"] = accessibility(page)
    toss(page)
    found["before"] = accessibility(page)
    page.locator(SEND).click()
    page.get_by_text("Your report has arrived").wait_for()
    found["receipt"] = accessibility(page)
    token = issue_token(collection.store, "research", survey="health", now=collection.now())
    page.goto(f"{address}/r/health")
    page.get_by_label("Token").wait_for()
    found["token"] = accessibility(page)
    page.get_by_label("Token").fill(token)
    page.keyboard.press("Enter")
    page.get_by_text("reports", exact=True).first.wait_for()
    found["results"] = accessibility(page)
    context.close()
    assert {view: faults for view, faults in found.items() if faults} == {}


def test_the_results_page_shows_what_the_interface_says(
    page: Page, address: str, collection: Collection
) -> None:
    """The researcher's link opens the tables; its token stands in no request's address."""
    requests: list[Request] = []
    page.on("request", lambda request: requests.append(request))  # noqa: PLW0108 -- it marks functions
    token = issue_token(collection.store, "research", survey="health", now=collection.now())
    page.goto(f"{address}/r/health#{token}")
    page.get_by_role("heading", name="Health and habits of students").wait_for()
    assert page.locator(".facts strong").first.inner_text() == "0"
    assert not any(token in request.url.partition("#")[0] for request in requests)


def test_a_thousand_reports_of_the_page_follow_their_channel(
    page: Page, address: str, collection: Collection, root: Path
) -> None:
    """The modules as served, in the browser: 1,000 devices, decoded to the right distribution.

    Each device answers the first category of everything. Per view the supporting event has
    probability slope + offset; all together are within 6.2 standard errors (a false alarm in
    2·10⁹ runs). A device that told the truth or nothing would be dozens of errors away.
    """
    del root
    page.goto(f"{address}/s/health")
    page.locator(SEND).wait_for()
    module = page.locator("link[rel=modulepreload]").first.get_attribute("href")
    assert module is not None
    base = module.rpartition("/")[0].removesuffix("/client")
    reports = page.evaluate(
        """async ([base, survey]) => {
            const client = await import(`${base}/client/index.js`);
            const get = async (path) => new Uint8Array(await (await fetch(path)).arrayBuffer());
            const found = await (await fetch(`/v1/surveys/${survey}`)).json();
            const design = await client.readDesign(await get(`/v1/designs/${found.design}`));
            const block = await client.readBlock(await get(`/v1/blocks/${found.block}`), design);
            const zeros = Object.fromEntries(design.attributes.map(({ name }) => [name, 0]));
            const made = [];
            for (let n = 0; n < 1000; n += 1) {
                const device = new client.Device({
                    storage: new client.MemoryStorage(),
                    agreement: new client.Agreement({ epsilon: 2 }),
                });
                const answer = client.Answer.of(design, zeros);
                made.push(String(await device.respond(design, block, answer)));
            }
            return made;
        }""",
        [base, "health"],
    )
    offer = collection.offer("health")
    assert offer.current is not None
    expected = variance = hits = 0.0
    for text in reports:
        report = report_from_bytes(text)
        offer.check(report)
        channel = offer.current.channels[report.view][0]
        support = support_of(channel)
        share = float(support.slope + support.offsets[0])
        expected += share
        variance += share * (1 - share)
        hits += 0 in report.values[0]
    assert abs(hits - expected) < 6.2 * variance**0.5
    assert len({json.loads(text)["id"] for text in reports}) == 1000
    assert len({json.loads(text)["view"] for text in reports}) == len(offer.design.views)
