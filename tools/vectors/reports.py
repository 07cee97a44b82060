"""Words, design and answer to report bytes; and reports that must be refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from deniable.channels import SubsetSelection, k_ary
from deniable.channels.coin import WORD
from deniable.channels.exact import even_weights
from deniable.device import Agreement, Answer, Device, MemoryStorage
from deniable.protocol import (
    Block,
    Design,
    check_report,
    encode_bytes,
    first_block,
    report_from_bytes,
)
from deniable.testing import ScriptedCoin, UnsafeSeededCoin
from tools.vectors.samples import (
    ADAPTIVE,
    ASK_ONE,
    HALF,
    IDENTITY,
    KINDS,
    changed,
    outcome,
    single,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tools.vectors import Case, Cases

LAST = WORD - 1


class RecordedCoin(UnsafeSeededCoin):
    """A predictable coin that writes down its words."""

    __slots__ = ("words",)

    def __init__(self, seed: int) -> None:
        """Start with no word written."""
        super().__init__(seed)
        self.words: list[int] = []

    def word(self) -> int:
        """Return the next word and write it down."""
        self.words.append(super().word())
        return self.words[-1]


def randomized() -> Cases:
    """Return answers, the words tossed for them, and the report that leaves."""
    cases = [*_two_coin(), *_k_ary(), *_subset(), *_matrix(), *_unary(), *_local_hash()]
    cases += _views()
    for seed, (name, design) in enumerate(KINDS.items()):
        cases += [_drawn(f"{name}, words as they come", design, seed * 100 + k) for k in range(6)]
    cases += [_drawn("any pair of three", ASK_ONE, 1000 + k) for k in range(12)]
    cases += [_drawn("a pair, adaptive", ADAPTIVE, 2000 + k) for k in range(4)]
    several = single("several", *(d.channels[0][0] for d in KINDS.values()), weights=(1, 2, 3))
    cases += [_drawn("six kinds, three views", several, 3000 + k) for k in range(6)]
    wide = single("wide", SubsetSelection(HALF, 2**31, 5))
    cases += [_drawn("a group of 2^31 cells", wide, 4000 + k) for k in range(3)]
    return "a device's report of an answer: the words its coin gives, in order", cases


def _two_coin() -> list[Case]:
    design = KINDS["two-coin"]  # head 2^31, fake 1, 2^31, 2^31 - 1
    return [
        _scripted("heads at head - 1: the truth", design, [2], [HALF - 1, 0]),
        _scripted("tails at head: the fake cell", design, [2], [HALF, 0]),
        _scripted("the fake cell of word 0", design, [0], [LAST, 0]),
        _scripted("the first word of the second interval", design, [0], [LAST, 1]),
        _scripted("the last word of the second interval", design, [0], [LAST, HALF]),
        _scripted("the first word of the last interval", design, [0], [LAST, HALF + 1]),
        _scripted("the last word of all", design, [0], [LAST, LAST]),
        _scripted("heads: the fake coin is tossed all the same", design, [1], [0, LAST]),
    ]


def _k_ary() -> list[Case]:
    design = KINDS["k-ary"]  # head 3·2^30, three cells: the first weighs one more
    first, second, _ = even_weights(3)
    return [
        _scripted("heads at head - 1", design, [1], [3 * 2**30 - 1, 0]),
        _scripted("tails at head", design, [1], [3 * 2**30, 0]),
        _scripted("the last word of the longer cell", design, [1], [LAST, first - 1]),
        _scripted("the first word after it", design, [2], [LAST, first]),
        _scripted("the last word of the second cell", design, [2], [LAST, first + second - 1]),
        _scripted("the first word of the last cell", design, [0], [LAST, first + second]),
    ]


def _subset() -> list[Case]:
    design = KINDS["subset"]  # head 2^31, 3 of 9 cells
    return [
        _scripted("in, with two others", design, [4], [HALF - 1, 0, 3, 0, 6]),
        _scripted("out, with three others, moved past the truth", design, [0],
                  [HALF, 0, 0, 0, 1, 0, 2]),
        _scripted("a cell drawn twice is replaced by the last (Floyd)", design, [8],
                  [HALF, 0, 2, 0, 2, 0, 2]),
        _scripted("a word pair thrown again: 2^64 mod 7 is 2", design, [8],
                  [0, LAST, LAST, 0, 6, 0, 7]),
        _scripted("the high word counts", design, [3], [0, 1, 0, 1, 0]),
    ]  # fmt: skip


def _matrix() -> list[Case]:
    design = KINDS["matrix"]  # rows 2^31, 2^31 - 1, 1 and 1, 2^31 - 1, 2^31
    words = [0, 1, HALF - 1, HALF, LAST - 1, LAST]
    return [
        _scripted(f"row {row}, word {word}", design, [row], [word])
        for row in (0, 1)
        for word in words
    ]


def _unary() -> list[Case]:
    design = KINDS["unary"]  # keep 2^31, flip 2^30, 34 cells: two words of bits
    low, high = 0, LAST
    return [
        _scripted("every bit 1", design, [33], [low] * 34),
        _scripted("every bit 0", design, [33], [high] * 34),
        _scripted("only the true bit, in the second word", design, [33], [2**30] * 34),
        _scripted("only the true bit, the highest of the first word", design, [31], [2**30] * 34),
        _scripted("the true bit is 0 at keep", design, [0], [HALF, *[high] * 33]),
    ]


def _local_hash() -> list[Case]:
    design = KINDS["local-hash"]  # head 2^31, 3 buckets, 5 cells, prime 11
    return [
        _scripted("a·x + b past the prime", design, [4], [0, 10, 0, 9, 0, LAST]),
        _scripted("the fake bucket", design, [4], [0, 10, 0, 9, HALF, LAST]),
        _scripted("a hash that ignores the answer", design, [3], [0, 0, 0, 5, 0, 0]),
        _scripted("2^64 mod 11 is 5: the last five numbers are thrown again", design, [2],
                  [LAST, WORD - 5, 0, 1, 0, 2, 0, 0]),
    ]  # fmt: skip


def _views() -> list[Case]:
    channel = k_ary(1.0, 2)
    uneven = single("uneven views", channel, weights=(1, 3, 1))
    heads = [0, 0]
    cases = [
        _scripted(f"ticket {ticket} of five", uneven, [1], [0, ticket, *heads])
        for ticket in range(5)
    ]
    cases.append(_scripted("a ticket thrown again: 2^64 mod 5 is 1", uneven, [1],
                           [LAST, LAST, 0, 4, *heads]))  # fmt: skip
    cases.append(_scripted("one view: no ticket is drawn", single("one view", channel), [1], heads))
    heavy = single("heavy views", channel, weights=(2**52, 2**52 - 1))
    cases.append(_scripted("the largest weights", heavy, [0], [2**20, 0, *heads]))
    cases.append(_scripted("the last ticket of the first", heavy, [0], [2**20 - 1, LAST, *heads]))
    return cases


def _drawn(comment: str, design: Design, seed: int) -> Case:
    recorded = RecordedCoin(seed)
    cells = [recorded.even(size) for size in design.sizes]
    recorded.words.clear()
    _respond(design, cells, recorded)
    return _scripted(comment, design, cells, recorded.words)


def _scripted(comment: str, design: Design, cells: list[int], words: Iterable[int]) -> Case:
    words = list(words)
    coin = ScriptedCoin(words)
    report = _respond(design, cells, coin)
    if coin.spent != len(words):
        message = f"{comment}: spent {coin.spent} of {len(words)} words"
        raise AssertionError(message)
    return {
        "comment": comment,
        "design": design.to_bytes().decode(),
        "block": first_block(design).to_bytes().decode(),
        "answer": cells,
        "words": words,
        "id": encode_bytes(IDENTITY),
        "report": report,
    }


def _respond(design: Design, cells: Sequence[int], coin: ScriptedCoin | UnsafeSeededCoin) -> str:
    agreement = Agreement(float(design.epsilon))
    device = Device(MemoryStorage(), agreement, coin=coin, name_report=lambda: IDENTITY)
    answer = Answer(cells, design.sizes)
    return device.respond(design, first_block(design), answer).to_bytes().decode()


def received() -> Cases:
    """Return reports as they arrive, good and bad."""
    cases: list[Case] = []
    for name, design in {**KINDS, "ask-one": ASK_ONE}.items():
        good = _respond(design, [0] * len(design.sizes), UnsafeSeededCoin(7))
        cases.append(_received(f"good: {name}", design, good, None))
    for name, value in _VALUES:
        design = KINDS[name]
        good = json.loads(_respond(design, [0], UnsafeSeededCoin(7)))
        text = changed(good, lambda d, value=value: d.update(values=[value]))  # type: ignore[misc]
        cases.append(_received(f"{name} cannot report {value}", design, text, "invalid-report"))
    good = json.loads(_respond(ASK_ONE, [0, 0, 0], UnsafeSeededCoin(7)))
    for comment, change, code in _CHANGES:
        text = changed(good, lambda d, change=change: d.update(change))  # type: ignore[misc]
        cases.append(_received(comment, ASK_ONE, text, code))
    text = text_of(good)
    cases += [
        _received("truncated", ASK_ONE, text[:-2], "invalid-report"),
        _received("nothing", ASK_ONE, "", "invalid-report"),
        _received("a list", ASK_ONE, "[]", "invalid-report"),
        _received("null", ASK_ONE, "null", "invalid-report"),
        _received("a missing key", ASK_ONE, changed(good, lambda d: d.pop("id")), "invalid-report"),
        _received("a key given twice", ASK_ONE, text.replace("{", '{"view":0,', 1),
                  "invalid-report"),
        _received("a number written as 0.0", ASK_ONE,
                  changed(good, lambda d: d.update(view=0.5)), "invalid-report"),
    ]  # fmt: skip
    return "a report as it arrives for a design's first block, and the code of the error", cases


_VALUES: list[tuple[str, Any]] = [
    ("two-coin", [3]), ("two-coin", [-1]), ("two-coin", []), ("two-coin", [0, 0]),
    ("two-coin", 0), ("two-coin", [True]), ("two-coin", ["0"]), ("two-coin", [None]),
    ("two-coin", [[0]]), ("two-coin", [2**53]), ("k-ary", [3]), ("subset", [0, 1]),
    ("subset", [0, 1, 2, 3]), ("subset", [0, 1, 9]), ("subset", [1, 0, 2]), ("subset", [0, 0, 1]),
    ("matrix", [3]), ("unary", [0]), ("unary", [2**32, 0]), ("unary", [0, 4]),
    ("local-hash", [11, 0, 0]), ("local-hash", [0, 11, 0]), ("local-hash", [0, 0, 3]),
    ("local-hash", [0, 0]),
]  # fmt: skip
_CHANGES: list[tuple[str, dict[str, Any], str]] = [
    ("another version", {"deniable": 2}, "invalid-report"),
    ("an unknown key", {"answer": 1}, "invalid-report"),
    ("another design's", {"design": encode_bytes(bytes(32))}, "wrong-digest"),
    ("another block's", {"block": encode_bytes(bytes(32))}, "wrong-digest"),
    ("a digest too short", {"design": "A" * 42}, "invalid-report"),
    ("a digest that is a number", {"block": 1}, "invalid-report"),
    ("an id of 15 bytes", {"id": encode_bytes(bytes(15))}, "invalid-report"),
    ("an id of 17 bytes", {"id": encode_bytes(bytes(17))}, "invalid-report"),
    ("an id with padding", {"id": encode_bytes(bytes(16)) + "=="}, "invalid-report"),
    ("an id with stray bits at its end", {"id": "A" * 21 + "B"}, "invalid-report"),
    ("an id in the other alphabet", {"id": "+" * 21 + "A"}, "invalid-report"),
    ("an id that is null", {"id": None}, "invalid-report"),
    ("a view that was not offered", {"view": 3}, "invalid-report"),
    ("a view below 0", {"view": -1}, "invalid-report"),
    ("no view", {"view": None}, "invalid-report"),
    ("a group too few", {"values": []}, "invalid-report"),
    ("a group too many", {"values": [[0], [0]]}, "invalid-report"),
    ("values that are no list", {"values": {"0": [0]}}, "invalid-report"),
]


def _received(comment: str, design: Design, text: str, error: str | None) -> Case:
    block: Block = first_block(design)
    outcome(comment, error, lambda: check_report(report_from_bytes(text), design, block))
    return {
        "comment": comment,
        "design": design.to_bytes().decode(),
        "block": block.to_bytes().decode(),
        "report": text,
        "error": error,
    }
