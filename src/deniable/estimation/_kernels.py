"""The hot loops of the whole joint. Every one runs without Python's lock, on one core.

Shapes: M rows are all categories of all attributes one after another, K classes;
U distinct reports of one group. K is the last axis everywhere, so that the innermost
loop runs along memory and is turned into vector instructions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from deniable.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.floating[Any]]
    Places: TypeAlias = NDArray[np.int32]


@compiled(fastmath=True)
def see(
    start: Places, cell: Places, bump: Floats, base: Floats, cells: Floats, seen: Floats
) -> None:
    """Fill seen[u, k] = base[u] + Σ_e bump[e] · cells[cell[e], k], e from start[u]."""
    classes = cells.shape[1]
    if classes == 1:  # independence: loops over one class would take far longer
        for u in range(len(base)):
            total = base[u]
            for e in range(start[u], start[u + 1]):
                total += bump[e] * cells[cell[e], 0]
            seen[u, 0] = total
        return
    for u in range(len(base)):
        out = seen[u]
        for k in range(classes):
            out[k] = base[u]
        for e in range(start[u], start[u + 1]):
            one, factor = cells[cell[e]], bump[e]
            for k in range(classes):
                out[k] += factor * one[k]


@compiled(fastmath=True)
def trace(start: Places, cell: Places, bump: Floats, pull: Floats, belongs: Floats) -> None:
    """Add bump[e] · pull[u, k] to belongs[cell[e], k], e from start[u]; the transpose."""
    classes = pull.shape[1]
    if classes == 1:
        for u in range(len(start) - 1):
            for e in range(start[u], start[u + 1]):
                belongs[cell[e], 0] += bump[e] * pull[u, 0]
        return
    for u in range(len(start) - 1):
        force = pull[u]
        for e in range(start[u], start[u + 1]):
            out, factor = belongs[cell[e]], bump[e]
            for k in range(classes):
                out[k] += factor * force[k]


@compiled(fastmath=True)
def compose(members: Places, single: Floats, packed: Floats) -> None:
    """Fill packed[r, k] = Π_j single[members[r, j], k]."""
    classes = single.shape[1]
    for r in range(len(members)):
        out, first = packed[r], single[members[r, 0]]
        for k in range(classes):
            out[k] = first[k]
        for j in range(1, members.shape[1]):
            other = single[members[r, j]]
            for k in range(classes):
                out[k] *= other[k]


@compiled(fastmath=True)
def spread(members: Places, packed: Floats, single: Floats) -> None:
    """Add packed[r, k] to single[members[r, j], k] for every j."""
    classes = single.shape[1]
    for r in range(len(members)):
        part = packed[r]
        for j in range(members.shape[1]):
            out = single[members[r, j]]
            for k in range(classes):
                out[k] += part[k]


@compiled(fastmath=True)
def assign(  # noqa: C901 -- one pass over the people; a call for each of them would cost more
    index: Places,
    seen: Floats,
    weight: Floats,
    fitted: Floats,
    held: Floats,
    usual: Floats,
    belongs: Floats,
    mass: Floats,
) -> tuple[float, float, float]:
    """Divide each respondent among the classes (the E-step).

    Respondent i's report through factor f is row index[i, f] of ``seen``. Those with
    ``fitted`` > 0 are added to ``belongs`` and ``mass``. Returned are the log-likelihood of
    the fitted, and of the ``held`` what their log-likelihoods are above ``usual``: the sum,
    and the sum of squares.
    """
    people, factors = index.shape
    classes = len(weight)
    share = np.empty(classes, weight.dtype)
    total_fitted, total_held, square = 0.0, 0.0, 0.0
    for i in range(people):
        one = seen[index[i, 0]]
        for k in range(classes):
            share[k] = weight[k] * one[k]
        for f in range(1, factors):
            one = seen[index[i, f]]
            for k in range(classes):
                share[k] *= one[k]
        total = weight[0] * 0
        for k in range(classes):
            total += share[k]
        if total <= 0:
            continue
        level = np.log(total)
        if held[i] > 0:
            above = level - usual[i]
            total_held += held[i] * above
            square += held[i] * above * above
        if fitted[i] > 0:
            total_fitted += fitted[i] * level
            scale = fitted[i] / total
            for k in range(classes):
                share[k] *= scale
                mass[k] += share[k]
            for f in range(factors):
                out = belongs[index[i, f]]
                for k in range(classes):
                    out[k] += share[k]
    return total_fitted, total_held, square


@compiled(fastmath=True)
def level(index: Places, seen: Floats, weight: Floats, levels: Floats) -> None:
    """Fill levels[i] with respondent i's log-likelihood."""
    people, factors = index.shape
    classes = len(weight)
    for i in range(people):
        total = weight[0] * 0
        for k in range(classes):
            share = weight[k]
            for f in range(factors):
                share *= seen[index[i, f], k]
            total += share
        levels[i] = np.log(total)


@compiled(fastmath=True)
def sum_pair(table: Floats, sums: Floats) -> None:
    """Add to sums[a, b] the cells table[…, a, …, b, …], given as five axes."""
    outer, first, middle, second, inner = table.shape
    for o in range(outer):
        for a in range(first):
            for m in range(middle):
                for b in range(second):
                    total = sums[0, 0] * 0
                    for i in range(inner):
                        total += table[o, a, m, b, i]
                    sums[a, b] += total


@compiled(fastmath=True)
def scale_pair(table: Floats, factor: Floats) -> None:
    """Multiply the cells table[…, a, …, b, …] by factor[a, b]."""
    outer, first, middle, second, inner = table.shape
    for o in range(outer):
        for a in range(first):
            for m in range(middle):
                for b in range(second):
                    for i in range(inner):
                        table[o, a, m, b, i] *= factor[a, b]
