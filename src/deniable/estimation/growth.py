"""Growing a junction tree from pairwise tables: which attribute hangs on which, and how."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deniable.errors import EstimationError
from deniable.estimation.branches import Branch, JunctionTree
from deniable.estimation.climb import likelihood_of
from deniable.estimation.folds import divide
from deniable.estimation.observation import observe
from deniable.estimation.pairs import pairs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.evidence import Evidence
    from deniable.estimation.model import Progress
    from deniable.estimation.pairs import Pairs
    from deniable.estimation.sight import Sight

    Array = NDArray[np.float64]

MOST_CLIQUE = 2**16
"""Cells of a clique's table: larger ones are not filled in from pairs."""

WIDEST = 3
"""Most parents that a junction tree tries."""

MOST_EDGES = 8
"""Edges that a reason names."""

INDEPENDENT = "no dependence of any two attributes made the pairs of held-out people more likely"

FOLDS = 3
ROUNDS = 100
SETTLED = 1e-8


class Bud(NamedTuple):
    """Where an attribute might hang.

    Attributes:
        gain: Its mutual information with its parents, one by one, in nats.
        attribute: Its place.
        parents: Members of one clique.
    """

    gain: float
    attribute: int
    parents: tuple[int, ...]


def grow(pairs: Pairs, parents: int, reason: str = "") -> JunctionTree:
    """Return the junction tree with up to so many parents, grown by mutual information.

    With one parent it is the tree of most mutual information (Chow & Liu 1968), found as
    Prim does; with more, the next attribute hangs on those members of a clique with which it
    has the most. A pair without any does not hang together.
    """
    sizes = tuple(len(margin) for margin in pairs.margins)
    left = list(range(len(sizes)))
    branches: list[Branch] = []
    best: dict[int, Bud] = {}
    while left:
        # Without an attribute that hangs on what is there, the one that tells most is a root.
        bud = max(best.values(), default=None)
        if bud is None:
            told = {place: sum(pairs.between(place, other) for other in left) for place in left}
            bud = Bud(0.0, max(left, key=lambda place: told[place]), ())
        branches.append(Branch(bud.attribute, bud.parents, _given(pairs, bud)))
        left.remove(bud.attribute)
        best.pop(bud.attribute, None)
        clique = (*bud.parents, bud.attribute)
        for place in left:
            found = _bud(pairs, place, clique, parents, sizes)
            if found.gain > 0 and found > best.get(place, Bud(0.0, place, ())):
                best[place] = found
    return JunctionTree(pairs.names, sizes, tuple(branches), reason)


def _bud(pairs: Pairs, place: int, clique: Sequence[int], most: int, sizes: Sequence[int]) -> Bud:
    """Return the members of a clique that an attribute hangs on best."""
    told = sorted(((pairs.between(place, other), other) for other in clique), reverse=True)
    chosen: list[int] = []
    gain, cells = 0.0, sizes[place]
    for information, other in told:
        if information > 0 and len(chosen) < most and cells * sizes[other] <= MOST_CLIQUE:
            chosen.append(other)
            gain += information
            cells *= sizes[other]
    return Bud(gain, place, tuple(sorted(chosen)))


def _given(pairs: Pairs, bud: Bud) -> Array:
    """Return an attribute's distribution given its parents, from their pairs' tables alone."""
    table = most_even([*bud.parents, bud.attribute], pairs)
    result: Array = table / table.sum(axis=-1, keepdims=True)
    return result


def most_even(places: Sequence[int], pairs: Pairs) -> Array:
    """Return the table of most entropy that has the pairs' tables, by raking.

    Pairs' tables that contradict each other, as estimates do, are met as nearly as raking
    comes within ``ROUNDS``.
    """
    shape = [len(pairs.margins[place]) for place in places]
    table: Array = np.ones(shape)
    for axis, place in enumerate(places):
        wide = [size if other == axis else 1 for other, size in enumerate(shape)]
        table = table * pairs.margins[place].reshape(wide)
    couples = [
        (first, second)
        for first, second in combinations(range(len(places)), 2)
        if pairs.between(places[first], places[second]) > 0
    ]
    for _ in range(ROUNDS):
        moved = 0.0
        for first, second in couples:
            others = tuple(axis for axis in range(len(places)) if axis not in (first, second))
            factor = pairs.table(places[first], places[second]) / table.sum(axis=others)
            table = table * np.expand_dims(factor, others)
            moved = max(moved, float(np.abs(factor - 1).max()))
        if moved < SETTLED or len(couples) == 1:
            break
    return table


def choose_parents(
    evidence: Evidence,
    *,
    rng: np.random.Generator,
    widest: int = WIDEST,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[int, float]:
    """Return how many parents serve held-out people best, and the gain over none in nats.

    Every pair that was answered together is asked: how likely does the tree that others'
    reports grew make the reports held out? With too few parents the pairs that do not hang
    together are told badly, with too many the cliques make things up.
    """
    gains = np.zeros(widest + 1)
    folds = divide(evidence, max(2, min(FOLDS, evidence.people)), rng=rng)
    for fold in range(folds.number):
        pairs = pairs_of(folds.evidence_fitted(fold), threads=threads, progress=progress)
        held = folds.evidence_held(fold)
        asked = list(pairs.tables)
        sights = {pair: _sights(held, [pairs.names[place] for place in pair]) for pair in asked}
        for parents in range(widest + 1):
            tree = grow(pairs, parents)
            for first, second in asked:
                table = tree.table((pairs.names[first], pairs.names[second]))
                gains[parents] += likelihood_of(sights[first, second], table)
    best = int(np.argmax(gains))
    return best, float(gains[best] - gains[0])


def _sights(held: Evidence, names: Sequence[str]) -> Sequence[Sight]:
    """Return what held-out people say of a pair; nothing, if none of them was asked it."""
    try:
        return observe(held, names).covering
    except EstimationError:
        return ()


def fit_tree(
    evidence: Evidence,
    *,
    rng: np.random.Generator,
    threads: int | None = None,
    progress: Progress | None = None,
) -> JunctionTree:
    """Return the Chow-Liu tree of the pairs' debiased tables; nothing is random in it."""
    del rng
    pairs = pairs_of(evidence, threads=threads, progress=progress)
    tree = grow(pairs, 1)
    return _explained(tree, pairs, "each attribute hangs on the one it tells most about")


def fit_junction_tree(
    evidence: Evidence,
    *,
    rng: np.random.Generator,
    threads: int | None = None,
    progress: Progress | None = None,
) -> JunctionTree:
    """Return the junction tree whose width serves held-out people best."""
    parents, gain = choose_parents(evidence, rng=rng, threads=threads, progress=progress)
    pairs = pairs_of(evidence, threads=threads, progress=progress)
    tree = grow(pairs, parents)
    attributes = "attribute" if parents == 1 else "attributes"
    why = (
        f"letting each attribute hang on up to {parents} {attributes} made the pairs of "
        f"held-out people {gain:,.0f} nats more likely than independence"
    )
    return _explained(tree, pairs, why if parents else INDEPENDENT)


def _explained(tree: JunctionTree, pairs: Pairs, why: str) -> JunctionTree:
    edges = [f"{first}-{second}" for first, second in tree.edges]
    more = f" and {len(edges) - MOST_EDGES} more" if len(edges) > MOST_EDGES else ""
    grown = f" ({', '.join(edges[:MOST_EDGES])}{more})" if edges else ""
    never = math.comb(len(tree.names), 2) - len(pairs.tables)
    aside = f"; {never} pairs were never answered together" if never else ""
    return replace(tree, reason=f"{why}{grown}{aside}")
