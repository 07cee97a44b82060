"""Write spec/vectors/, or compare it: ``./run python -m tools.vectors [--check]``.

The vectors are what every client and server of the protocol must agree on. They are
computed by the Python package from fixed words, so writing them twice gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tools.vectors.agreements import agreements, memories
from tools.vectors.channels import certificates, channels
from tools.vectors.coins import tosses
from tools.vectors.messages import blocks, canonical_forms, designs
from tools.vectors.reports import randomized, received
from tools.vectors.tallies import tallies

FOLDER = Path(__file__).resolve().parents[2] / "spec" / "vectors"

FILES = {
    "coins": tosses,
    "canonical": canonical_forms,
    "channels": channels,
    "epsilon": certificates,
    "designs": designs,
    "blocks": blocks,
    "reports": randomized,
    "received": received,
    "agreements": agreements,
    "memories": memories,
    "tallies": tallies,
}


def written(name: str) -> str:
    """Return the text of one file of vectors."""
    about, cases = FILES[name]()
    document = {"deniable": 1, "about": about, "cases": cases}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def main(words: list[str]) -> int:
    """Write every file, or name those that differ."""
    parser = argparse.ArgumentParser(prog="tools.vectors", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args(words).check
    differing = []
    for name in FILES:
        path = FOLDER / f"{name}.json"
        text = written(name)
        if check and (not path.exists() or path.read_text(encoding="utf-8") != text):
            differing.append(path.name)
        elif not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if differing:
        print(f"these vectors are not what the code computes: {', '.join(differing)}")
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
