"""Keystream: the coin's words by the million, from AES-256 in counter mode.

A keystream begins with a key of its own, drawn through ``channels.coin``. It cannot be
copied or sent to another process, and a process that was forked away from it finds a
new key: the same words never come twice.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Final, NoReturn

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

from deniable.channels import WordCoin, fresh_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from cryptography.hazmat.primitives.ciphers import CipherContext
    from numpy.typing import NDArray

TILE_WORDS: Final = 2**16
"""Words encrypted at a time: 256 KiB, so that they are read while the cache holds them."""

LONGEST: Final = 2**34
"""Words under one key. 2³² blocks are told from chance with odds below 2⁻⁶⁴."""

_WORD_BYTES = 4
_NOUGHTS: Final = bytes(TILE_WORDS * _WORD_BYTES)

_forks = 0


def _count_fork() -> None:
    global _forks  # noqa: PLW0603 -- the only thing that a child must know
    _forks += 1


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_count_fork)


def _process() -> tuple[int, int]:
    """Return what differs between a process and its descendants, even one that gets its number."""
    return os.getpid(), _forks


class Keystream:
    """A source of 32-bit words. One thread's own: it is not safe to share."""

    __slots__ = ("_buffer", "_bytes", "_cipher", "_left", "_owner", "_source")

    def __init__(self, source: Callable[[], bytes] = fresh_key) -> None:
        """Begin under a new key.

        Args:
            source: Where keys come from. Only ``unsafe_seeded`` gives another.
        """
        self._source = source
        self._bytes = bytearray(TILE_WORDS * _WORD_BYTES)
        self._buffer: NDArray[np.uint32] = np.frombuffer(self._bytes, "<u4")
        self._begin()

    def _begin(self) -> None:
        self._owner = _process()
        self._left = LONGEST
        # A key is used for one stream only, so the counter may start at nought.
        self._cipher: CipherContext = Cipher(AES(self._source()), CTR(bytes(16))).encryptor()

    def words(self, count: int) -> NDArray[np.uint32]:
        """Return the next ``count`` words, at most ``TILE_WORDS``, valid until the next call."""
        if self._owner != _process() or self._left < count:
            self._begin()
        self._left -= count
        length = count * _WORD_BYTES
        self._cipher.update_into(memoryview(_NOUGHTS)[:length], self._bytes)
        return self._buffer[:count]

    def coin(self, before: NDArray[np.uint32]) -> WordCoin:
        """Return a coin that tosses the words of ``before``, then fresh ones."""
        return _Continued(self, [int(word) for word in before])

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied: two processes or objects would toss the same coins."""
        message = "a keystream cannot be copied; make a new one where it is needed"
        raise TypeError(message)


class _Continued(WordCoin):
    """Words already drawn, then those of a keystream."""

    __slots__ = ("_before", "_stream")

    def __init__(self, stream: Keystream, before: list[int]) -> None:
        self._stream = stream
        self._before = before[::-1]

    def word(self) -> int:
        """Return the next word."""
        return self._before.pop() if self._before else int(self._stream.words(1)[0])


def unsafe_seeded(seed: int, number: int) -> Keystream:
    """Return the keystream that a seed stands for: whoever knows the seed knows every answer.

    For tests and for figures that others are to repeat; never for real answers.
    """
    text = f"deniable unsafe seed {seed} stream {number}".encode()
    return Keystream(hashlib.sha256(text).digest)
