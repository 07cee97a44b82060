"""The pairs of a whole joint: how much of each is independence, the model, its own reports.

Two attributes at a time the reports say most for what they cost, and what is wrong with a
model's larger tables is nearly all wrong with its pairs. So every pair that was answered
together is settled once, and every larger table is raked to its pairs.

Four claims are made of a pair: that its attributes are independent, what the model says, and
what the pair's own reports say, inverted and moved to the nearest table, twice: keeping the
margins, which all reports tell best, and letting them go, which pairs with cells that hold
nobody tell better than the attributes one by one. People held out give each mixture of the
four a likelihood. One pair's people are too few to decide, so the spread of the shares over all
pairs is estimated first (where nearly all pairs are independent, the next one probably is), and
a pair gets the shares expected.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.inquiry import LARGEST, asked_together, covering_of
from deniable.estimation.mixture import mean_of
from deniable.estimation.sight import merged
from deniable.estimation.simplex import nearest_proper, nearest_with_margins
from deniable.estimation.unbiased import pooled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from deniable.estimation.latent_class import LatentClass

    Array = NDArray[np.float64]
    Names = tuple[str, ...]

MOST_ASKED = 120
"""Pairs that are asked about by themselves; the others get what these get on average."""

PARTS = 6
CLAIMS = 4
SHARES = np.array(
    [one for one in product(range(PARTS + 1), repeat=CLAIMS) if sum(one) == PARTS]
) / float(PARTS)
"""Shares of independence, of the model and of a pair's own reports twice: all in sixths."""

BEFORE, DOUBT = 3.0, 0.9
"""Pairs' worth of belief beforehand, and how much of it is in independence; the rest is spread
over all shares and keeps every one possible."""

ROUNDS = 50
"""EM steps in which the spread of the shares is estimated."""

TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Settlement:
    """Each pair's table, and what it would be without some of the people.

    Attributes:
        fit: The model.
        shares: How much of a pair is each claim's.
        inverses: For the pairs that were asked about, the unbiased estimate by each fold's
            people alone, and how many they are; folds that saw nothing are left out.
        tables: Each pair's table, the attributes in the model's order.
    """

    fit: LatentClass
    shares: Mapping[Names, Array]
    inverses: Mapping[Names, Mapping[int, tuple[float, Array]]]
    tables: Mapping[Names, Array]

    def without(self, fold: int, pair: Names) -> Array | None:
        """Return the pair's table as those outside a fold know it; nothing if it was not asked."""
        if pair not in self.inverses:
            return None
        claims = _claims_without(self.fit, fold, pair, self.inverses[pair])
        table: Array = np.tensordot(self.shares[pair], claims, axes=1)
        return table

    @property
    def reason(self) -> str:
        """Say how much of the pairs is whose, on average; nothing if none is settled."""
        if not self.shares:
            return ""
        flat, model, *own = np.mean(list(self.shares.values()), axis=0)
        return (
            f"of a pair {model:.0%} is the model's, {sum(own):.0%} that of its own reports and "
            f"{flat:.0%} independence, on average"
        )


def settle_pairs(fit: LatentClass, *, rng: np.random.Generator) -> Settlement:
    """Ask the folds about each pair; where all is independent there is nothing to settle.

    Pairs of too many cells and those that nobody answered together are left to the model.
    """
    pairs = _possible(fit) if fit.gain else []
    if not pairs:
        return Settlement(fit, {}, {}, {})
    asked = [pairs[place] for place in rng.permutation(len(pairs))[:MOST_ASKED]]
    inverses = {pair: _inverses(fit, pair) for pair in asked}
    told = np.array([_told(fit, pair, inverses[pair]) for pair in asked])
    each, usual = believed(told)
    known = dict(zip(asked, each, strict=True))
    shares = {pair: known.get(pair, usual) for pair in pairs}
    tables, flat = {}, mean_of(fit.flats)
    for pair in pairs:
        seen = _pooled(inverses[pair]) if pair in inverses else _everyone(fit, pair)
        claims = _claims(flat.table(pair), fit.model.table(pair), seen, fit.share)
        tables[pair] = np.tensordot(shares[pair], claims, axes=1)
    return Settlement(fit, shares, inverses, tables)


def believed(told: Array) -> tuple[Array, Array]:
    """Return the shares expected of each pair, and of any, by empirical Bayes.

    Args:
        told: For each pair the log-likelihood of each of the ``SHARES``.
    """
    likely = np.exp(told - told.max(axis=1, keepdims=True))
    before = np.where(SHARES[:, 0] == 1, DOUBT, 0) + (1 - DOUBT) / len(SHARES)
    spread = before
    for _ in range(ROUNDS):
        belongs = spread * likely
        belongs /= belongs.sum(axis=1, keepdims=True)
        spread = (belongs.sum(axis=0) + BEFORE * before) / (len(told) + BEFORE)
    belongs = spread * likely
    belongs /= belongs.sum(axis=1, keepdims=True)
    return belongs @ SHARES, spread @ SHARES


def _possible(fit: LatentClass) -> list[Names]:
    together = asked_together(fit.folds.evidence)
    sizes = dict(zip(fit.model.names, fit.model.sizes, strict=True))
    return [
        pair
        for pair in combinations(fit.model.names, 2)
        if prod(sizes[name] for name in pair) <= LARGEST
        and any(set(pair) <= one for one in together)
    ]


def _inverses(fit: LatentClass, pair: Names) -> dict[int, tuple[float, Array]]:
    """Return what each fold's people alone say of a pair, unbiased, and how many they are."""
    found = {}
    for fold in range(fit.folds.number):
        sights = covering_of(fit.folds.evidence_held(fold), pair)
        if sights:
            people = sum(sight.people for sight in sights)
            found[fold] = people, pooled(sights).centre
    return found


def _everyone(fit: LatentClass, pair: Names) -> Array:
    return pooled(covering_of(fit.folds.evidence, pair)).centre


def _pooled(
    inverses: Mapping[int, tuple[float, Array]], left_out: int | None = None
) -> Array | None:
    """Return what the people of all folds but one say of a pair, unbiased."""
    others = [one for fold, one in inverses.items() if fold != left_out]
    if not others:
        return None
    people = sum(number for number, _ in others)
    result: Array = np.sum([number / people * table for number, table in others], axis=0)
    return result


def _claims_without(
    fit: LatentClass, fold: int, pair: Names, inverses: Mapping[int, tuple[float, Array]]
) -> Array:
    """Return the claims about a pair as those outside a fold make them."""
    flat, model = fit.flats[fold].table(pair), fit.climbs[fold].table(pair)
    return _claims(flat, model, _pooled(inverses, fold), fit.share)


def _claims(flat: Array, model: Array, seen: Array | None, share: float) -> Array:
    """Return the four claims about a pair, one below the other.

    Nothing at all may depend on anything: what is left of the model of that belief is left
    of the pair's own reports too.
    """
    if seen is None:
        return np.stack([flat, model, model, model])
    own = np.stack(
        [nearest_with_margins(seen, flat.sum(axis=1), flat.sum(axis=0)), nearest_proper(seen)]
    )
    return np.stack([flat, model, *(share * own + (1 - share) * flat)])


def _told(fit: LatentClass, pair: Names, inverses: Mapping[int, tuple[float, Array]]) -> Array:
    """Return how likely each of the shares makes the held-out reports on a pair, in nats."""
    told = np.zeros(len(SHARES))
    for fold in inverses:
        claims = _claims_without(fit, fold, pair, inverses)
        for sight in merged(covering_of(fit.folds.evidence_held(fold), pair)):
            came = sight.counts > 0
            seen = np.maximum([sight.see(claim)[came] for claim in claims], TINY)
            odds = np.maximum(SHARES @ (seen / seen[0]), TINY)
            told += np.log(odds) @ sight.counts[came]
    return told
