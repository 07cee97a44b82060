"""Graph estimates over every report that a small graph can send: nothing is sampled.

Edges are kept with ¾, so that every number is a fraction of a power of two and floating point
is exact: expectations are compared with ``==``.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from deniable.channels import k_ary, warner
from deniable.graphs import (
    Graph,
    GraphReports,
    Roster,
    estimate_degrees,
    estimate_edges,
    estimate_triangles,
    graph_of,
)
from deniable.graphs.variance import of_all_triangles, of_pair, of_triangles

if TYPE_CHECKING:
    from deniable.graphs.roster import Ends

KEEP = 0.75
CHANNEL = warner(KEEP)
NAMES = ("a", "b", "c", "d", "e")
GRAPHS = {
    "empty": (),
    "a triangle and a tail": (("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")),
    "everybody": tuple(combinations(NAMES, 2)),
}


def outcomes(graph: Graph, ends: Ends) -> list[tuple[float, np.ndarray]]:
    """Return what can be estimated from every set of reports, with its probability.

    A row each: degrees, edges, triangles of each, triangles in all.
    """
    roster = Roster(graph.names, ends)
    asked = roster.whom >= 0
    owners = np.nonzero(asked)[0]
    true = graph.joined[owners, roster.whom[asked]]
    found = []
    for said in product((0, 1), repeat=true.size):
        bits = np.zeros(asked.shape, np.uint8)
        bits[asked] = said
        reports = GraphReports(roster, CHANNEL, bits, np.ones(len(roster), np.bool_))
        told = int(np.sum(np.array(said) == true))
        chance = KEEP**told * (1 - KEEP) ** (true.size - told)
        triangles = estimate_triangles(reports)
        values = [
            *estimate_degrees(reports).values,
            estimate_edges(reports).value,
            *triangles.of_each.values,
            triangles.total.value * 3,  # thirds are no fractions of a power of two
        ]
        found.append((chance, np.array(values)))
    return found


def moments(found: list[tuple[float, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return expectation and variance."""
    mean = sum(chance * values for chance, values in found)
    square = sum(chance * values**2 for chance, values in found)
    return np.asarray(mean), np.asarray(square - mean**2)


def truth(graph: Graph) -> np.ndarray:
    """Return what is to be estimated, in the same order."""
    triangles = graph.triangles
    return np.array([*graph.degrees, graph.edges, *triangles, triangles.sum()], np.float64)


def variances(graph: Graph, ends: Ends) -> np.ndarray:
    """Return the variances by formula, at the truth."""
    v = of_pair(CHANNEL, ends)
    count = len(graph.names)
    common = graph.common.astype(np.float64)
    np.fill_diagonal(common, 0)
    squares = (common**2).sum(axis=1)
    degrees = graph.degrees.astype(np.float64)
    wedges = degrees * (degrees - 1) / 2
    each = of_triangles(squares, wedges, degrees, graph.edges, count, v)
    whole = of_all_triangles(float(squares.sum()) / 2, graph.edges, count, v)
    pairs = count * (count - 1) / 2
    return np.array([*[(count - 1) * v] * count, pairs * v, *each, 9 * whole])


@pytest.mark.parametrize("name", GRAPHS)
def test_estimates_are_unbiased_and_their_variances_exact(name: str) -> None:
    """Five people, all 1,024 reports: expectation and variance are ``==`` truth and formula."""
    graph = graph_of(NAMES, GRAPHS[name])
    mean, variance = moments(outcomes(graph, 1))
    assert mean.tolist() == truth(graph).tolist()
    assert variance.tolist() == variances(graph, 1).tolist()


def test_two_ends_are_unbiased_with_half_the_variance_of_a_pair() -> None:
    """Four people who all report all others, 4,096 reports."""
    graph = graph_of(NAMES[:4], GRAPHS["a triangle and a tail"])
    mean, variance = moments(outcomes(graph, 2))
    assert mean.tolist() == truth(graph).tolist()
    assert variance.tolist() == variances(graph, 2).tolist()
    assert of_pair(CHANNEL, 2) == of_pair(CHANNEL, 1) / 2


def test_a_wrong_formula_would_be_found() -> None:
    """The variances of one graph are not those of another, nor is one term idle."""
    found = variances(graph_of(NAMES, GRAPHS["everybody"]), 1)
    assert found.tolist() != variances(graph_of(NAMES, GRAPHS["empty"]), 1).tolist()
    ones = [float(of_triangles(a, b, c, d, 5, 0.75)) for a, b, c, d in np.eye(4).tolist()]
    assert min(ones) > float(of_triangles(0.0, 0.0, 0.0, 0.0, 5, 0.75)) > 0


def test_the_variance_printed_is_never_below_the_one_of_chance_alone() -> None:
    """Every standard error, whatever was reported, holds the term that needs no truth."""
    roster = Roster(NAMES)
    least = of_triangles(0.0, 0.0, 0.0, 0.0, 5, of_pair(CHANNEL, 1)) ** 0.5
    for said in product((0, 1), repeat=10):
        bits = np.array(said, np.uint8).reshape(5, 2)
        reports = GraphReports(roster, CHANNEL, bits, np.ones(5, np.bool_))
        assert estimate_triangles(reports).of_each.standard_errors.min() >= least


def test_no_channel_of_a_level_has_less_variance_for_pairs_without_an_edge() -> None:
    """Warner's against all channels of two cells at the limit: b(1 − b)/(a − b)²."""
    epsilon = 1.0
    best = of_pair(k_ary(epsilon, 2), 1)
    ratio = np.exp(epsilon)
    kept = np.linspace(0.01, 0.99, 981)  # a; b is the least that the level allows
    least = np.maximum(kept / ratio, 1 - ratio * (1 - kept))
    variance = least * (1 - least) / (kept - least) ** 2
    assert variance.min() >= best * (1 - 1e-6)
    assert variance.min() == pytest.approx(best, rel=1e-2)
