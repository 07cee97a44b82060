"""The Python package against every vector of spec/vectors/."""

from __future__ import annotations

import json
import math
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from deniable.channels import channel_from_dict, epsilon_of_all
from deniable.device import Agreement, Answer, Device, MemoryStorage, examine
from deniable.errors import DeniableError
from deniable.protocol import (
    block_from_bytes,
    canonical,
    check_report,
    design_from_bytes,
    digest,
    report_from_bytes,
    tally_from_bytes,
)
from deniable.testing import ScriptedCoin

VECTORS = Path(__file__).parents[2] / "spec" / "vectors"
NAMES = sorted(path.stem for path in VECTORS.glob("*.json"))


def cases(name: str) -> list[Any]:
    """Return the cases of one file as parameters named by their comments."""
    found = json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))["cases"]
    return [pytest.param(case, id=case["comment"]) for case in found]


def refused(case: dict[str, Any]) -> pytest.RaisesExc[DeniableError]:
    """Expect the error that a case names, told by its code."""
    return pytest.raises(DeniableError, check=lambda error: error.code == case["error"])


@pytest.mark.parametrize("case", cases("coins"))
def test_a_toss_turns_its_words_into_the_outcome(case: dict[str, Any]) -> None:
    """Each toss spends all the words and gives the outcome."""
    coin = ScriptedCoin(case["words"])
    argument = case["argument"]
    given = list(accumulate(argument)) if case["toss"] == "pick" else argument
    assert getattr(coin, case["toss"])(given) == case["outcome"]
    assert coin.spent == len(case["words"])


@pytest.mark.parametrize("case", cases("canonical"))
def test_plain_data_has_one_canonical_form(case: dict[str, Any]) -> None:
    """The bytes and the digest are those of the vector."""
    written = canonical(case["data"])
    assert written == case["canonical"].encode()
    assert digest(written) == case["digest"]


@pytest.mark.parametrize("case", cases("channels"))
def test_a_channel_is_read_or_refused(case: dict[str, Any]) -> None:
    """A channel's wire form is read, or refused with the code."""
    if case["error"] is None:
        channel_from_dict(case["channel"])
        return
    with refused(case):
        channel_from_dict(case["channel"])


@pytest.mark.parametrize("case", cases("epsilon"))
def test_epsilon_is_the_logarithm_rounded_up(case: dict[str, Any]) -> None:
    """The ratio is exact and its certified logarithm the least double not below it."""
    together = [channel_from_dict(channel) for channel in case["channels"]]
    ratios = [channel.worst_ratio() for channel in together]
    high, low = math.prod(r[0] for r in ratios), math.prod(r[1] for r in ratios)
    assert [str(high), str(low)] == case["ratio"]
    assert epsilon_of_all(together) == float(case["epsilon"] or "inf")


@pytest.mark.parametrize("case", cases("designs"))
def test_a_design_is_read_or_refused(case: dict[str, Any]) -> None:
    """A published design has the digest, or is refused with the code."""
    if case["error"] is None:
        found = design_from_bytes(case["design"].encode(), case["published"])
        assert found.digest == case["digest"]
        return
    with refused(case):
        design_from_bytes(case["design"].encode(), case["published"])


@pytest.mark.parametrize("case", cases("blocks"))
def test_a_block_is_read_or_refused(case: dict[str, Any]) -> None:
    """A published block has the digest, or is refused with the code."""
    design = design_from_bytes(case["design"].encode())
    if case["error"] is None:
        found = block_from_bytes(case["block"].encode(), design, case["published"])
        assert found.digest == case["digest"]
        return
    with refused(case):
        block_from_bytes(case["block"].encode(), design, case["published"])


@pytest.mark.parametrize("case", cases("reports"))
def test_words_and_an_answer_give_the_report(case: dict[str, Any]) -> None:
    """The device hands out exactly the bytes, spending all the words."""
    design = design_from_bytes(case["design"].encode())
    block = block_from_bytes(case["block"].encode(), design)
    coin = ScriptedCoin(case["words"])
    identity = report_from_bytes(case["report"]).identity
    assert f'"id":"{case["id"]}"' in case["report"]
    device = Device(
        MemoryStorage(), Agreement(float(design.epsilon)), coin=coin, name_report=lambda: identity
    )
    report = device.respond(design, block, Answer(case["answer"], design.sizes))
    assert report.to_bytes() == case["report"].encode()
    assert coin.spent == len(case["words"])
    check_report(report_from_bytes(case["report"]), design, block)


@pytest.mark.parametrize("case", cases("received"))
def test_a_report_is_taken_or_refused(case: dict[str, Any]) -> None:
    """A report that arrives is one its channels can make, or is refused with the code."""
    design = design_from_bytes(case["design"].encode())
    block = block_from_bytes(case["block"].encode(), design)
    if case["error"] is None:
        check_report(report_from_bytes(case["report"]), design, block)
        return
    with refused(case):
        check_report(report_from_bytes(case["report"]), design, block)


@pytest.mark.parametrize("case", cases("agreements"))
def test_a_block_is_certified_or_refused(case: dict[str, Any]) -> None:
    """A device computes the certificate, or refuses with the code."""
    design = design_from_bytes(case["design"].encode())
    owner = design
    if case["error"] == "wrong-digest":
        # An agreement to another design, or another design's block: read under its own.
        owner = next(d for d in every_design() if f'"{d.digest}"' in case["block"])
    block = block_from_bytes(case["block"].encode(), owner)
    if case["error"] is None:
        found = examine(design, block, Agreement(**case["agreed"]))
        assert [repr(one) for one in found.views] == case["certificate"]["views"]
        assert [repr(one) for one in found.attributes] == case["certificate"]["attributes"]
        return
    with refused(case):
        examine(design, block, Agreement(**case["agreed"]))


def every_design() -> list[Any]:
    """Return the designs that the agreements speak about."""
    return [design_from_bytes(p.values[0]["design"].encode()) for p in cases("agreements")]


@pytest.mark.parametrize("case", cases("memories"))
def test_a_device_remembers(case: dict[str, Any]) -> None:
    """What a device said before decides what it says, and what it has spent."""
    design = design_from_bytes(case["design"].encode())
    block = block_from_bytes(case["block"].encode(), design)
    storage = MemoryStorage()
    if case["memory"] is not None:
        storage.write(case["memory"].encode())
    coin = ScriptedCoin(case["words"])

    def respond() -> Device:
        name = bytes(range(100, 116))
        agreement = Agreement(float(design.epsilon))
        device = Device(storage, agreement, coin=coin, name_report=lambda: name)
        answer = Answer(case["answer"], design.sizes)
        report = device.respond(design, block, answer, wave=case["wave"])
        assert report.to_bytes().decode() == case["report"]
        return device

    if case["error"] is None:
        assert repr(respond().ledger.total) == case["spent"]
    else:
        with refused(case):
            respond()
    assert coin.spent == len(case["words"])


@pytest.mark.parametrize("case", cases("tallies"))
def test_a_tally_is_read_or_refused(case: dict[str, Any]) -> None:
    """A tally holds the people and writes the same bytes, or is refused with the code."""
    if case["error"] is None:
        tally = tally_from_bytes(case["tally"])
        assert tally.total == case["people"]
        assert tally.to_bytes().decode() == case["tally"]
        return
    with refused(case):
        tally_from_bytes(case["tally"])


def test_every_file_of_vectors_is_read_here() -> None:
    """No file of vectors is forgotten, and every case says what it is about."""
    text = Path(__file__).read_text(encoding="utf-8")
    assert [name for name in NAMES if f'cases("{name}")' not in text] == []
    assert all(case.id for name in NAMES for case in cases(name))


def test_the_vectors_are_what_their_generator_computes() -> None:
    """Writing the vectors again would change nothing."""
    from tools.vectors.__main__ import FILES, written  # noqa: PLC0415 - only this test writes

    stale = [
        name
        for name in FILES
        if (VECTORS / f"{name}.json").read_text(encoding="utf-8") != written(name)
    ]
    assert stale == []
    assert sorted(FILES) == NAMES
