"""What a toss makes of its words."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from deniable.channels.coin import WORD
from deniable.testing import ScriptedCoin

if TYPE_CHECKING:
    from tools.vectors import Case, Cases

LAST = WORD - 1
HALF = WORD // 2
UNEVEN = [1, HALF, HALF - 3, 2]


def tosses() -> Cases:
    """Return every toss at the words where its outcome changes."""
    cases = [
        _heads("the word just below head is heads", HALF - 1, HALF),
        _heads("the word equal to head is tails", HALF, HALF),
        _heads("the smallest head is heads at word 0 only", 0, 1),
        _heads("the smallest head is tails at word 1", 1, 1),
        _heads("the largest head is heads at all but the last word", LAST - 1, LAST),
        _heads("the largest head is tails at the last word", LAST, LAST),
        *_at_edges("pick", UNEVEN),
        *_at_edges("pick", [0, HALF, 0, HALF, 0]),
        *(_even(size) for size in (2, 3, 5, 7, 16, 1000, 65537, 2**31, 2**31 + 1, LAST)),
        *_even_edges(3),
        *_even_edges(10),
        _below("a bound of one spends its words all the same", 1, [LAST, LAST]),
        _below("the high word comes first", 2**32, [1, 2]),
        _below("the remainder of 64 bits, not of 32", 10, [1, 0]),
        _below("a bound that divides 2^64 never throws again", 2**31, [LAST, LAST]),
        _below("the last of 2^64 numbers is thrown again for 3", 3, [LAST, LAST, 0, 5]),
        _below("the last but one is not", 3, [LAST, LAST - 1]),
        _below("thrown again twice", 7, [LAST, LAST, LAST, LAST - 1, 0, 13]),
        _below("2^64 mod 10 is 6: number 2^64 - 7 is kept", 10, [LAST, WORD - 7]),
        _below("2^64 mod 10 is 6: number 2^64 - 6 is thrown again", 10, [LAST, WORD - 6, 0, 4]),
        _below("the largest bound a design may need", 2**53 - 1, [LAST, LAST - 2048]),
        _below("a number past 2^53 must not be rounded", 2**31 - 1, [2**31, 3]),
    ]
    return "one toss of a coin: the outcome of its 32-bit words", cases


def _heads(comment: str, word: int, head: int) -> Case:
    return _case(comment, "heads", head, [word])


def _at_edges(toss: str, weights: list[int]) -> list[Case]:
    bounds = list(accumulate(weights))
    words = sorted({w for bound in bounds for w in (bound - 1, bound) if 0 <= w < WORD} | {0, LAST})
    return [_case(f"word {w} of weights {weights}", toss, weights, [w]) for w in words]


def _even(size: int) -> Case:
    return _case(f"a word in the middle, {size} cells", "even", size, [HALF + 12345])


def _even_edges(size: int) -> list[Case]:
    weight, longer = divmod(WORD, size)
    turn = longer * (weight + 1)
    words = [0, weight, weight + 1, turn - 1, turn, turn + weight - 1, turn + weight, LAST]
    return [_case(f"word {word} over {size} cells", "even", size, [word]) for word in words]


def _below(comment: str, bound: int, words: list[int]) -> Case:
    return _case(comment, "below", bound, words)


def _case(comment: str, toss: str, argument: int | list[int], words: list[int]) -> Case:
    coin = ScriptedCoin(words)
    if isinstance(argument, list):
        outcome: bool | int = coin.pick(list(accumulate(argument)))
    elif toss == "heads":
        outcome = coin.heads(argument)
    else:
        outcome = coin.even(argument) if toss == "even" else coin.below(argument)
    if coin.spent != len(words):
        message = f"{comment}: spent {coin.spent} of {len(words)} words"
        raise AssertionError(message)
    return {
        "comment": comment,
        "toss": toss,
        "argument": argument,
        "words": words,
        "outcome": outcome,
    }
