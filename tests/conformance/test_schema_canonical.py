"""Canonical JSON is spelled in Python as JavaScript spells it."""

from __future__ import annotations

import json
import subprocess

import numpy as np

from deniable.schema.canonical import canonical_json

SORTED = """
const sorted = (value) =>
  Array.isArray(value) ? value.map(sorted)
  : value !== null && typeof value === 'object'
  ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]))
  : value;
const text = require('fs').readFileSync(0, 'utf-8');
process.stdout.write(JSON.stringify(sorted(JSON.parse(text))));
"""


def test_numbers_and_keys_are_spelled_and_ordered_as_in_javascript(node: str) -> None:
    """Floats of every size, and keys beyond the basic plane, come out byte for byte the same."""
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 2**63, 20_000, dtype=np.uint64).view(np.float64)
    sizes = rng.uniform(-1, 1, 20_000) * 10.0 ** rng.integers(-9, 24, 20_000)
    numbers = [float(x) for x in (*bits[np.isfinite(bits)], *sizes, *10.0 ** np.arange(-30, 40))]
    document = {"numbers": numbers, "\ufb33": 1, "😀": "\u2028 \x7f é", "é": {"b": [], "a": None}}
    told = subprocess.run(
        [node, "-e", SORTED], input=json.dumps(document), capture_output=True, text=True, check=True
    )
    assert canonical_json(document) == told.stdout
