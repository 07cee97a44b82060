"""The linter keeps the one door to randomness shut elsewhere."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

FORBIDDEN = [
    "import random\n",
    "from random import SystemRandom\n",
    "import secrets\n",
    "from secrets import token_bytes\n",
    "import os\n\nos.urandom(4)\n",
    "from os import urandom\n",
    "import os\n\nos.getrandom(4)\n",
    "import uuid\n\nuuid.uuid4()\n",
    "import numpy as np\n\nnp.random.default_rng()\n",
    "import numpy as np\n\nnp.random.rand(3)\n",
    "import numpy as np\n\nnp.random.seed(3)\n",
    "import numpy as np\n\nnp.random.Generator(np.random.Philox(3))\n",
    "from numpy.random import RandomState\n\nRandomState(3)\n",
]


def lint(code: str, name: str, root: Path) -> set[str]:
    """Return which of the rules about randomness the linter says are broken."""
    command = ["ruff", "check", "--select", "TID251,NPY002", "--output-format", "concise"]
    command += ["--no-cache", "--stdin-filename", name, "-"]
    done = subprocess.run(
        command, cwd=root, input=code, capture_output=True, text=True, check=False
    )
    return {rule for rule in ("TID251", "NPY002") if rule in done.stdout}


@pytest.mark.parametrize("code", FORBIDDEN)
@pytest.mark.parametrize("room", ["bulk/keystream", "device/memory"])
def test_another_door_to_randomness_is_refused(code: str, room: str, root: Path) -> None:
    """Whatever else makes noise is an error in every room."""
    assert lint(code, f"src/deniable/{room}.py", root)


def test_the_coin_alone_may_open_the_door(root: Path) -> None:
    """The system's randomness is allowed in one module, and a generator can be handed in."""
    assert not lint("import secrets\n", "src/deniable/channels/coin.py", root)
    assert lint("import secrets\n", "src/deniable/channels/k_ary.py", root)
    assert not lint("import numpy as np\n\nx: np.random.Generator\n", "src/deniable/x.py", root)
