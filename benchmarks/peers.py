"""How long do the peers' k-ary randomized response take for a value?

Prints one line of JSON for each peer: its name, its version and nanoseconds per value, the
best of several runs. ``./run bench randomize`` calls this and prints it beside ours.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import warnings
from typing import TYPE_CHECKING

import numpy as np
from _measure import fastest

if TYPE_CHECKING:
    from collections.abc import Callable


def pure_ldp(answers: list[int], size: int, epsilon: float) -> Callable[[], object]:
    """Direct encoding, one call a value: there is no other door."""
    from pure_ldp.frequency_oracles.direct_encoding import DEClient  # noqa: PLC0415

    client = DEClient(epsilon=epsilon, d=size)
    return lambda: [client.privatise(answer + 1) for answer in answers]  # its domain begins at 1


def multi_freq_ldpy(answers: list[int], size: int, epsilon: float) -> Callable[[], object]:
    """Generalized randomized response, one call a value: there is no other door."""
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client  # noqa: PLC0415

    GRR_Client(0, size, epsilon)  # it is compiled at its first call
    return lambda: [GRR_Client(answer, size, epsilon) for answer in answers]


PEERS = {"pure-ldp": pure_ldp, "multi-freq-ldpy": multi_freq_ldpy}


def main() -> None:
    """Measure every peer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, default=1_000_000)
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--times", type=int, default=3)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    answers = np.random.default_rng(1).integers(0, asked.size, asked.values).tolist()
    for name, peer in PEERS.items():
        try:
            seconds = fastest(peer(answers, asked.size, asked.epsilon), asked.times)
        except ImportError as error:
            print(json.dumps({"peer": name, "missing": str(error)}))
            continue
        version = importlib.metadata.version(name)
        nanoseconds = seconds / asked.values * 1e9
        print(json.dumps({"peer": name, "version": version, "ns": nanoseconds}))


if __name__ == "__main__":
    main()
