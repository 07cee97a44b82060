"""One form of JSON, the same bytes in every language, and its digest.

Keys ascend, no white space, UTF-8, numbers are integers: a subset of RFC 8785.
A digest is SHA-256 in base64url without padding, 43 characters.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json

from deniable.errors import DeniableError, DesignError, ReportError

LARGEST_INTEGER = 2**53 - 1
"""The largest integer that is exact in every language (RFC 8785)."""

DIGEST_LENGTH = 43
DIGEST_BYTES = 32


def canonical(data: object) -> bytes:
    r"""Return the canonical bytes of plain data (objects, arrays, strings, integers, null).

    >>> canonical({"b": [1, 2], "a": "ü"})
    b'{"a":"\xc3\xbc","b":[1,2]}'
    """
    _refuse_floats(data)
    text = json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        problem = "canonical data holds whole characters only"
        raise DesignError(problem, expected="well-formed Unicode text") from error


def _refuse_floats(data: object) -> None:
    match data:
        case dict():
            for value in data.values():
                _refuse_floats(value)
        case list() | tuple():
            for value in data:
                _refuse_floats(value)
        case float():
            problem = "canonical data holds integers only"
            raise DesignError(problem, given=data, expected="an integer, or a number as text")
        case _:
            pass


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes as 43 characters of base64url."""
    return encode_bytes(hashlib.sha256(data).digest())


def encode_bytes(data: bytes) -> str:
    """Return bytes as base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode_bytes(text: str, length: int) -> bytes:
    """Return the bytes behind base64url text of exactly ``length`` bytes."""
    problem = f"expected {length} bytes as base64url without padding"
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise ReportError(problem, expected="characters A-Z a-z 0-9 - _") from error
    if len(data) != length:
        raise ReportError(problem, given=f"{len(data)} bytes")
    if encode_bytes(data) != text:
        problem = f"{length} bytes as base64url end in a character that leaves bits over"
        raise ReportError(problem, expected="zeros in the bits that the bytes do not fill")
    return data


def is_count(value: object) -> bool:
    """Tell whether a value is an integer of at least 0; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def read_json(data: bytes | str, what: str, kind: type[DeniableError]) -> object:
    """Read JSON without floats, duplicate keys or special numbers; errors name ``what``."""

    def refuse_number(_: str) -> object:
        problem = f"{what} holds a number that is no integer"
        raise kind(problem, expected="integers only")

    def small(digits: str) -> int:
        if len(digits) > len(str(LARGEST_INTEGER)) + 1 or abs(int(digits)) > LARGEST_INTEGER:
            problem = f"{what} holds a number that not every language can hold"
            raise kind(problem, given=digits[:40], expected=f"at most {LARGEST_INTEGER}")
        return int(digits)

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(items)
        if len(found) != len(items):
            problem = f"{what} names a key twice"
            raise kind(problem, expected="every key once")
        return found

    try:
        return json.loads(
            data,
            parse_float=refuse_number,
            parse_int=small,
            parse_constant=refuse_number,
            object_pairs_hook=pairs,
        )
    except (ValueError, RecursionError) as error:
        problem = f"{what} is not JSON"
        raise kind(problem, expected="one complete JSON document in UTF-8") from error
