"""The keystream: AES in counter mode, its own key, never twice the same words."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

from deniable.bulk import keystream
from deniable.bulk.keystream import TILE_WORDS, Keystream, unsafe_seeded


def test_the_words_are_the_blocks_of_a_counter_encrypted() -> None:
    """Word for word, the stream is AES-256 of 0, 1, 2 …, read as little-endian integers."""
    key = bytes(range(32))
    stream = Keystream(lambda: key)
    found = np.concatenate([stream.words(40).copy(), stream.words(24).copy()])
    encryptor = Cipher(AES(key), ECB()).encryptor()  # noqa: S305 -- what counter mode is made of
    blocks = b"".join(encryptor.update(number.to_bytes(16, "big")) for number in range(16))
    assert found.tobytes() == blocks


def test_two_keystreams_have_nothing_in_common() -> None:
    """Each begins under a key of its own."""
    first, second = Keystream().words(1000).copy(), Keystream().words(1000).copy()
    assert len({*first.tolist(), *second.tolist()}) > 1990


def test_a_forked_process_finds_a_new_key() -> None:
    """The child's words are not the parent's next words, whatever numbers processes get."""
    script = (
        "import os, sys\n"
        "from deniable.bulk.keystream import Keystream\n"
        "stream = Keystream(); stream.words(10)\n"
        "if len(sys.argv) > 1: os.getpid = lambda: 7\n"  # a number given out again
        "print(stream.words(4).tolist(), flush=True)\n"
        "for child in range(3):\n"
        "    if os.fork() == 0:\n"
        "        print(stream.words(4).tolist(), flush=True); os._exit(0)\n"
        "    os.wait()\n"
        "print(stream.words(4).tolist(), flush=True)\n"
    )
    for arguments in ([], ["same number"]):
        command = [sys.executable, "-c", script, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        lines = done.stdout.splitlines()
        assert len(lines) == len(set(lines)) == 5


def test_without_the_check_a_fork_would_repeat_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: a keystream that takes every process for its owner repeats."""
    monkeypatch.setattr(keystream, "_process", lambda: (0, 0))
    key = Keystream(lambda: bytes(32))
    twin = Keystream(lambda: bytes(32))
    assert key.words(4).tolist() == twin.words(4).tolist()


def test_a_keystream_cannot_be_copied_or_sent() -> None:
    """Two copies would toss the same coins."""
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied"):
            attempt(Keystream())


def test_threads_with_a_keystream_each_never_share_a_word() -> None:
    """Streams made in several threads at once differ."""
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: Keystream().words(64).tobytes(), range(64)))
    assert len(set(found)) == 64


def test_a_key_is_not_used_longer_than_is_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the longest stream a new key begins."""
    keys = iter([bytes(32), bytes(31) + b"1"])
    monkeypatch.setattr(keystream, "LONGEST", 2 * TILE_WORDS)
    stream = Keystream(lambda: next(keys))
    first = stream.words(TILE_WORDS).copy()
    stream.words(TILE_WORDS)
    third = stream.words(TILE_WORDS).copy()
    assert next(keys, None) is None
    assert first.tobytes() != third.tobytes()


def test_a_seed_stands_for_the_same_words_and_streams_of_one_seed_differ() -> None:
    """What is unsafe is at least repeatable."""
    assert unsafe_seeded(5, 0).words(8).tolist() == unsafe_seeded(5, 0).words(8).tolist()
    others = {unsafe_seeded(s, n).words(8).tobytes() for s, n in ((5, 0), (5, 1), (6, 0), (50, 1))}
    assert len(others) == 4
