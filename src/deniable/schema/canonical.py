"""One spelling for every value, so that two languages compute the same digest.

JSON as RFC 8785 has it: keys sorted by UTF-16 code units, no white space, text
as UTF-8, numbers as ECMAScript prints them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal

from deniable.errors import SchemaError

MOST_EXACT = 2**53 - 1
"""Beyond this, JavaScript no longer tells two whole numbers apart."""

# ECMAScript writes plain digits for exponents of ten in (-7, 21).
_PLAIN_ABOVE = -7
_PLAIN_UP_TO = 21


def canonical_json(value: object) -> str:
    """Spell ``value`` in the only way there is.

    >>> canonical_json({"b": [1.0, 0.5], "a": "ü"})
    '{"a":"ü","b":[1,0.5]}'
    """
    match value:
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case str():
            return json.dumps(value, ensure_ascii=False)
        case int():
            if abs(value) > MOST_EXACT:
                raise SchemaError(
                    "a whole number is too large to mean the same in every language",
                    expected=f"at most {MOST_EXACT} in size",
                )
            return str(value)
        case float():
            return spell_number(value)
        case Mapping():
            ordered = sorted(value.items(), key=lambda item: str(item[0]).encode("utf-16-be"))
            inside = (f"{canonical_json(str(key))}:{canonical_json(item)}" for key, item in ordered)
            return "{" + ",".join(inside) + "}"
        case Sequence():
            return "[" + ",".join(map(canonical_json, value)) + "]"
        case _:
            raise SchemaError(
                f"a {type(value).__name__} has no canonical spelling",
                expected="text, numbers, lists or mappings",
            )


def spell_number(number: float) -> str:
    """Print a finite float as ECMAScript's ``Number::toString`` does.

    >>> [spell_number(x) for x in (18.0, 0.1, 1e21, 1.5e-7, -0.0)]
    ['18', '0.1', '1e+21', '1.5e-7', '0']
    """
    if not math.isfinite(number):
        raise SchemaError(
            "a number that is not finite has no canonical spelling", expected="a finite number"
        )
    if number == 0:
        return "0"
    sign, digit_tuple, exponent = Decimal(repr(number)).normalize().as_tuple()
    digits = "".join(map(str, digit_tuple))
    point = len(digits) + int(exponent)
    minus = "-" if sign else ""
    if len(digits) <= point <= _PLAIN_UP_TO:
        return minus + digits.ljust(point, "0")
    if 0 < point <= _PLAIN_UP_TO:
        return f"{minus}{digits[:point]}.{digits[point:]}"
    if _PLAIN_ABOVE < point - 1 < 0:
        return f"{minus}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if digits[1:] else ""
    return f"{minus}{digits[0]}{fraction}e{point - 1:+d}"


def digest_of(value: object) -> str:
    """Return SHA-256 of the canonical JSON, in unpadded base64url.

    >>> digest_of({})
    'RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o'
    """
    hashed = hashlib.sha256(canonical_json(value).encode()).digest()
    return base64.urlsafe_b64encode(hashed).rstrip(b"=").decode()
