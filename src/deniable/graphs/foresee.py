"""What reports on edges will tell, before anybody is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.channels import epsilon_of_all
from deniable.errors import EstimationError
from deniable.graphs import variance
from deniable.graphs.randomize import edge_channel
from deniable.graphs.roster import FEWEST, MOST

if TYPE_CHECKING:
    from deniable.graphs.roster import Ends


@dataclass(frozen=True, slots=True)
class Outcome:
    """The standard errors that a level brings about.

    Attributes:
        epsilon: The exact level of an edge, rounded up.
        degree: That of each person's degree, whatever the graph.
        edges: That of the number of edges, whatever the graph.
        of_each: That of the number of triangles of a person with a mean degree.
        triangles: That of the number of triangles in all.
        uninformed: How far off a degree is where everybody is given the mean: the standard
            deviation of degrees in a random graph of this size; true graphs have more.
    """

    epsilon: float
    degree: float
    edges: float
    of_each: float
    triangles: float
    uninformed: float


def foresee(people: int, edges: float, epsilon: float, *, ends: Ends = 1) -> Outcome:
    """Return the standard errors for a random graph with so many people and edges.

    The degrees' and the edges' do not depend on the graph; the triangles' are a little larger
    in a graph with more triangles than a random one.

    >>> round(foresee(185, 684, 1.0).degree, 1)
    13.0
    """
    pairs = math.comb(max(people, 0), 2)
    if not FEWEST <= people <= MOST or not 0 <= edges <= pairs:
        problem = "there is no such graph"
        expected = f"{FEWEST} to {MOST:,} people, and at most an edge for each pair"
        raise EstimationError(problem, given=f"{people} people, {edges:g} edges", expected=expected)
    channel = edge_channel(epsilon, ends)
    v = variance.of_pair(channel, ends)
    share, others, rest = edges / pairs, people - 1, people - 2
    degree = others * share
    # c is binomial in a random graph: E c² = (n − 2)·p²·(1 − p²) + (n − 2)²·p⁴.
    squares = rest * share**2 * (1 - share**2) + (rest * share**2) ** 2
    wedges = math.comb(others, 2) * share**2
    of_each = variance.of_triangles(others * squares, wedges, degree, edges, people, v)
    whole = variance.of_all_triangles(pairs * squares, edges, people, v)
    return Outcome(
        epsilon_of_all([channel] * ends),
        math.sqrt(variance.of_degree(people, v)),
        math.sqrt(variance.of_edges(people, v)),
        math.sqrt(of_each),
        math.sqrt(whole),
        math.sqrt(others * share * (1 - share)),
    )
