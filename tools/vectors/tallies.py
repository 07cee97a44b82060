"""Tallies, good and bad."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from deniable.device import Agreement, Answer, Device, MemoryStorage
from deniable.protocol import Report, Tally, first_block, tally_from_bytes, tally_of
from deniable.testing import UnsafeSeededCoin
from tools.vectors.samples import ASK_ONE, IDENTITY, KINDS, changed, outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.protocol import Design
    from tools.vectors import Case, Cases

    Change = Callable[[dict[str, Any]], object]


def tallies() -> Cases:
    """Return tallies as they are handed on."""
    good = json.loads(_tally(KINDS["k-ary"]).to_bytes())
    cases = [
        _read("good, one group of each view", _tally(ASK_ONE).to_bytes().decode(), None),
        _read("good, whole reports", _tally(ASK_ONE, joint=True).to_bytes().decode(), None),
        *(_read(f"good, {name}", _tally(d).to_bytes().decode(), None) for name, d in KINDS.items()),
        *(_read(comment, changed(good, change), code) for comment, change, code in _BAD),
        _read("truncated", json.dumps(good)[:-3], "invalid-tally"),
        _read("nothing", "", "invalid-tally"),
    ]
    return "a tally as it is handed on: the number of respondents, or the code of the error", cases


def _tally(design: Design, *, joint: bool = False) -> Tally:
    block = first_block(design)
    coin = UnsafeSeededCoin(5)
    reports: list[Report] = []
    for person in range(12):
        device = Device(
            MemoryStorage(),
            Agreement(float(design.epsilon)),
            coin=coin,
            name_report=lambda: IDENTITY,
        )
        cells = [person % size for size in design.sizes]
        reports.append(device.respond(design, block, Answer(cells, design.sizes)))
    return tally_of(design, [block], reports, source="twelve people", joint=joint)


def _first(key: str, *, to: object) -> Change:
    return lambda d: d["strata"][0][key].__setitem__(0, to)


_BAD: list[tuple[str, Change, str]] = [
    ("another version", lambda d: d.update(deniable=2), "invalid-tally"),
    ("an unknown key", lambda d: d.update(epsilon=1), "invalid-tally"),
    ("a missing key", lambda d: d.pop("sources"), "invalid-tally"),
    ("a bad design", lambda d: d["design"].update(repeats=0), "invalid-design"),
    ("a block of another design", lambda d: d["blocks"][0].update(design="A" * 43), "wrong-digest"),
    ("a count below 0", _first("counts", to=-1), "invalid-tally"),
    ("a count that is true", _first("counts", to=True),
     "invalid-tally"),
    ("fewer counts than reports", lambda d: d["strata"][0]["counts"].pop(), "invalid-tally"),
    ("a report that cannot occur", _first("reports", to=[3]),
     "invalid-report"),
    ("a report of the wrong length", _first("reports", to=[0, 0]),
     "invalid-tally"),
    ("a report counted twice",
     lambda d: d["strata"][0]["reports"].__setitem__(0, d["strata"][0]["reports"][1]),
     "invalid-tally"),
    ("a block that is not there", lambda d: d["strata"][0].update(block=9), "invalid-tally"),
    ("a view that was not offered", lambda d: d["strata"][0].update(view=3), "invalid-tally"),
    ("a group that the view does not have", lambda d: d["strata"][0].update(groups=[1]),
     "invalid-tally"),
    ("no groups", lambda d: d["strata"][0].update(groups=[]), "invalid-tally"),
    ("a stratum given twice", lambda d: d["strata"].append(d["strata"][0]), "invalid-tally"),
    ("a source given twice", lambda d: d["sources"].append(d["sources"][0]), "invalid-tally"),
    ("a source that is a number", lambda d: d.update(sources=[1]), "invalid-tally"),
]  # fmt: skip


def _read(comment: str, text: str, error: str | None) -> Case:
    people = outcome(comment, error, lambda: tally_from_bytes(text).total)
    return {"comment": comment, "tally": text, "people": people, "error": error}
