"""Aggregators over HTTP: the same sums, those who leave are left out, the rest is refused."""

from __future__ import annotations

import http.client
from typing import TYPE_CHECKING

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
    send_shares,
    shares_for,
    sheet_of_pairs,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SIZES = (2, 2, 3)
SHEET = sheet_of_pairs(SIZES)
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
    at(desks)[0].accept(b"gone".ljust(16), shares_for(vector, 3)[0])
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
    with pytest.raises(SharingError, match="shown already"):
        first.accept(b"late".ljust(16), shares_for(SHEET.vector(np.array([0, 4, 10])), 3)[0])


def test_a_liar_in_a_table_is_caught_by_the_sums(desks: list[Desk]) -> None:
    """Two ones in one table make it count one person too many."""
    places = SHEET.places(answers_of(30))
    send_shares(SHEET, places, at(desks))
    twice = SHEET.vector(places[0]).copy()
    twice[:2] = 1
    twice[2:4] = 0
    for desk, share in zip(at(desks), shares_for(twice, 3), strict=True):
        desk.accept(b"liar".ljust(16), share)
    with pytest.raises(SharingError, match="cheated"):
        gather(SHEET, at(desks))


def test_a_desk_refuses_what_is_no_share(desks: list[Desk]) -> None:
    """A wrong id, half a word, a wrong width, another path: 400 or 409, and no trace of it."""
    host, port = desks[0].address.removeprefix("http://").split(":")
    for method, path, body, status in (
        ("PUT", "/shares/zz", b"1234", 400),
        ("PUT", "/shares/" + "00" * 15, b"1234", 400),
        ("PUT", "/shares/" + "00" * 16, b"123", 400),
        ("PUT", "/shares/" + "00" * 16, b"1234", 409),
        ("GET", "/shares", b"", 400),
        ("POST", "/total", b"short", 400),
        ("POST", "/sum", b"", 400),
    ):
        line = http.client.HTTPConnection(host, int(port), timeout=60)
        line.request(method, path, body)
        assert line.getresponse().status == status, path
        line.close()
    assert at(desks)[0].identities == frozenset()


def test_an_aggregator_that_is_not_there_is_named() -> None:
    """No address, a wrong one, a closed one."""
    with pytest.raises(SharingError, match="such as http"):
        RemoteAggregator("localhost")
    desk = Desk(Aggregator(4))
    gone = RemoteAggregator(desk.address)
    desk.close()
    with pytest.raises(SharingError, match="cannot be reached"):
        _ = gone.identities
    one = sheet_of_pairs((2, 2))
    assert send_shares(one, np.array([[1]]), [gone, gone]) == 1


def run(*words: object) -> str:
    """Run a command that succeeds; return what it prints."""
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    assert max(map(len, done.stdout.splitlines())) <= 80
    return done.stdout


@pytest.mark.parametrize("epsilon", [None, 4.0])
def test_two_stages_by_secure_sum_from_the_command_line(
    epsilon: float | None, desks: list[Desk], tmp_path: Path
) -> None:
    """Share, learn, publish the second stage's survey; ε of both stages is added up."""
    survey, second, data = (tmp_path / name for name in ("one.toml", "two.toml", "data.csv"))
    survey.write_text(SURVEY)
    words = ("no", "yes"), ("no", "yes"), ("north", "south", "west")
    rows = [
        ",".join(one[cell] for one, cell in zip(words, row, strict=True))
        for row in answers_of(300).tolist()
    ]
    data.write_text("\n".join(["smokes,drinks,region", *rows]))
    where = [word for desk in desks for word in ("--at", desk.address)]
    pair = [] if epsilon is None else ["--pair-epsilon", epsilon]
    run("share", survey, "--data", data, "--n", 300, *where, *pair)
    printed = run(
        "clusters", *where, *pair, "--survey", survey, "-o", second, "--least-dependence", 0.3
    )
    assert printed.splitlines()[-1] == 'clusters = [["smokes", "drinks"], ["region"]]'
    assert ("15.000" if epsilon else "∞") in printed  # three pairs at 4 each, and 3 to come
    written = Survey.load(second)
    assert written.name == "habits-2"
    assert written.privacy.options["clusters"] == (("smokes", "drinks"),)


def test_who_reaches_no_aggregator_is_told_so(tmp_path: Path) -> None:
    """Nothing was sent, so the command fails, and says what it takes."""
    survey = tmp_path / "one.toml"
    survey.write_text(SURVEY)
    desk = Desk(Aggregator(SHEET.width))
    desk.close()
    words = ["share", str(survey), "--n", "2", "--at", desk.address, "--at", desk.address]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert "left out of the sum" in done.output
    assert "nobody reached all aggregators" in done.output


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
def test_what_is_missing_from_a_command_is_said(words: list[str], tmp_path: Path) -> None:
    """Neither reports nor aggregators; no survey; one aggregator only."""
    survey = tmp_path / "one.toml"
    survey.write_text(SURVEY)
    done = CliRunner().invoke(main, [word.format(survey=survey) for word in words])
    assert done.exit_code == 2
    assert "Error: " in done.output
