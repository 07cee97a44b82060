"""Variances of what is counted in a graph of which every pair is known with variance v.

Errors of different pairs are independent with mean 0, so that the terms of a product of several
pairs are uncorrelated: one error, two, or three of them.

    degree     (n − 1)·v
    edges      ½n(n − 1)·v
    triangles  of i:   v·(Σ_j c_ij² + ½d_i(d_i − 1))
                       + v²·(m − d_i + (n − 2)·d_i)
                       + v³·½(n − 1)(n − 2)
               in all: v·Σ_{i<j} c_ij² + v²·(n − 2)·m + v³·n(n − 1)(n − 2)/6

c_ij is how many neighbours i and j have in common.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from deniable.channels import Channel

T = TypeVar("T", float, "NDArray[np.float64]")


def of_pair(channel: Channel, ends: int) -> float:
    """Return v = keep·(1 − keep)/(2·keep − 1)²/ends, which does not depend on the truth.

    >>> from deniable.channels import warner
    >>> of_pair(warner(0.75), 1)
    0.75
    """
    keep = channel.probability((1,), 1)
    return float(keep * (1 - keep) / (2 * keep - 1) ** 2 / ends)


def of_degree(people: int, v: float) -> float:
    """Return the variance of everybody's degree."""
    return (people - 1) * v


def of_edges(people: int, v: float) -> float:
    """Return the variance of the number of edges."""
    return math.comb(people, 2) * v


def of_triangles(squares: T, wedges: T, degrees: T, edges: float, people: int, v: float) -> T:
    """Return the variance of the number of triangles that people are part of.

    Args:
        squares: Σ_j c_ij².
        wedges: ½d_i(d_i − 1).
        degrees: d_i.
        edges: m.
        people: n.
        v: That of a pair.
    """
    return (
        v * (squares + wedges)
        + v**2 * (edges + (people - 3) * degrees)
        + v**3 * math.comb(people - 1, 2)
    )


def of_all_triangles(squares: float, edges: float, people: int, v: float) -> float:
    """Return the variance of the number of triangles in all; ``squares`` is Σ_{i<j} c_ij²."""
    return v * squares + v**2 * (people - 2) * edges + v**3 * math.comb(people, 3)
