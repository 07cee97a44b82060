"""Aggregators over HTTP: the same sums, those who leave are left out, the rest is refused."""

from __future__ import annotations

import http.client
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest
from click.testing import CliRunner

from deniable.cli import main
from deniable.errors import SharingError
from deniable.planning.learning import learn_by_secure_sum, randomized_places
from deniable.schema import Survey
from deniable.sharing import (
    Aggregator,
    Desk,
    RemoteAggregator,
    gather,
    kind_of,
    send_shares,
    shares_for,
    sheet_of_pairs,
    sheet_of_survey,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SIZES = (2, 2, 3)
SHEET = sheet_of_pairs(SIZES)
KIND = kind_of(SHEET)
SURVEY = """
deniable = 1
name = "habits"

[privacy]
epsilon = 3
design = "independent"

[[pages]]

[[pages.elements]]
type = "boolean"
name = "smokes"

[[pages.elements]]
type = "boolean"
name = "drinks"

[[pages.elements]]
type = "radiogroup"
name = "region"
choices = ["north", "south", "west"]
"""


def answers_of(count: int) -> np.ndarray:
    """Draw answers in which the first two attributes go together."""
    rng = np.random.default_rng(5)
    first = rng.integers(0, 2, count)
    second = np.where(rng.random(count) < 0.8, first, 1 - first)
    return np.stack([first, second, rng.integers(0, 3, count)], axis=1)


@pytest.fixture
def desks() -> Iterator[list[Desk]]:
    """Open three desks."""
    opened = [Desk(Aggregator(SHEET.width, 20)) for _ in range(3)]
    yield opened
    for desk in opened:
        desk.close()


def at(desks: list[Desk]) -> list[RemoteAggregator]:
    """Reach them from outside."""
    return [RemoteAggregator(desk.address) for desk in desks]


def test_desks_sum_what_devices_send(desks: list[Desk]) -> None:
    """The sums are the plain counts; one desk alone holds noise."""
    places = SHEET.places(answers_of(60))
    assert send_shares(SHEET, places, at(desks)) == 0
    sums, people = gather(SHEET, at(desks))
    assert people == 60
    assert np.array_equal(sums, np.bincount(places.reshape(-1), minlength=SHEET.width))
    alone = at(desks)[0].total(at(desks)[0].identities)
    assert int(alone.max()) > 60  # a word of 2³², not a count: by chance once in 10^115


def test_who_reaches_some_desks_only_is_left_out(desks: list[Desk]) -> None:
    """A device that breaks off between two desks does not spoil the sum of the others."""
    places = SHEET.places(answers_of(40))
    send_shares(SHEET, places, at(desks))
    vector = SHEET.vector(places[0])
    at(desks)[0].accept(b"gone".ljust(16), shares_for(vector, 3)[0], KIND)
    sums, people = gather(SHEET, at(desks))
    assert people == 40
    assert np.array_equal(sums, np.bincount(places.reshape(-1), minlength=SHEET.width))


def test_a_desk_shows_no_total_of_few_and_none_of_others(desks: list[Desk]) -> None:
    """Below the fewest, and after another set was shown, the answer is a sentence."""
    send_shares(SHEET, SHEET.places(answers_of(30)), at(desks))
    (first, *_) = at(desks)
    everybody = sorted(first.identities)
    with pytest.raises(SharingError, match="20 or more"):
        first.total(everybody[:19])
    first.total(everybody)
    with pytest.raises(SharingError, match="other people"):
        first.total(everybody[:25])
    late = shares_for(SHEET.vector(np.array([0, 4, 10])), 3)[0]
    with pytest.raises(SharingError, match="shown already"):
        first.accept(b"late".ljust(16), late, KIND)


def test_a_liar_in_a_table_is_caught_by_the_sums(desks: list[Desk]) -> None:
    """Two ones in one table make it count one person too many."""
    places = SHEET.places(answers_of(30))
    send_shares(SHEET, places, at(desks))
    twice = SHEET.vector(places[0]).copy()
    twice[:2] = 1
    twice[2:4] = 0
    for desk, share in zip(at(desks), shares_for(twice, 3), strict=True):
        desk.accept(b"liar".ljust(16), share, KIND)
    with pytest.raises(SharingError, match="cheated"):
        gather(SHEET, at(desks))


def test_a_desk_refuses_what_is_no_share(desks: list[Desk]) -> None:
    """A wrong id, half a word, a wrong width, no kind, another path: 400 or 409, no trace of it."""
    host, port = desks[0].address.removeprefix("http://").split(":")
    for method, path, body, kind, status in (
        ("PUT", "/shares/zz", b"1234", KIND.text, 400),
        ("PUT", "/shares/" + "00" * 15, b"1234", KIND.text, 400),
        ("PUT", "/shares/" + "00" * 16, b"123", KIND.text, 400),
        ("PUT", "/shares/" + "00" * 16, b"1234", KIND.text, 409),
        ("PUT", "/shares/" + "00" * 16, bytes(4 * SHEET.width), None, 400),
        ("PUT", "/shares/" + "00" * 16, bytes(4 * SHEET.width), "habits/x/-1", 409),
        ("PUT", "/shares/" + "00" * 16, bytes(4 * SHEET.width), "exact", 409),
        ("GET", "/shares", b"", None, 400),
        ("POST", "/total", b"short", None, 400),
        ("POST", "/sum", b"", None, 400),
    ):
        line = http.client.HTTPConnection(host, int(port), timeout=60)
        line.request(method, path, body, {} if kind is None else {"Deniable-Kind": kind})
        assert line.getresponse().status == status, path
        line.close()
    assert at(desks)[0].identities == frozenset()
    assert at(desks)[0].kind is None


def test_shares_of_another_kind_are_refused_where_they_arrive(desks: list[Desk]) -> None:
    """The first share decides: exact ones, other levels and other tables do not mix with it."""
    places, pairs = SHEET.places(answers_of(30)), kind_of(SHEET, 2)
    assert send_shares(SHEET, places, at(desks), kind=pairs) == 0
    assert at(desks)[0].kind == pairs
    for kind, sentence in (
        (KIND, r"another level \(given: 'exact'\); expected pairs randomized at ε 2\.$"),
        (kind_of(SHEET, 2.5), "given: 'pairs randomized at ε 2.5'"),
        (kind_of(sheet_of_pairs((3, 2, 2)), 2), "other questions"),
        (kind_of(sheet_of_survey(Survey.parse(SURVEY)), 2), "another survey .given: 'habits'"),
    ):
        with pytest.raises(SharingError, match=sentence):
            send_shares(SHEET, places, at(desks), kind=kind)
        with pytest.raises(SharingError, match=r"another level|other questions|another survey"):
            gather(SHEET, at(desks), kind=kind)
    assert gather(SHEET, at(desks), kind=pairs)[1] == 30


def test_an_aggregator_keeps_to_the_kind_and_the_tables_it_is_told() -> None:
    """Told both, or the tables only; not even the first share may differ."""
    share = np.zeros(SHEET.width, np.uint32)
    told = Aggregator(SHEET.width, kind=kind_of(SHEET, 2))
    with pytest.raises(SharingError, match="another level"):
        told.accept(b"1", share, KIND)
    of_survey = sheet_of_survey(Survey.parse(SURVEY))
    tables = Aggregator(SHEET.width, sheet=of_survey)
    with pytest.raises(SharingError, match="another survey"):
        tables.accept(b"1", share, KIND)
    tables.accept(b"1", share, kind_of(of_survey, 2))
    with pytest.raises(SharingError, match="another level"):
        tables.accept(b"2", share, kind_of(of_survey))


def test_totals_of_different_kinds_are_never_laid_together() -> None:
    """One aggregator has exact shares, the other randomized ones: no total is shown."""
    places = SHEET.places(answers_of(5))
    one, other = Aggregator(SHEET.width), Aggregator(SHEET.width)
    with pytest.raises(SharingError, match="no shares yet"):
        gather(SHEET, [one, other])
    for number, row in enumerate(places):
        first, second = shares_for(SHEET.vector(row), 2)
        one.accept(bytes([number]), first, KIND)
        other.accept(bytes([number]), second, kind_of(SHEET, 2))
    with pytest.raises(SharingError, match="different kinds"):
        gather(SHEET, [one, other])
    one.accept(b"new", np.zeros(SHEET.width, np.uint32), KIND)  # open still: nothing was shown


def test_one_aggregator_under_two_names_is_noticed(desks: list[Desk]) -> None:
    """Twice the same total is no sum."""
    send_shares(SHEET, SHEET.places(answers_of(30)), at(desks))
    with pytest.raises(SharingError, match="so are one"):
        gather(SHEET, [at(desks)[0], at(desks)[0]])


def test_what_holds_for_everybody_stops_the_sending(desks: list[Desk]) -> None:
    """After the total was shown the first refusal is the last, in the aggregator's own words."""
    places = SHEET.places(answers_of(30))
    done: list[int] = []
    send_shares(SHEET, places, at(desks))
    gather(SHEET, at(desks))
    with pytest.raises(SharingError, match=r"^the total was shown already; expected [^;]*$"):
        send_shares(SHEET, places, at(desks), advance=done.append)
    assert done == []


def test_sums_that_cannot_be_are_told_by_the_names_of_the_attributes() -> None:
    """A sheet of a survey knows what its attributes are called."""
    sheet = sheet_of_survey(Survey.parse(SURVEY))
    with pytest.raises(SharingError, match="'smokes' and 'drinks' does not count"):
        sheet.check(np.zeros(sheet.width, np.uint32), 4)
    with pytest.raises(SharingError, match="attributes 0 and 1 does not count"):
        SHEET.check(np.zeros(SHEET.width, np.uint32), 4)


class Behind(http.client.HTTPConnection):
    """A connection that stands for TLS and a path in front of a desk."""

    asked: ClassVar[list[str]] = []

    def request(self, method: str, url: str, *rest: object, **more: object) -> None:
        """Take the path away, as what stands in front would."""
        self.asked.append(url)
        super().request(method, url.removeprefix("/first"), *rest, **more)  # type: ignore[arg-type]


def test_an_aggregator_is_reached_behind_tls_and_below_a_path(
    desks: list[Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    """``https`` opens the connection of its own name, and every path begins as the address does."""
    monkeypatch.setattr("deniable.sharing.address.HTTPSConnection", Behind)
    remote = RemoteAggregator(desks[0].address.replace("http:", "https:") + "/first/")
    share = np.zeros(SHEET.width, np.uint32)
    remote.accept(b"1" * 16, share, KIND)
    assert remote.identities == {b"1" * 16}
    assert Behind.asked == ["/first/shares/" + "31" * 16, "/first/identities"]


def test_a_desk_that_speaks_no_tls_is_not_reached_by_https(desks: list[Desk]) -> None:
    """An address with https means it: nothing goes over the wire in plain."""
    remote = RemoteAggregator(desks[0].address.replace("http:", "https:"))
    with pytest.raises(SharingError, match=r"cannot be reached: .*given: 'https://127"):
        remote.accept(b"1" * 16, np.zeros(SHEET.width, np.uint32), KIND)
    assert at(desks)[0].identities == frozenset()


@pytest.mark.parametrize(
    "address",
    ["localhost", "ftp://one", "http://", "http://one:port", "http://me:pw@one", "http://one/?a=1"],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    """With two examples of what is."""
    with pytest.raises(SharingError, match="such as http"):
        RemoteAggregator(address)


def test_an_aggregator_that_is_not_there_is_named() -> None:
    """A closed one, by its address."""
    desk = Desk(Aggregator(4))
    gone = RemoteAggregator(desk.address)
    desk.close()
    with pytest.raises(SharingError, match=f"cannot be reached: .*given: '{desk.address}'"):
        _ = gone.identities
    one = sheet_of_pairs((2, 2))
    assert send_shares(one, np.array([[1]]), [gone, gone]) == 1


def run(*words: object) -> str:
    """Run a command that succeeds; return what it prints."""
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    assert max(map(len, done.stdout.splitlines())) <= 80
    return done.stdout


def refused(*words: object) -> str:
    """Run a command that is refused in a sentence; return it."""
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == 2, done.output
    return " ".join(done.output.split())


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Save the survey."""
    file = tmp_path / "one.toml"
    file.write_text(SURVEY)
    return file


def named(desks: list[Desk]) -> list[str]:
    """Name desks to a command."""
    return [word for desk in desks for word in ("--at", desk.address)]


@pytest.mark.parametrize("epsilon", [None, 4.0])
def test_two_stages_by_secure_sum_from_the_command_line(
    epsilon: float | None, desks: list[Desk], survey: Path, tmp_path: Path
) -> None:
    """Share, learn, publish the second stage's survey; ε of both stages is added up."""
    second, data = (tmp_path / name for name in ("two.toml", "data.csv"))
    words = ("no", "yes"), ("no", "yes"), ("north", "south", "west")
    rows = [
        ",".join(one[cell] for one, cell in zip(words, row, strict=True))
        for row in answers_of(300).tolist()
    ]
    data.write_text("\n".join(["smokes,drinks,region", *rows]))
    where = named(desks)
    pair = [] if epsilon is None else ["--pair-epsilon", epsilon]
    run("share", survey, "--data", data, "--n", 300, *where, *pair)
    printed = run("clusters", *where, "--survey", survey, "-o", second, "--least-dependence", 0.3)
    assert printed.splitlines()[-1] == 'clusters = [["smokes", "drinks"], ["region"]]'
    assert ("15.000" if epsilon else "∞") in printed  # three pairs at 4 each, and 3 to come
    written = Survey.load(second)
    assert written.name == "habits-2"
    assert written.privacy.options["clusters"] == (("smokes", "drinks"),)


@pytest.mark.parametrize("sent", [None, 2.0])
def test_the_epsilon_printed_is_the_one_that_was_spent(
    sent: float | None, desks: list[Desk], survey: Path
) -> None:
    """Whoever reads the sums cannot say that they cost less; no total is shown to a liar."""
    where = [*named(desks), "--survey", survey]
    run("share", survey, "--n", 50, *named(desks), *(["--pair-epsilon", sent] if sent else []))
    for claimed in (0.1, 3):
        sentence = refused("clusters", *where, "--pair-epsilon", claimed)
        assert f"expected pairs randomized at ε {claimed}" in sentence
        assert ("ε 2'" if sent else "given: 'exact'") in sentence
    kind = kind_of(sheet_of_survey(Survey.load(survey)), sent)
    at(desks)[0].accept(b"1" * 16, np.zeros(SHEET.width, np.uint32), kind)  # still open
    claims = [[], ["--pair-epsilon", 2]] if sent else [[]]
    for claim in claims:
        printed = run("clusters", *where, *claim)
        spent = next(line for line in printed.splitlines() if line.startswith("ε spent"))
        assert spent.split()[-1] == ("6.000" if sent else "∞")  # three pairs


def test_another_survey_of_the_same_width_is_refused(
    desks: list[Desk], survey: Path, tmp_path: Path
) -> None:
    """Its cells mean something else; neither shares nor totals are taken for those of another."""
    other, renamed = tmp_path / "other.toml", tmp_path / "renamed.toml"
    other.write_text(SURVEY.replace('"smokes"', '"snores"'))
    renamed.write_text(SURVEY.replace('"habits"', '"vices"'))
    run("share", survey, "--n", 50, *named(desks))
    for file, sentence in ((other, "with other questions"), (renamed, "of another survey")):
        assert sentence in refused("clusters", *named(desks), "--survey", file)
        assert sentence in refused("share", file, "--n", 50, *named(desks))
    assert "at another level" in refused(
        "share", survey, "--n", 50, *named(desks), "--pair-epsilon", 1
    )


def test_what_an_aggregator_refuses_is_told_once_and_in_its_words(
    desks: list[Desk], survey: Path
) -> None:
    """Too few people, and shares that come after the total."""
    run("share", survey, "--n", 5, *named(desks))
    few = refused("clusters", *named(desks), "--survey", survey)
    assert "too few people have arrived at every aggregator (given: 5); expected 20 or more." in few
    run("share", survey, "--n", 50, *named(desks))
    run("clusters", *named(desks), "--survey", survey)
    late = refused("share", survey, "--n", 50, *named(desks))
    assert late == "error: the total was shown already; expected shares before the sum is closed."


def test_who_reaches_no_aggregator_is_told_so(survey: Path) -> None:
    """Nothing is sent, and the command says which one is not there."""
    desk, other = Desk(Aggregator(SHEET.width)), Desk(Aggregator(SHEET.width))
    desk.close()
    with other:
        words = ["--at", other.address, "--at", desk.address]
        assert f"'{desk.address}'" in refused("share", survey, "--n", 2, *words)
        assert other.aggregator.identities == frozenset()


@pytest.mark.parametrize("command", ["share", "clusters"])
def test_one_aggregator_is_none(command: str, desks: list[Desk], survey: Path) -> None:
    """Named alone, or twice in two spellings."""
    address = desks[0].address
    words = ["share", survey] if command == "share" else ["clusters", "--survey", survey]
    for where in (["--at", address], ["--at", address, "--at", address + "/"]):
        assert "two or more different aggregators" in refused(*words, *where)


@pytest.mark.parametrize("level", ["0", "-1", "nan", "inf"])
def test_a_pair_epsilon_that_is_none_is_refused_before_anything_is_sent(
    level: str, desks: list[Desk], survey: Path
) -> None:
    """By devices, aggregators and readers alike."""
    for words in (
        ["share", survey, *named(desks)],
        ["clusters", "--survey", survey, *named(desks)],
        ["aggregate", survey, "--port", 0],
    ):
        sentence = refused(*words, "--pair-epsilon", level)
        assert "--pair-epsilon is no level of privacy" in sentence
    assert at(desks)[0].identities == frozenset()


def test_a_port_that_is_taken_is_named(desks: list[Desk], survey: Path) -> None:
    """The address that somebody else has, and what would do."""
    port = desks[0].address.rpartition(":")[2]
    sentence = refused("aggregate", survey, "--port", port)
    assert f"given: '{desks[0].address}'" in sentence
    assert "a free port" in sentence


def test_randomized_places_are_one_in_each_table() -> None:
    """What is shared after randomizing is a vector of ones like any other."""
    places = randomized_places(SHEET, answers_of(50), 0.5)
    sums = np.bincount(places.reshape(-1), minlength=SHEET.width).astype(np.uint32)
    SHEET.check(sums, 50, margins=False)
    plain = learn_by_secure_sum(answers_of(50), SIZES, [False] * 3)
    assert plain.dependence.shape == (3, 3)


@pytest.mark.parametrize(
    "words",
    [
        ["clusters"],
        ["clusters", "--at", "http://127.0.0.1:1"],
        ["share", "{survey}", "--data", "{survey}", "--at", "http://127.0.0.1:1"],
    ],
)
def test_what_is_missing_from_a_command_is_said(words: list[str], survey: Path) -> None:
    """Neither reports nor aggregators; no survey; one aggregator only."""
    assert "Error: " in refused(*(word.format(survey=survey) for word in words))
