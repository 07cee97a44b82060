"""Designs that the vectors speak about, and how to change one into a bad one."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from deniable.channels import (
    KAry,
    LocalHash,
    Matrix,
    SubsetSelection,
    TwoCoin,
    Unary,
    epsilon_of_all,
    k_ary,
    two_coin,
)
from deniable.channels.coin import WORD
from deniable.errors import DeniableError
from deniable.protocol import Design, Group, Rule, View, canonical, encode_bytes
from deniable.testing import ask_one_design

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from deniable.channels import Channel

    Found = TypeVar("Found")

HALF = WORD // 2
SCHEMA = encode_bytes(bytes(range(32)))
IDENTITY = bytes(range(100, 116))
ASK_ONE = ask_one_design((2, 3, 4))


def single(name: str, *channels: Channel, weights: tuple[int, ...] = (1,)) -> Design:
    """Return a design with one attribute for each channel; every view asks all of them."""
    sizes = [channel.size for channel in channels]
    groups = tuple(Group((place,), (size,)) for place, size in enumerate(sizes))
    return Design(
        survey=name,
        schema=SCHEMA,
        attributes=tuple((f"q{place}", size) for place, size in enumerate(sizes)),
        views=tuple(View(groups, weight) for weight in weights),
        channels=(tuple(channels),) * len(weights),
        epsilon=f"{epsilon_of_all(channels) + 0.001:.3f}",
        protocol="independent",
    )


KINDS: dict[str, Design] = {
    "two-coin": single("two-coin", TwoCoin(HALF, (1, HALF, HALF - 1))),
    "k-ary": single("k-ary", KAry(3 * 2**30, 3)),
    "subset": single("subset", SubsetSelection(HALF, 9, 3)),
    "matrix": single("matrix", Matrix(((HALF, HALF - 1, 1), (1, HALF - 1, HALF)))),
    "unary": single("unary", Unary(HALF, 2**30, 34)),
    "local-hash": single("local-hash", LocalHash(HALF, 3, 5, 11)),
}
"""One design for each kind of channel."""

ADAPTIVE = Design(
    survey="adaptive",
    schema=SCHEMA,
    attributes=(("sex", 2), ("age", 3)),
    views=(View((Group((0, 1), (2, 3)),)),),
    channels=((two_coin(1.0, [1 / 6] * 6, floor=0.5),),),
    epsilon="1",
    protocol="rrba",
    rule=Rule("classic-blocks", 250, "0.5"),
)

REPEATED = Design(
    survey="repeated",
    schema=SCHEMA,
    attributes=(("smokes", 2),),
    views=(View((Group((0,), (2,)),)),),
    channels=((k_ary(0.5, 2),),),
    epsilon="0.5",
    protocol="independent",
    repeats=2,
)


def outcome(comment: str, error: str | None, attempt: Callable[[], Found]) -> Found | None:
    """Return what an attempt finds, or None if it ends with the error that the vector states."""
    code, found = None, None
    try:
        found = attempt()
    except DeniableError as refused:
        code = refused.code
    if code != error:
        message = f"{comment}: {code} instead of {error}"
        raise AssertionError(message)
    return found


def changed(plain: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> str:
    """Return the canonical text of plain data after a change to a copy of it."""
    data = copy.deepcopy(plain)
    change(data)
    return text_of(data)


def text_of(data: object) -> str:
    """Return the canonical text of plain data, floats too: some vectors are about them."""
    try:
        return canonical(data).decode()
    except Exception:  # noqa: BLE001 - what is not canonical is written as JSON all the same
        return json.dumps(data, sort_keys=True, separators=(",", ":"))
