"""The device: refuses what was not agreed, remembers what it said, never shows an answer."""

from __future__ import annotations

import copy
import json
import math
import pickle
import subprocess
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from deniable.channels import TwoCoin, k_ary, two_coin
from deniable.channels.coin import WORD
from deniable.device import (
    Agreement,
    Answer,
    Device,
    FileStorage,
    MemoryStorage,
    Reply,
    examine,
    reports_body,
    submit,
)
from deniable.device.answer import untraced
from deniable.errors import (
    AnswerError,
    DigestError,
    EpsilonError,
    LedgerError,
    PrivacyRefusedError,
    StorageError,
    SubmissionError,
)
from deniable.protocol import (
    Block,
    Design,
    Group,
    Rule,
    View,
    check_report,
    encode_bytes,
    first_block,
    next_block,
    report_from_bytes,
)
from deniable.schema import Attribute, Schema
from deniable.testing import ScriptedCoin, UnsafeSeededCoin, ask_one_design

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

SIZES = (2, 3, 4)
DESIGN = ask_one_design(SIZES, epsilon=1.0)
BLOCK = first_block(DESIGN)
AGREED = Agreement(epsilon=1.0)
SEXES = Schema((Attribute.nominal("sex", ["female", "male"]),))


def answer(*cells: int) -> Answer:
    """Return an answer to the example design."""
    return Answer(cells, SIZES)


def adaptive(floor: str = "0.2") -> Design:
    """Return a design of one pair whose fake distribution may change between blocks."""
    channel = two_coin(1.0, [1 / 6] * 6, floor=float(floor))
    group = Group((0, 1), (2, 3))
    return Design(
        survey="adaptive",
        schema="-" * 43,
        attributes=(("a", 2), ("b", 3)),
        views=(View((group,)),),
        channels=((channel,),),
        epsilon="1",
        protocol="rrba",
        rule=Rule("classic-blocks", 250, floor),
    )


class NoWordCoin(ScriptedCoin):
    """A coin that fails the test as soon as it is tossed."""

    def __init__(self) -> None:
        """Hold no words at all."""
        super().__init__([])


class ThrowingStorage:
    """A storage that is full, or forbidden, or gone."""

    def alone(self) -> AbstractContextManager[None]:
        """Fail."""
        raise StorageError("the storage cannot be locked")

    def read(self) -> bytes | None:
        """Fail."""
        raise StorageError("the storage cannot be read")

    def write(self, document: bytes) -> None:
        """Fail."""
        raise OSError(28, f"no space left for {len(document)} bytes")


def test_a_report_fits_its_design_and_block() -> None:
    """What the device makes passes the check that a server makes."""
    device = Device(MemoryStorage(), AGREED)
    report = device.respond(DESIGN, BLOCK, answer(1, 2, 3))
    check_report(report, DESIGN, BLOCK)
    assert report_from_bytes(report.to_bytes()) == report


def test_the_same_survey_gives_the_same_bytes_for_ever(tmp_path: Path) -> None:
    """Another answer, another block and another run all give the report made first."""
    storage = FileStorage(tmp_path / "device")
    first = Device(storage, AGREED).respond(DESIGN, BLOCK, answer(0, 0, 0)).to_bytes()
    again = Device(storage, AGREED)
    later = next_block(DESIGN, BLOCK)
    assert again.respond(DESIGN, later, answer(1, 2, 3)).to_bytes() == first
    assert again.ledger.total == pytest.approx(1.0, abs=1e-6)


def test_fresh_answers_are_limited_and_cost_again() -> None:
    """A design with two repeats allows two fresh answers and books both."""
    design = ask_one_design(SIZES, repeats=2)
    block = first_block(design)
    device = Device(MemoryStorage(), AGREED)
    reports = [device.respond(design, block, answer(0, 0, 0), wave=wave) for wave in (0, 1)]
    assert reports[0].identity != reports[1].identity
    assert device.ledger.spent_on(design.survey) == pytest.approx(2.0, abs=1e-6)
    assert device.examine(design, block).whole_survey >= device.ledger.total
    with pytest.raises(PrivacyRefusedError, match="fresh answers"):
        device.respond(design, block, answer(0, 0, 0), wave=2)


def test_what_was_not_asked_is_not_faked() -> None:
    """A report names its view and answers that alone: no fakes for waves to tell the truth from.

    False alarm: 20 waves draw one and the same view of three with odds of 3⁻¹⁹ < 10⁻⁹.
    """
    design = ask_one_design(SIZES, repeats=20)
    device = Device(MemoryStorage(), AGREED)
    asked = set()
    for wave in range(20):
        report = device.respond(design, first_block(design), answer(1, 2, 3), wave=wave)
        groups = design.views[report.view].groups
        assert len(report.values) == len(groups) == 1
        asked.add(groups[0].attributes)
        assert len(device.ledger.entries[design.survey, wave].attributes) == len(groups[0].sizes)
    assert len(asked) > 1


def test_another_design_of_the_same_survey_is_refused() -> None:
    """A server that changes its design cannot have the survey answered twice."""
    device = Device(MemoryStorage(), AGREED)
    device.respond(DESIGN, BLOCK, answer(0, 0, 0))
    other = ask_one_design(SIZES, epsilon=0.5)
    with pytest.raises(PrivacyRefusedError, match="another design"):
        device.respond(other, first_block(other), answer(0, 0, 0))


@pytest.mark.parametrize("agreed", [0.5, 0.999])
def test_a_costlier_channel_is_refused_before_any_coin(agreed: float) -> None:
    """No coin is tossed for channels that cost more than was agreed."""
    device = Device(MemoryStorage(), Agreement(agreed), coin=NoWordCoin())
    with pytest.raises(PrivacyRefusedError, match="cost more"):
        device.respond(DESIGN, BLOCK, answer(0, 0, 0))


def test_a_truth_coin_raised_by_one_step_is_refused() -> None:
    """One step of 2^-32 above the design's promise is enough to be refused."""
    design = adaptive()
    (channel,) = design.channels[0]
    assert isinstance(channel, TwoCoin)
    assert examine(design, first_block(design), AGREED).epsilon <= 1.0
    stronger = Block(design.digest, 1, ((replace(channel, head=channel.head + 2),),))
    with pytest.raises(PrivacyRefusedError, match="cost more"):
        Device(MemoryStorage(), AGREED, coin=NoWordCoin()).respond(
            design, stronger, Answer((0, 0), (2, 3))
        )


def test_a_fake_distribution_below_the_floor_is_refused() -> None:
    """An honest epsilon does not excuse a floor that was broken."""
    design = adaptive("0.3")
    low = two_coin(1.0, [0.95, 0.01, 0.01, 0.01, 0.01, 0.01])
    block = Block(design.digest, 1, ((low,),))
    with pytest.raises(PrivacyRefusedError, match="floor"):
        examine(design, block, AGREED)
    kept = two_coin(1.0, [1.0, 0, 0, 0, 0, 0], floor=0.3)
    examine(design, Block(design.digest, 1, ((kept,),)), AGREED)
    with pytest.raises(PrivacyRefusedError, match="floor"):
        examine(design, Block(design.digest, 1, ((kept,),)), Agreement(1.0, floor=0.4))


def test_a_fixed_design_with_changed_channels_is_refused() -> None:
    """Channels that a fixed design did not publish are refused, even weaker ones."""
    weaker = tuple((k_ary(0.1, row[0].size),) for row in DESIGN.channels)
    with pytest.raises(PrivacyRefusedError, match="changed channels"):
        examine(DESIGN, Block(DESIGN.digest, 1, weaker), AGREED)


def test_a_design_or_block_that_was_not_published_is_refused() -> None:
    """Digests are compared before any coin is tossed."""
    other = ask_one_design(SIZES, epsilon=0.5)
    with pytest.raises(DigestError, match="agreed"):
        examine(DESIGN, BLOCK, Agreement(1.0, design=other.digest))
    with pytest.raises(DigestError, match="another design"):
        examine(other, BLOCK, AGREED)


def test_a_cap_on_the_ledger_is_kept(tmp_path: Path) -> None:
    """The respondent's own cap refuses the answer that would exceed it, after restarts too."""
    storage = FileStorage(tmp_path / "device")
    Device(storage, AGREED).set_cap(1.5)
    Device(storage, AGREED).respond(DESIGN, BLOCK, answer(0, 0, 0))
    second = ask_one_design(SIZES, survey="second")
    device = Device(storage, AGREED, coin=NoWordCoin())
    assert device.ledger.cap == 1.5
    with pytest.raises(LedgerError, match="cap"):
        device.respond(second, first_block(second), answer(0, 0, 0))


def test_the_ledger_books_attributes_surveys_and_the_total() -> None:
    """Each attribute asked is booked with its own level, each survey with its sum."""
    device = Device(MemoryStorage(), AGREED, coin=UnsafeSeededCoin(3))
    report = device.respond(DESIGN, BLOCK, answer(0, 1, 2))
    asked = {DESIGN.names[a] for g in DESIGN.views[report.view].groups for a in g.attributes}
    assert set(device.ledger.spent_by_attribute(DESIGN.survey)) == asked
    assert device.ledger.total >= device.examine(DESIGN, BLOCK).epsilon
    assert device.ledger.spent_on("elsewhere") == 0


def test_a_storage_that_throws_does_not_stop_an_answer() -> None:
    """The page survives a storage that fails, and knows that it will not remember."""
    device = Device(ThrowingStorage(), AGREED)
    report = device.respond(DESIGN, BLOCK, answer(1, 1, 1))
    assert device.respond(DESIGN, BLOCK, answer(0, 0, 0)) == report
    assert not device.lasting


class FlakyStorage(MemoryStorage):
    """A storage that cannot be read the first few times."""

    def __init__(self, failures: int) -> None:
        """Fail so often."""
        super().__init__()
        self.failures = failures

    def read(self) -> bytes | None:
        """Fail, or read."""
        self.failures -= 1
        if self.failures >= 0:
            raise OSError(5, "input/output error")
        return super().read()


def test_a_storage_that_recovers_remembers_from_then_on() -> None:
    """What was said while the memory could not be read is written once it can, beside the old."""
    storage = FlakyStorage(failures=0)
    other = ask_one_design(SIZES, survey="other")
    Device(storage, AGREED).respond(other, first_block(other), answer(0, 0, 0))
    storage.failures = 2
    device = Device(storage, AGREED)
    report = device.respond(DESIGN, BLOCK, answer(1, 1, 1))
    assert not device.lasting
    device.mark_sent(report)
    assert device.lasting
    known = Device(storage, AGREED).ledger
    assert {entry.survey for entry in known.entries.values()} == {"other", DESIGN.survey}


@pytest.mark.parametrize("stored_is_sent", [False, True])
@pytest.mark.parametrize("new_is_sent", [False, True])
def test_the_report_that_arrived_holds_when_the_memory_recovers(
    *, stored_is_sent: bool, new_is_sent: bool
) -> None:
    """Answered twice because the memory failed: the other is never sent, or both are booked."""
    storage = FlakyStorage(failures=0)
    earlier = Device(storage, AGREED)
    stored = earlier.respond(DESIGN, BLOCK, answer(0, 0, 0))
    if stored_is_sent:
        earlier.mark_sent(stored)
    cost = earlier.ledger.total
    storage.failures = 2 + new_is_sent
    device = Device(storage, AGREED)
    new = device.respond(DESIGN, BLOCK, answer(1, 1, 1))
    assert new != stored
    if new_is_sent:
        device.mark_sent(new)
    holds = new if new_is_sent and not stored_is_sent else stored
    is_sent = new_is_sent or stored_is_sent
    for _ in range(3):  # looking again changes nothing
        assert device.unsent() == ([] if is_sent else [stored])
        assert device.respond(DESIGN, BLOCK, answer(1, 0, 2)) == holds
    device.set_cap(9.0)
    for one in (device, Device(storage, AGREED)):
        (entry,) = one.ledger.entries.values()
        assert (entry.report, entry.sent) == (holds, is_sent)
        times = 2 if new_is_sent and stored_is_sent else 1
        assert one.ledger.total == pytest.approx(times * cost)
        for epsilon in one.ledger.spent_by_attribute(DESIGN.survey).values():
            assert epsilon <= one.ledger.total


def test_a_report_on_its_way_while_the_memory_recovers_is_booked() -> None:
    """It arrives after the device learned of another one that was sent: both were spent."""
    storage = FlakyStorage(failures=0)
    earlier = Device(storage, AGREED)
    stored = earlier.respond(DESIGN, BLOCK, answer(0, 0, 0))
    storage.failures = 3
    device = Device(storage, AGREED)
    device.respond(DESIGN, BLOCK, answer(1, 1, 1))
    (on_its_way,) = device.unsent()
    earlier.mark_sent(stored)
    assert device.unsent() == []
    device.mark_sent(on_its_way)
    (entry,) = Device(storage, AGREED).ledger.entries.values()
    assert (entry.report, entry.sent) == (stored, True)
    assert entry.epsilon == pytest.approx(2 * device.examine(DESIGN, BLOCK).epsilon)


def test_a_damaged_memory_is_an_error_and_not_a_fresh_start() -> None:
    """Forgetting a damaged memory would spend the same privacy twice."""
    storage = MemoryStorage()
    storage.write(b'{"deniable":1,"entries":[{"survey"')
    with pytest.raises(StorageError, match="damaged"):
        Device(storage, AGREED)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """The file storage says which folder cannot be written, and leaves nothing behind."""
    with pytest.raises(StorageError, match="cannot be written"):
        FileStorage(tmp_path / "missing" / "device").write(b"{}")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageError):
        FileStorage(tmp_path / "folder").read()


def test_an_answer_cannot_be_shown_copied_or_written() -> None:
    """No representation, copy, pickle or JSON of an answer exists."""
    secret = answer(1, 2, 3)
    assert repr(secret) == str(secret) == "Answer(…)"
    assert not hasattr(secret, "__dict__")
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(AnswerError, match="never leaves"):
            attempt(secret)
    with pytest.raises(TypeError):
        json.dumps(secret)


@pytest.mark.parametrize("cells", [(2, 0, 0), (0, -1, 0), (0, 0), (0, True, 0), (0, 0, 1.0)])
def test_an_answer_outside_its_domain_is_one_error_that_does_not_name_it(
    cells: tuple[int, ...],
) -> None:
    """The error tells the attribute and the domain, never the value."""
    with pytest.raises(AnswerError) as caught:
        Answer(cells, SIZES)
    assert caught.value.given is None or "cells" in str(caught.value.given)


class BrokenCoin(ScriptedCoin):
    """A coin that breaks when the truth is already at hand."""

    def heads(self, head: int) -> bool:
        """Fail while another error is being handled, as real faults do."""
        try:
            return super().heads(head)
        except AssertionError as error:
            raise OSError("no more randomness") from error


@untraced
def break_twice(truth: int) -> None:
    """Fail with another cause than the error that is being handled, the truth at hand."""
    try:
        (0,)[truth]
    except IndexError:
        raise OSError("no more randomness") from ValueError("elsewhere")


TOO_LARGE = 987_654_321
"""An answer to be looked for in what is shown."""

LARGE = Design(
    survey="large",
    schema="-" * 43,
    attributes=(("a", TOO_LARGE + 1),),
    views=(View((Group((0,), (TOO_LARGE + 1,)),)),),
    channels=((k_ary(1.0, TOO_LARGE + 1),),),
    epsilon="1",
)


@pytest.mark.parametrize(
    "fail",
    [
        lambda: Answer((TOO_LARGE, 0, 0), SIZES),
        lambda: Answer.of(SEXES, {"sex": str(TOO_LARGE)}),
        lambda: Answer.of(SEXES, {"sex": "male", str(TOO_LARGE): 1}),
        lambda: Answer.of(SEXES, [TOO_LARGE]),  # type: ignore[arg-type]
        lambda: Device(MemoryStorage(), Agreement(1.0), coin=BrokenCoin([])).respond(
            LARGE, first_block(LARGE), Answer((TOO_LARGE,), (TOO_LARGE + 1,))
        ),
        lambda: break_twice(TOO_LARGE),
        lambda: Device(MemoryStorage(), AGREED).respond(
            DESIGN, BLOCK, Answer((TOO_LARGE,), (TOO_LARGE + 1,))
        ),
    ],
    ids=["domain", "category", "stranger", "no mapping", "coin", "two causes", "design"],
)
def test_an_error_shows_no_answer_even_with_the_locals_of_its_trace(
    fail: Callable[[], object],
) -> None:
    """A crash reporter that writes down every frame's variables writes down no answer."""
    with pytest.raises(Exception, match=r".") as caught:
        fail()
    errors = [caught.value, caught.value.__cause__, caught.value.__context__]
    shown = "".join(
        line
        for error in errors
        if error is not None
        for line in traceback.TracebackException.from_exception(error, capture_locals=True).format()
    )
    assert "guarded" in shown, "the trace begins where the frames were forgotten"
    assert str(TOO_LARGE) not in shown


def test_stored_memory_holds_no_answer() -> None:
    """What is written does not depend on the answer where the coins hide it."""
    documents = []
    for cells in ((0, 0, 0), (1, 2, 3)):
        storage = MemoryStorage()
        tails = [0, 0, WORD - 1, 12_345]  # the first view, tails, a fake cell
        design = ask_one_design(SIZES, epsilon=4.0)
        coin = ScriptedCoin(tails)
        device = Device(storage, Agreement(4.0), coin=coin, name_report=lambda: bytes(16))
        device.respond(design, first_block(design), answer(*cells))
        documents.append(storage.read())
    assert documents[0] is not None
    assert documents[0] == documents[1]


def test_devices_that_share_a_memory_give_one_report(tmp_path: Path) -> None:
    """Whatever opens the same memory, in this program or eight others, hands out one report."""
    path = tmp_path / "device"
    asleep = Device(FileStorage(path), AGREED)
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(respond_elsewhere, [path] * 8))
    assert len(made) == 1
    assert asleep.respond(DESIGN, BLOCK, answer(0, 0, 0)).to_bytes() in made


def respond_elsewhere(path: Path) -> bytes:
    """Answer in a process of its own."""
    script = (
        "import sys\n"
        "from deniable.device import *\n"
        "from deniable.protocol import first_block\n"
        "from deniable.testing import ask_one_design\n"
        "design = ask_one_design((2, 3, 4), epsilon=1.0)\n"
        "device = Device(FileStorage(sys.argv[1]), Agreement(1.0))\n"
        "report = device.respond(design, first_block(design), Answer((1, 2, 3), (2, 3, 4)))\n"
        "sys.stdout.buffer.write(report.to_bytes())\n"
    )
    command = [sys.executable, "-c", script, str(path)]
    return subprocess.run(command, check=True, capture_output=True).stdout


def test_a_memory_of_another_version_is_refused() -> None:
    """A device does not guess what a later version wrote."""
    storage = MemoryStorage()
    storage.write(b'{"deniable":2,"cap":null,"entries":[]}')
    with pytest.raises(StorageError, match="another version"):
        Device(storage, AGREED)


@pytest.mark.parametrize("epsilon", [0, -1, math.inf, math.nan, True, "1", 10**400])
def test_an_agreement_to_nothing_or_everything_is_refused(epsilon: float) -> None:
    """Only a positive finite level can be agreed to."""
    with pytest.raises(EpsilonError):
        Agreement(epsilon)


def test_a_certificate_prints_rounded_up() -> None:
    """A certificate names the level per answer, per attribute and per survey."""
    text = str(examine(DESIGN, BLOCK, AGREED))
    assert "1.000 per answer" in text
    assert "whole survey" in text


class Server:
    """A server that fails as told and then accepts."""

    def __init__(self, *replies: Reply) -> None:
        """Queue the replies before the first success."""
        self.replies = list(replies)
        self.bodies: list[bytes] = []

    def __call__(self, url: str, body: bytes) -> Reply:
        """Note the body and reply."""
        assert url == "http://localhost/reports"
        self.bodies.append(body)
        if self.replies:
            return self.replies.pop(0)
        names = [report["id"] for report in json.loads(body)["reports"]]
        results = [{"id": name, "status": "accepted"} for name in names]
        return Reply(200, json.dumps({"results": results}).encode())


def test_a_retry_sends_the_same_bytes() -> None:
    """Timeouts and overload are answered with the same bytes, after the wait asked for."""
    device = Device(MemoryStorage(), AGREED)
    report = device.respond(DESIGN, BLOCK, answer(0, 0, 0))
    server = Server(Reply(503), Reply(429, b"", 7.0), Reply(500))
    waits: list[float] = []
    assert submit(device, "http://localhost/reports", send=server, wait=waits.append) == 1
    assert server.bodies == [reports_body([report])] * 4
    assert waits[1] == 7.0
    assert device.unsent() == []
    assert submit(device, "http://localhost/reports", send=server) == 0


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(409, b'{"title":"other bytes"}'), "other bytes"),
        (Reply(422, b"not json"), "422"),
        (Reply(200, b'{"results":[]}'), "did not say"),
        (Reply(200, b"<html>"), "did not say"),
    ],
)
def test_a_refusal_keeps_the_report_and_says_why(reply: Reply, words: str) -> None:
    """A report that was refused, or not clearly accepted, stays unsent."""
    device = Device(MemoryStorage(), AGREED)
    device.respond(DESIGN, BLOCK, answer(0, 0, 0))
    with pytest.raises(SubmissionError, match=words):
        submit(device, "http://localhost/reports", send=Server(reply))
    assert len(device.unsent()) == 1


def test_a_problem_for_the_report_itself_is_a_refusal() -> None:
    """A batch that succeeded as a whole may still have refused this report."""
    device = Device(MemoryStorage(), AGREED)
    report = device.respond(DESIGN, BLOCK, answer(0, 0, 0))
    body = {"results": [{"id": encode_bytes(report.identity), "problem": "impossible cell"}]}
    with pytest.raises(SubmissionError, match="impossible cell"):
        submit(device, "http://localhost/r", send=lambda *_: Reply(200, json.dumps(body).encode()))


def test_one_refusal_does_not_keep_other_reports_back() -> None:
    """The reports of other surveys arrive; the refusal is told when all were tried."""
    device = Device(MemoryStorage(), AGREED)
    designs = [ask_one_design(SIZES, survey=name) for name in ("one", "two", "three")]
    for design in designs:
        device.respond(design, first_block(design), answer(0, 0, 0))
    server = Server(Reply(410, b'{"title":"closed"}'))
    with pytest.raises(SubmissionError, match="closed"):
        submit(device, "http://localhost/reports", send=server)
    assert [entry.survey for entry in device.ledger.entries.values() if not entry.sent] == ["one"]
    assert device.unsent("two") == []
    assert submit(device, "http://localhost/reports", survey="two", send=server) == 0


def test_an_invitation_travels_beside_the_report() -> None:
    """The code stands in the body and not in the report, which stays the same bytes."""
    device = Device(MemoryStorage(), AGREED)
    report = device.respond(DESIGN, BLOCK, answer(0, 0, 0))
    server = Server()
    submit(device, "http://localhost/reports", invitation="a-code", send=server)
    assert server.bodies == [b'{"reports":[' + report.to_bytes() + b'],"invitation":"a-code"}']


def test_a_server_out_of_reach_is_given_up_after_the_attempts() -> None:
    """The device stops trying, keeps the report, and says that it may be sent later."""
    device = Device(MemoryStorage(), AGREED)
    device.respond(DESIGN, BLOCK, answer(0, 0, 0))
    with pytest.raises(SubmissionError, match="could not be reached"):
        submit(device, "http://x", attempts=2, send=lambda *_: Reply(503), wait=lambda _: None)
    assert len(device.unsent()) == 1


def test_only_http_addresses_are_posted_to() -> None:
    """A file address is no server."""
    device = Device(MemoryStorage(), AGREED)
    device.respond(DESIGN, BLOCK, answer(0, 0, 0))
    with pytest.raises(SubmissionError, match="http"):
        submit(device, "file:///etc/hostname")
