"""The public names of every room, one a line: ``--write`` accepts what is found.

./run python tools/public_names.py            what is not as agreed
./run python tools/public_names.py --write    agree
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

AGREED = Path(__file__).with_suffix(".txt")
PACKAGE = Path(__file__).parents[1] / "src" / "deniable"


def found() -> list[str]:
    """List what the rooms offer in ``__all__``."""
    names = []
    for path in sorted(PACKAGE.glob("*/__init__.py")):
        room = f"deniable.{path.parent.name}"
        offered = getattr(importlib.import_module(room), "__all__", [])
        names += [f"{room}.{name}" for name in offered]
    return sorted(names)


def main() -> int:
    """Write the list, or print how it differs from the agreed one."""
    if "--write" in sys.argv:
        AGREED.write_text("\n".join(found()) + "\n", encoding="utf-8")
        return 0
    agreed = set(AGREED.read_text(encoding="utf-8").split())
    for name in sorted(agreed ^ set(found())):
        print("gone" if name in agreed else "new ", name)
    return int(agreed != set(found()))


if __name__ == "__main__":
    sys.exit(main())
