"""Every random word enumerated: what too few parties see does not depend on the others' parts."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from deniable.sharing import Party, split, sum_of
from deniable.sharing.shares import WORD, uniform

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deniable.sharing.shares import Vector


class Scripted:
    """Words from a script."""

    def __init__(self, words: Sequence[int]) -> None:
        """Remember the script."""
        self.left = list(words)

    def words(self, count: int) -> Vector:
        """Return the next words."""
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count
        return np.array(taken, np.uint32)


def views_of(
    share: Callable[..., Vector], value: int, parts: int, modulus: int, seen: tuple[int, ...]
) -> Counter[tuple[int, ...]]:
    """Count what some of the parts look like, over all random words."""
    found: Counter[tuple[int, ...]] = Counter()
    for words in product(range(modulus), repeat=parts - 1):
        rows = share(np.array([value], np.uint32), parts, modulus, Scripted(words))
        assert int(rows.sum()) % modulus == value
        found[tuple(int(rows[part, 0]) for part in seen)] += 1
    return found


@pytest.mark.parametrize(("parts", "modulus"), [(2, 5), (3, 4), (4, 3)])
def test_all_parts_but_one_are_uniform_whatever_is_shared(parts: int, modulus: int) -> None:
    """Any k − 1 of k shares take every value equally often, for every vector."""
    for seen in combinations(range(parts), parts - 1):
        for value in range(modulus):
            counts = views_of(split, value, parts, modulus, seen)
            assert len(counts) == modulus ** (parts - 1)
            assert set(counts.values()) == {1}


def test_a_split_that_tells_would_be_caught() -> None:
    """Shares of nought with the vector added to the first part are not uniform on their own."""

    def leaky(vector: Vector, parts: int, modulus: int, stream: Scripted) -> Vector:
        rows = np.zeros((parts, vector.size), np.uint32)
        rows[0] = vector
        rows[1] = stream.words(1) % 2  # too few words: part 1 is no mask for part 0
        rows[2] = (modulus - rows[1]) % modulus
        stream.words(parts - 2)
        return rows

    assert views_of(leaky, 1, 3, 4, (0, 1)) != views_of(leaky, 2, 3, 4, (0, 1))
    assert views_of(split, 1, 3, 4, (0, 1)) == views_of(split, 2, 3, 4, (0, 1))


def view_of_the_first(ones: Sequence[int], words: Sequence[int]) -> tuple[int, ...]:
    """Return all that party 0 sees of a sum of three: its rows and what is said aloud."""
    parties = [
        Party(number, 3, np.array([one], np.uint32), Scripted(words[2 * number : 2 * number + 2]))
        for number, one in enumerate(ones)
    ]
    dealt = [party.deal() for party in parties]
    for party in parties:
        for dealer, rows in enumerate(dealt):
            party.collect(dealer, rows[party.number])
    said = {party.number: party.announce() for party in parties}
    assert int(sum_of(said, 3)[0]) == sum(ones)
    heard = [int(rows[0, 0]) for rows in dealt[1:]]
    return (*map(int, dealt[0][:, 0]), *heard, *(int(said[n][0]) for n in range(3)))


def test_n_minus_2_parties_cannot_tell_which_of_the_other_two_has_the_one() -> None:
    """Over all 4⁶ draws, party 0 of 3 sees the same views as often for (1, 0) as for (0, 1)."""
    views: dict[tuple[int, int], Counter[tuple[int, ...]]] = {(1, 0): Counter(), (0, 1): Counter()}
    for words in product(range(4), repeat=6):
        for others, counts in views.items():
            counts[view_of_the_first((0, *others), words)] += 1
    assert views[1, 0] == views[0, 1]
    aloud = Counter(view[-2:] for view in views[1, 0].elements())
    assert len(aloud) == 16  # either of the two announcements is uniform by itself
    first = Counter(view[-1] for view in views[1, 0].elements())
    assert len(set(first.values())) == 1


def test_words_of_the_incomplete_last_stretch_are_thrown_again() -> None:
    """Modulo 3 one word of 2³² is one too many."""
    limit = WORD - WORD % 3
    assert uniform(2, 3, Scripted([limit, 5, 7])).tolist() == [5 % 3, 7 % 3]
    assert uniform(1, WORD, Scripted([WORD - 1])).tolist() == [WORD - 1]
