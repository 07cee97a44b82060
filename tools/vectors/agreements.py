"""What a device refuses, and what it remembers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from deniable.channels import Matrix, TwoCoin, best
from deniable.channels.coin import WORD
from deniable.device import Agreement, Answer, Device, MemoryStorage, examine
from deniable.errors import DeniableError
from deniable.protocol import Block, Design, first_block, next_block
from deniable.testing import ScriptedCoin, UnsafeSeededCoin, ask_one_design
from tools.vectors.samples import (
    ADAPTIVE,
    ASK_ONE,
    HALF,
    IDENTITY,
    KINDS,
    REPEATED,
    outcome,
    single,
)

if TYPE_CHECKING:
    from tools.vectors import Case, Cases

LEAST = WORD // 12  # half of an even share of six cells
AT_FLOOR = (LEAST, *(LEAST,) * 4, WORD - 5 * LEAST)
LOW = (LEAST - 1, *(LEAST,) * 4, WORD - 5 * LEAST + 1)
UNEVEN = (HALF, *(HALF // 5,) * 4, WORD - HALF - 4 * (HALF // 5))


def agreements() -> Cases:
    """Return blocks with what was agreed, and the certificate or the refusal."""
    start = first_block(ADAPTIVE)
    fakes = next_block(ADAPTIVE, start, ((TwoCoin(2**28, UNEVEN),),))
    low = next_block(ADAPTIVE, start, ((TwoCoin(2**28, LOW),),))
    at_floor = next_block(ADAPTIVE, start, ((TwoCoin(2**28, AT_FLOOR),),))
    dear = next_block(ADAPTIVE, start, ((TwoCoin(WORD - 1, UNEVEN),),))
    loose = replace(single("loose", best(1.0, 2)), epsilon="40")
    pairs = ask_one_design((2, 3, 4), epsilon=0.5)
    exposed = replace(
        single("exposed", best(0.5, 2)), rule=replace(REPEATED.rule, name="two-stage")
    )
    bare = next_block(exposed, first_block(exposed), ((Matrix(((WORD, 0), (0, WORD))),),))
    cases = [
        _examine("as promised", ASK_ONE, {"epsilon": 1.0}),
        _examine("more than enough", ASK_ONE, {"epsilon": 3.0}),
        _examine("just too little", ASK_ONE, {"epsilon": 0.999}, "privacy-refused"),
        _examine("a loose promise does not loosen the check", loose, {"epsilon": 1.0}),
        _examine("half of what the channels cost", loose, {"epsilon": 0.5}, "privacy-refused"),
        _examine("a design of several groups costs their sum",
                 single("sum", best(0.5, 2), best(0.5, 3)), {"epsilon": 1.0}),
        _examine("each group is cheap, their sum is not",
                 single("sum", best(0.5, 2), best(0.6, 3)), {"epsilon": 1.0}, "privacy-refused"),
        _examine("repeats", REPEATED, {"epsilon": 0.5}),
        _examine("the design agreed to", pairs, {"epsilon": 1.0, "design": pairs.digest}),
        _examine("another design than was agreed to", ASK_ONE,
                 {"epsilon": 1.0, "design": pairs.digest}, "wrong-digest"),
        _examine("a later block that fakes unevenly", ADAPTIVE, {"epsilon": 1.0}, block=fakes),
        _examine("a block one part in 2^32 below the design's own floor", ADAPTIVE,
                 {"epsilon": 44.0}, "privacy-refused", block=low),
        _examine("a block just at the design's own floor", ADAPTIVE, {"epsilon": 44.0},
                 block=at_floor),
        _examine("a block above the design's own epsilon", ADAPTIVE, {"epsilon": 44.0},
                 "privacy-refused", block=dear),
        _examine("a block below the floor agreed to", ADAPTIVE, {"epsilon": 1.0, "floor": 0.9},
                 "privacy-refused", block=fakes),
        _examine("a floor that an even fake distribution keeps", ADAPTIVE,
                 {"epsilon": 1.0, "floor": 0.99}),
        _examine("every floor is kept where nobody chooses what is faked", KINDS["k-ary"],
                 {"epsilon": 44.0, "floor": 1.0}),
        _examine("the floor 1 asks for the even distribution, rounded down",
                 single("even", TwoCoin(2**20, (HALF // 2 + 1, HALF // 2 - 1, HALF // 2,
                                                HALF // 2))),
                 {"epsilon": 44.0, "floor": 1.0}, "privacy-refused"),
        _examine("a block that proves the answer", exposed, {"epsilon": 44.0}, "privacy-refused",
                 block=bare),
        _examine("another design's block", ASK_ONE, {"epsilon": 1.0}, "wrong-digest",
                 block=first_block(pairs)),
        *(_examine(f"an agreement to {word}", ASK_ONE, {"epsilon": number}, "invalid-epsilon")
          for word, number in (("nothing", 0), ("less than nothing", -1.0))),
        *(_examine(f"an agreement to a floor of {floor}", ASK_ONE,
                   {"epsilon": 1.0, "floor": floor}, "invalid-epsilon") for floor in (-0.1, 1.1)),
    ]  # fmt: skip
    about = (
        "a block and what was agreed: what the device computed, or the code of the refusal. "
        "A certificate says at least these numbers, and at most 2^-44 of themselves more"
    )
    return about, cases


def _examine(
    comment: str,
    design: Design,
    agreed: dict[str, Any],
    error: str | None = None,
    *,
    block: Block | None = None,
) -> Case:
    block = first_block(design) if block is None else block
    found = outcome(comment, error, lambda: examine(design, block, Agreement(**agreed)))
    certificate = found and {
        "views": [repr(one) for one in found.views],
        "attributes": [repr(one) for one in found.attributes],
        "repeats": found.repeats,
    }
    return {
        "comment": comment,
        "design": design.to_bytes().decode(),
        "block": block.to_bytes().decode(),
        "agreed": agreed,
        "certificate": certificate,
        "error": error,
    }


def memories() -> Cases:
    """Return what a device remembers, and what it says when it is asked again."""
    said = _said(ASK_ONE, [1, 2, 3], 0)
    once = _said(REPEATED, [1], 0)
    twice = _said(REPEATED, [0], 1, once)
    other = ask_one_design((2, 3, 4), epsilon=0.5)  # the same survey, another design
    cases = [
        _asked("nothing was said before", None, REPEATED),
        _asked("the same survey again: the same report, no coin", said, ASK_ONE, words=[]),
        _asked("another survey", said, REPEATED),
        _asked("the first of two waves again", twice, REPEATED, words=[]),
        _asked("the second of two waves again", twice, REPEATED, wave=1, words=[]),
        _asked("a second wave, not yet answered", once, REPEATED, wave=1),
        _asked("a third wave of two", twice, REPEATED, wave=2, error="privacy-refused"),
        _asked("a wave below 0", None, REPEATED, wave=-1, error="privacy-refused"),
        _asked("the same survey under another design", said, other, error="privacy-refused"),
        _asked("a cap that one more would exceed", _capped(once, 1.4), ASK_ONE,
               error="privacy-cap-reached"),
        _asked("a cap that allows exactly two", _capped(once, 1.0), REPEATED, wave=1),
        _asked("a cap of nothing", _capped(None, 0.0), REPEATED, error="privacy-cap-reached"),
        _asked("a cap does not take back what was said", _capped(said, 0.0), ASK_ONE, words=[]),
        _asked("a damaged memory", "{", REPEATED, error="storage-failed"),
        _asked("a memory of something else", "[]", REPEATED, error="storage-failed"),
        _asked("a memory that gives back what was spent", said.replace('"epsilon": ',
               '"epsilon": -'), REPEATED, error="storage-failed"),
        _asked("a cap below nothing", _capped(None, -1.0), REPEATED, error="storage-failed"),
        _asked("a cap beyond all numbers", _capped(None, 0.0).replace("0.0", "1e999"), REPEATED,
               error="storage-failed"),
        _asked("a memory with a damaged report", said.replace("values", "value"), ASK_ONE,
               error="storage-failed"),
    ]  # fmt: skip
    about = (
        "a device's memory, a question, and the report it then hands out; words that are not "
        "spent were not needed"
    )
    return about, cases


def _said(design: Design, cells: list[int], wave: int, memory: str | None = None) -> str:
    storage = MemoryStorage()
    if memory is not None:
        storage.write(memory.encode())
    names = iter([bytes([wave + 1]) * 16])
    device = Device(
        storage,
        Agreement(float(design.epsilon)),
        coin=UnsafeSeededCoin(wave),
        name_report=lambda: next(names),
    )
    device.respond(design, first_block(design), Answer(cells, design.sizes), wave=wave)
    document = storage.read()
    return "" if document is None else document.decode()


def _capped(memory: str | None, cap: float) -> str:
    found = {"deniable": 1, "entries": []} if memory is None else json.loads(memory)
    return json.dumps({**found, "cap": cap})


def _asked(
    comment: str,
    memory: str | None,
    design: Design,
    *,
    wave: int = 0,
    words: list[int] | None = None,
    error: str | None = None,
) -> Case:
    words = ([0, 0] if error is None else []) if words is None else words
    storage = MemoryStorage()
    if memory is not None:
        storage.write(memory.encode())
    coin = ScriptedCoin(words)
    code, report, spent = None, None, None
    try:
        device = Device(
            storage, Agreement(float(design.epsilon)), coin=coin, name_report=lambda: IDENTITY
        )
        answer = Answer([0] * len(design.sizes), design.sizes)
        made = device.respond(design, first_block(design), answer, wave=wave)
        report = made.to_bytes().decode()
        spent = repr(device.ledger.total)
    except DeniableError as refused:
        code = refused.code
    if code != error or coin.spent != len(words):
        message = f"{comment}: {code} instead of {error}, {coin.spent} words"
        raise AssertionError(message)
    return {
        "comment": comment,
        "memory": memory,
        "design": design.to_bytes().decode(),
        "block": first_block(design).to_bytes().decode(),
        "wave": wave,
        "answer": [0] * len(design.sizes),
        "words": words,
        "report": report,
        "spent": spent,
        "error": error,
    }
