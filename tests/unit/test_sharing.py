"""Secure sums come out right, between processes too; those who leave or lie are noticed."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.errors import AnswerError, SharingError
from deniable.sharing import (
    Aggregator,
    HttpPost,
    LocalPost,
    Message,
    Party,
    agreed_on,
    combine,
    digest_of,
    kind_of,
    shares_for,
    sheet_of_pairs,
    sum_of,
    sum_together,
    take_part,
)

if TYPE_CHECKING:
    from deniable.sharing.shares import Vector

SHEET = sheet_of_pairs((2, 3, 2))
KIND = kind_of(SHEET)


def answers_of(count: int, seed: int = 0) -> np.ndarray:
    """Draw answers to three attributes."""
    return np.random.default_rng(seed).integers(0, SHEET.sizes, (count, 3))


def plainly(answers: np.ndarray) -> Vector:
    """Count without any protocol."""
    return sum((SHEET.vector(row) for row in SHEET.places(answers)), np.zeros(SHEET.width, "u4"))


@settings(max_examples=20, deadline=None)
@given(st.integers(3, 12), st.integers(0, 99))
def test_parties_learn_the_tables_and_nothing_is_lost(count: int, seed: int) -> None:
    """The n-party protocol gives the plain counts of all pairs."""
    answers = answers_of(count, seed)
    sums = sum_together([SHEET.vector(row) for row in SHEET.places(answers)])
    assert sums.tolist() == plainly(answers).tolist()
    SHEET.check(sums, count)
    table = SHEET.tables(sums)[0, 1]
    assert table[answers[0, 0], answers[0, 1]] >= 1


@pytest.mark.parametrize("aggregators", [2, 3, 5])
def test_aggregators_learn_the_tables_together(aggregators: int) -> None:
    """Totals of shares add up to the plain counts; who did not reach all is left out."""
    answers = answers_of(20)
    those = [Aggregator(SHEET.width) for _ in range(aggregators)]
    for number, row in enumerate(SHEET.places(answers)):
        shares = shares_for(SHEET.vector(row), aggregators)
        reached = those[:-1] if number == 7 else those  # respondent 7 was cut off
        for one, share in zip(reached, shares, strict=False):
            one.accept(bytes([number]), share, KIND)
            one.accept(bytes([number]), share, KIND)  # a retry changes nothing
    agreed = agreed_on([one.identities for one in those])
    assert len(agreed) == 19
    sums = combine([one.total(agreed) for one in those])
    assert sums.tolist() == plainly(np.delete(answers, 7, axis=0)).tolist()


def test_an_aggregator_refuses_what_would_expose_somebody() -> None:
    """Other bytes under an id, a second total of other people, a total of two, a late share."""
    one = Aggregator(SHEET.width)
    share = np.zeros(SHEET.width, np.uint32)
    for number in range(4):
        one.accept(bytes([number]), share, KIND)
    with pytest.raises(SharingError, match="another share"):
        one.accept(bytes([0]), share + np.uint32(1), KIND)
    with pytest.raises(SharingError, match="does not fit"):
        one.accept(bytes([9]), share[:-1], KIND)
    with pytest.raises(SharingError, match="too few"):
        one.total([bytes([0]), bytes([1])])
    with pytest.raises(SharingError, match="never arrived"):
        one.total([bytes([n]) for n in (0, 1, 8)])
    one.total([bytes([n]) for n in range(4)])
    one.total([bytes([n]) for n in range(4)])
    with pytest.raises(SharingError, match="difference"):
        one.total([bytes([n]) for n in range(3)])
    with pytest.raises(SharingError, match="shown already"):
        one.accept(bytes([5]), share, KIND)


def test_a_party_that_leaves_is_named() -> None:
    """Before dealing and before announcing: the others are told who is missing."""
    parties = [Party(n, 3, np.zeros(2, np.uint32)) for n in range(3)]
    for dealer in parties[:2]:
        for receiver, row in zip(parties, dealer.deal(), strict=True):
            receiver.collect(dealer.number, row)
    with pytest.raises(SharingError, match=r"\[2\]"):
        parties[0].announce()
    with pytest.raises(SharingError, match=r"\[1\]"):
        sum_of({0: np.zeros(2, np.uint32), 2: np.zeros(2, np.uint32)}, 3)


def test_a_party_cannot_deal_twice_or_out_of_range() -> None:
    """Rows are taken once from each party and only below the modulus."""
    party = Party(0, 3, np.zeros(2, np.uint32))
    party.collect(1, np.array([3, 0], np.uint32))
    with pytest.raises(SharingError, match="twice"):
        party.collect(1, np.zeros(2, np.uint32))
    with pytest.raises(SharingError, match="below 4"):
        party.collect(2, np.array([4, 0], np.uint32))
    with pytest.raises(SharingError, match="ones and noughts"):
        Party(0, 3, np.array([2], np.uint32))


@pytest.mark.parametrize("count", [1, 2])
def test_a_sum_of_one_or_two_is_refused(count: int) -> None:
    """One of two parties would know the other's vector: the sum less its own."""
    vectors = [SHEET.vector(row) for row in SHEET.places(answers_of(count))]
    with pytest.raises(SharingError, match="3 parties or more"):
        sum_together(vectors)
    with pytest.raises(SharingError, match="3 parties or more"):
        Party(0, count, vectors[0])


def test_a_clumsy_liar_is_caught_and_a_consistent_one_is_not() -> None:
    """Two ones in a table, or margins that differ, are seen; another answer than true is not."""
    vectors = [SHEET.vector(row) for row in SHEET.places(answers_of(6))]
    stuffed = vectors[0].copy()
    stuffed[:2] = 1 - stuffed[:2] if stuffed[:2].sum() == 0 else 1
    with pytest.raises(SharingError, match="count everybody once"):
        SHEET.check(sum_together([stuffed, *vectors[1:]]), 6)
    twisted = np.roll(SHEET.vector(SHEET.places(np.array([[0, 0, 0]]))[0]), 0)
    twisted[[0, 1]] = twisted[[1, 0]]  # the first table says q1 = 1, the third q1 = 0
    with pytest.raises(SharingError, match="differ in attribute 1"):
        SHEET.check(sum_together([twisted, *vectors[1:]]), 6)
    other = SHEET.vector(SHEET.places(np.array([[1, 2, 1]]))[0])
    SHEET.check(sum_together([other, *vectors[1:]]), 6)


def test_parties_who_were_told_different_things_see_it_in_the_digest() -> None:
    """Equivocation in the last round changes the hash that they compare."""
    said = {0: np.array([1], np.uint32), 1: np.array([2], np.uint32)}
    told = {0: np.array([1], np.uint32), 1: np.array([3], np.uint32)}
    assert digest_of(said) == digest_of(dict(reversed(said.items())))
    assert digest_of(said) != digest_of(told)


class TwoFaced(LocalPost):
    """The post of one who tells party 1 something else than the others."""

    def send(self, receiver: int, message: Message) -> None:
        """Change what is said aloud, to one of them."""
        if message.topic == "announce" and receiver == 1:
            message = Message("announce", message.sender, (message.body + 1) % 4)
        super().send(receiver, message)


def played(posts: list[LocalPost], vectors: list[Vector]) -> dict[int, list[int] | str]:
    """Let everybody take part; return what each found, or why it stopped."""
    found: dict[int, list[int] | str] = {}

    def play(number: int) -> None:
        try:
            sums = take_part(Party(number, len(posts), vectors[number]), posts[number])
            found[number] = sums.tolist()
        except SharingError as error:
            found[number] = str(error)

    threads = [threading.Thread(target=play, args=(number,)) for number in range(len(posts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_who_tells_one_this_and_another_that_is_found_out() -> None:
    """The parties compare the hashes of what they heard, and nobody believes the sum."""
    offices: list[LocalPost] = []
    posts = [LocalPost(offices), LocalPost(offices), TwoFaced(offices)]
    found = played(posts, [SHEET.vector(row) for row in SHEET.places(answers_of(3))])
    assert all("heard something else" in str(found[number]) for number in range(3))
    assert "[1]" in str(found[0])


def test_a_word_of_another_length_is_refused() -> None:
    """What does not fit the tables is no announcement."""
    offices: list[LocalPost] = []
    posts = [LocalPost(offices, patience=60) for _ in range(3)]
    for sender in (1, 2):
        posts[0].put(Message("deal", sender, np.zeros(SHEET.width, np.uint32)))
        posts[0].put(Message("announce", sender, np.zeros(3, np.uint32)))
    party = Party(0, 3, SHEET.vector(SHEET.places(answers_of(1))[0]))
    with pytest.raises(SharingError, match="does not fit"):
        take_part(party, posts[0])


def test_answers_outside_their_domain_never_get_a_place() -> None:
    """The error names no answer."""
    with pytest.raises(AnswerError, match="outside"):
        SHEET.places(np.array([[0, 3, 0]]))


def test_messages_in_one_process_and_a_party_that_never_comes() -> None:
    """Three parties in threads agree; a fourth that stays away is waited for in vain."""
    offices: list[LocalPost] = []
    posts = [LocalPost(offices) for _ in range(3)]
    vectors = [SHEET.vector(row) for row in SHEET.places(answers_of(3))]
    found = played(posts, vectors)
    assert found == dict.fromkeys(range(3), plainly(answers_of(3)).tolist())
    lonely = LocalPost([], patience=0.01)
    with pytest.raises(SharingError, match="no more 'deal'"):
        lonely.receive("deal")


PARTY = """
import json, sys, numpy as np
from deniable.sharing import HttpPost, Party, take_part
number, vector = int(sys.argv[1]), np.array(json.loads(sys.argv[2]), np.uint32)
with HttpPost(patience=50) as post:
    print(json.dumps(post.address), flush=True)
    post.addresses = {int(k): tuple(v) for k, v in json.loads(sys.stdin.readline()).items()}
    total = take_part(Party(number, len(post.addresses), vector), post)
    print(json.dumps(total.tolist()), flush=True)
    sys.stdin.readline()  # stay until everybody has been told
"""


def test_parties_in_processes_of_their_own_sum_over_http() -> None:
    """Three programs that know only each other's addresses learn the same tables."""
    answers = answers_of(3, 5)
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", PARTY, str(n), json.dumps(SHEET.vector(row).tolist())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n, row in enumerate(SHEET.places(answers))
    ]
    try:
        addresses = {}
        for number, program in enumerate(programs):
            assert program.stdout is not None
            addresses[number] = json.loads(program.stdout.readline())
        for program in programs:
            assert program.stdin is not None
            program.stdin.write(json.dumps(addresses) + "\n")
            program.stdin.flush()
        for program in programs:
            assert program.stdout is not None
            assert json.loads(program.stdout.readline()) == plainly(answers).tolist()
    finally:
        for program in programs:
            program.communicate("\n")
    assert [program.returncode for program in programs] == [0, 0, 0]


def test_an_http_inbox_refuses_what_is_no_message() -> None:
    """Half a word, no topic, no sender: status 400, and the sender hears of it."""
    with HttpPost(patience=0.01) as post, HttpPost() as sender:
        sender.addresses = {0: post.address, 1: ("127.0.0.1", 1)}
        sender.send(0, Message("deal", 4, np.array([1, 2], np.uint32)))
        assert post.receive("deal").body.tolist() == [1, 2]
        with pytest.raises(SharingError, match="refused"):
            sender.send(0, Message("deal/er", 4, np.array([1], np.uint32)))
        with pytest.raises(SharingError, match="cannot be reached"):
            sender.send(1, Message("deal", 4, np.array([1], np.uint32)))
        with pytest.raises(SharingError, match="no more"):
            post.receive("announce")


def test_an_http_post_finds_a_party_by_the_text_of_its_address() -> None:
    """An address as people write it does as well as host and port."""
    with HttpPost(patience=60) as post, HttpPost() as sender:
        host, port = post.address
        sender.addresses = {0: f"http://{host}:{port}/"}
        sender.send(0, Message("deal", 4, np.array([1, 2], np.uint32)))
        assert post.receive("deal").body.tolist() == [1, 2]
