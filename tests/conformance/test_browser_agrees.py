"""The browser client beside Python on thousands of random channels, not only on the vectors."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from deniable.channels import (
    KAry,
    LocalHash,
    Matrix,
    SubsetSelection,
    TwoCoin,
    Unary,
    channel_to_dict,
    epsilon_of_all,
)
from deniable.channels.coin import WORD
from deniable.device import Agreement, Answer, Device, MemoryStorage
from deniable.errors import ChannelError
from deniable.protocol import first_block
from deniable.testing import ScriptedCoin, ask_one_design

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.channels import Channel

CLIENT = Path(__file__).parents[2] / "clients" / "browser"
SCRIPT = """
import { readFileSync } from "node:fs";
import { readChannel } from "./src/channels.js";
import { WordCoin } from "./src/coin.js";
import { epsilonOf } from "./src/privacy.js";
import { randomize } from "./src/randomize.js";
class Scripted extends WordCoin {
  spent = 0;
  constructor(words) { super(); this.words = words; }
  word() { return this.words[this.spent++]; }
}
const cases = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map(({ channels, cell, words }) => {
  const read = channels.map(readChannel);
  const coin = new Scripted(words);
  const value = randomize(read[0], cell, coin);
  return { epsilon: epsilonOf(read), value, spent: coin.spent };
})));
"""
MEMORY = """
import { readFileSync } from "node:fs";
import * as client from "./src/index.js";
const { design, block } = JSON.parse(readFileSync(0, "utf8"));
const read = await client.readDesign(design);
const storage = new client.MemoryStorage();
const device = new client.Device({ storage, agreement: new client.Agreement({ epsilon: 1 }) });
const answer = client.Answer.of(read, { a0: 1, a1: 2, a2: 3 });
const report = await device.respond(read, await client.readBlock(block, read), answer);
await device.setCap(2.5);
console.log(JSON.stringify([{ report: String(report), document: await storage.read() }]));
"""
MANY = 600


def word(rng: np.random.Generator) -> int:
    """Return a word, often one near an end or of few bits."""
    bits = int(rng.integers(1, 33))
    number = int(rng.integers(1, 2**bits, endpoint=True))
    return min(max(number if rng.random() < 0.5 else WORD - number, 1), WORD - 1)


def weights(rng: np.random.Generator, cells: int, least: int) -> tuple[int, ...]:
    """Return weights that sum to 2³², some of them tiny."""
    rest = WORD - least * cells
    shares = rng.dirichlet(np.full(cells, 0.3))
    found = [least + int(rest * share) for share in shares[1:]]
    return (WORD - sum(found), *found)


def matrix(rng: np.random.Generator) -> Matrix:
    """Return a matrix channel; one in three has zeros."""
    rows, columns = int(rng.integers(2, 9)), int(rng.integers(1, 9))
    least = int(rng.random() < 2 / 3)
    return Matrix(tuple(weights(rng, columns, least) for _ in range(rows)))


def size(rng: np.random.Generator) -> int:
    """Return a number of cells, small or large."""
    return int(rng.integers(2, 2 ** int(rng.integers(2, 12))))


def unary(rng: np.random.Generator) -> Unary:
    """Return a unary channel."""
    flip, keep = sorted((word(rng), word(rng)))
    return Unary(keep, flip, int(rng.integers(2, 70)))


def subset(rng: np.random.Generator) -> SubsetSelection:
    """Return a subset channel."""
    cells = size(rng)
    return SubsetSelection(word(rng), cells, int(rng.integers(1, min(cells, 20))))


KINDS: dict[str, Callable[[np.random.Generator], Channel]] = {
    "two-coin": lambda rng: TwoCoin(word(rng), weights(rng, int(rng.integers(2, 40)), 1)),
    "k-ary": lambda rng: KAry(word(rng), size(rng)),
    "subset": subset,
    "matrix": matrix,
    "unary": unary,
    "local-hash": lambda rng: LocalHash(word(rng), int(rng.integers(2, 99)), 60, 101),
}


def channel_of(kind: str, rng: np.random.Generator) -> Channel:
    """Return a random channel of a kind, trying again where there is none."""
    while True:
        try:
            return KINDS[kind](rng)
        except ChannelError:
            continue


def in_the_browser(node: str, script: str, given: object) -> list[dict[str, Any]]:
    """Run a script that imports the client's modules, and return the list it prints."""
    run = subprocess.run(
        [node, "--input-type=module", "--eval", script],
        cwd=CLIENT,
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[dict[str, Any]] = json.loads(run.stdout)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_reports_and_certificates_agree(node: str, kind: str) -> None:
    """The same words give the same report; ε is never below Python's, nor 2⁻⁴⁴ above it."""
    rng = np.random.default_rng(20_261_118)
    together = [[channel_of(kind, rng) for _ in range(rng.integers(1, 4))] for _ in range(MANY)]
    cases: list[dict[str, Any]] = [
        {
            "channels": [channel_to_dict(channel) for channel in channels],
            "cell": int(rng.integers(channels[0].size)),
            "words": [word(rng) for _ in range(80)],
        }
        for channels in together
    ]
    results = in_the_browser(node, SCRIPT, cases)
    for channels, case, found in zip(together, cases, results, strict=True):
        coin = ScriptedCoin(case["words"])
        assert tuple(found["value"]) == channels[0].randomize(case["cell"], coin)
        assert found["spent"] == coin.spent
        true = epsilon_of_all(channels)
        if true == float("inf"):
            assert found["epsilon"] is None  # JSON's word for infinity
        else:
            assert true <= found["epsilon"] <= true * (1 + 2**-44)


def test_python_remembers_what_the_browser_said(node: str) -> None:
    """The browser's stored document opens in Python: the same report, the same cap, no coin."""
    design = ask_one_design((2, 3, 4))
    block = first_block(design)
    published = {"design": design.to_bytes().decode(), "block": block.to_bytes().decode()}
    (found,) = in_the_browser(node, MEMORY, published)
    storage = MemoryStorage()
    storage.write(found["document"].encode())
    device = Device(storage, Agreement(1.0), coin=ScriptedCoin([]))
    report = device.respond(design, block, Answer((0, 0, 0), design.sizes))
    assert report.to_bytes().decode() == found["report"]
    assert (device.ledger.cap, len(device.ledger.entries)) == (2.5, 1)
    assert 0.9 < device.ledger.total < 1.001
