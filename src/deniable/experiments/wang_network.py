"""Degrees and triangles as Wang, Wu & Hu estimate them (6.4), and a network to try it on.

Everybody reports everybody, so that both ends report an edge, and it costs 2ε. The server then
draws a graph that has as many edges as the truth; that number it is given unrandomized. LM is
the same through rounded Laplace. LM-global and LM-smooth are for a server that has the truth.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from deniable.experiments.wang import whole
from deniable.graphs.graph import Graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deniable.graphs.reports import GraphReports

    Array = NDArray[np.float64]

PEOPLE: Final = 185
EDGES: Final = 684
NEAR: Final = 0.08
"""How far apart two people may live and still likely meet, the town being 1 across."""

DELTA: Final = 1e-6
"""δ of LM-smooth, of which the source says nothing."""


def made_up(rng: np.random.Generator) -> Graph:
    """Return a network of 185 people and 684 edges, as many as in the source.

    People live somewhere and differ in how sociable they are, so that friends of friends are
    often friends and degrees are uneven, as in networks that people form.
    """
    places = rng.random((PEOPLE, 2))
    sociable = rng.lognormal(0, 0.5, PEOPLE)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    liking = np.log(np.multiply.outer(sociable, sociable)) - apart / NEAR
    liking += rng.gumbel(size=liking.shape)
    pairs = np.triu_indices(PEOPLE, 1)
    chosen = np.argsort(-liking[pairs], kind="stable")[:EDGES]
    return _joined(tuple(f"person {place + 1}" for place in range(PEOPLE)), pairs, chosen)


def random_graph(truth: Graph, rng: np.random.Generator) -> Graph:
    """Return a graph of as many edges, drawn without a look at any report."""
    pairs = np.triu_indices(len(truth.names), 1)
    return _joined(truth.names, pairs, rng.choice(pairs[0].size, truth.edges, replace=False))


def instance(reports: GraphReports, edges: int, rng: np.random.Generator) -> Graph:
    """Return the graph that the server draws from reports, with the true number of edges.

    Of the pairs that so many of their ends call an edge, it takes as many as there are expected
    to be edges among them.
    """
    names, ends = reports.roster.names, reports.roster.ends
    said = np.zeros((len(names), len(names)), np.int64)
    asked = reports.roster.whom >= 0
    owners = np.nonzero(asked)[0]
    said[owners, reports.roster.whom[asked]] = reports.bits[asked]
    pairs = np.triu_indices(len(names), 1)
    votes = (said + said.T)[pairs]
    keep = float(reports.channel.probability((1,), 1))
    shares = [math.comb(ends, k) * keep**k * (1 - keep) ** (ends - k) for k in range(ends, -1, -1)]
    chosen: list[NDArray[np.int64]] = []
    left = 0
    for vote, wanted in zip(range(ends, -1, -1), whole(np.array(shares) * edges), strict=True):
        there = np.flatnonzero(votes == vote)
        taken = min(int(wanted) + left, there.size)
        left += int(wanted) - taken
        chosen.append(rng.choice(there, taken, replace=False))
    return _joined(names, pairs, np.concatenate(chosen))


def global_scale(people: int) -> tuple[float, float]:
    """Return GS_D = 2 and GS_Δ = 3(n − 2), which LM-global divides by ε."""
    return 2.0, 3.0 * (people - 2)


def smooth_scale(truth: Graph, epsilon: float, entries: int) -> float:
    """Return the scale of LM-smooth's Laplace noise on the triangle sequence: 2S/ε.

    S = max_k e^(−βk)·3·max_ij min(n − 2, c_ij + ⌊(k + min(k, b_ij))/2⌋), c_ij common neighbours,
    b_ij those of one alone (Nissim et al. 2007, 3.2); β = ε/(4(d + ln(2/δ))) for d entries
    that are published together, ε/(2·ln(2/δ)) for one.
    """
    if entries == 1:
        beta = epsilon / (2 * math.log(2 / DELTA))
    else:
        beta = epsilon / (4 * (entries + math.log(2 / DELTA)))
    pairs = np.triu_indices(len(truth.names), 1)
    common = truth.common[pairs].astype(np.int64)
    degrees = truth.degrees
    alone = degrees[pairs[0]] + degrees[pairs[1]] - 2 * common - 2 * truth.joined[pairs]
    both = np.unique(np.stack([common, alone], axis=1), axis=0)
    steps = np.arange(2 * len(truth.names))
    grown = both[:, :1] + (steps + np.minimum(steps, both[:, 1:])) // 2
    local = 3 * np.minimum(grown, len(truth.names) - 2).max(axis=0)
    return float(2 * np.max(np.exp(-beta * steps) * local) / epsilon)


def off(found: Array | NDArray[np.int64], true: NDArray[np.int64]) -> float:
    """Return the average entrywise error."""
    return float(np.mean(np.abs(found - true)))


def _joined(
    names: tuple[str, ...], pairs: tuple[NDArray[np.int64], ...], chosen: NDArray[np.int64]
) -> Graph:
    joined = np.zeros((len(names), len(names)), np.bool_)
    joined[pairs[0][chosen], pairs[1][chosen]] = True
    return Graph(names, joined | joined.T)
