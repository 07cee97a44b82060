"""Channels that are none, and what those that are certify."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from deniable.channels import (
    KAry,
    LocalHash,
    Matrix,
    SubsetSelection,
    TwoCoin,
    Unary,
    best,
    channel_from_dict,
    channel_to_dict,
    epsilon_of_all,
    k_ary,
    local_hash,
    optimized_unary,
    rounded_laplace,
    subset,
    symmetric_unary,
    two_coin,
    warner,
)
from deniable.channels.coin import WORD
from tools.vectors.samples import outcome

if TYPE_CHECKING:
    from deniable.channels import Channel
    from tools.vectors import Case, Cases

HALF = WORD // 2
FAIR = [HALF, HALF]


def channels() -> Cases:
    """Return wire forms of channels, good and bad."""
    good = [
        ("two coins", {"kind": "two-coin", "head": 1, "fake": [1, WORD - 1]}),
        ("k-ary of the most truthful coin", {"kind": "k-ary", "head": WORD - 1, "size": 2}),
        ("k-ary over the most cells", {"kind": "k-ary", "head": 1, "size": WORD - 1}),
        ("a subset", {"kind": "subset", "head": HALF, "size": 16, "chosen": 4}),
        ("a subset that misses one cell", {"kind": "subset", "head": 3 * 2**30, "size": 3,
                                           "chosen": 2}),
        ("a matrix", {"kind": "matrix", "rows": [[WORD - 1, 1], [1, WORD - 1]]}),
        ("a matrix with more reports than answers",
         {"kind": "matrix", "rows": [[HALF, HALF - 1, 1], [1, HALF - 1, HALF]]}),
        ("a matrix with an entry of 0", {"kind": "matrix", "rows": [[WORD, 0], FAIR]}),
        ("unary", {"kind": "unary", "keep": 2, "flip": 1, "size": 33}),
        ("a hash", {"kind": "local-hash", "head": HALF, "buckets": 4, "size": 9, "prime": 65537}),
    ]  # fmt: skip
    bad = [
        ("no object", [1, 2]),
        ("no kind", {"head": 1, "size": 2}),
        ("an unknown kind", {"kind": "kary", "head": 1, "size": 2}),
        ("a kind that only a careless look-up knows", {"kind": "constructor"}),
        ("a field too many", {"kind": "k-ary", "head": 1, "size": 2, "fake": FAIR}),
        ("a field too few", {"kind": "k-ary", "head": 1}),
        ("a coin that always tells the truth", {"kind": "k-ary", "head": WORD, "size": 2}),
        ("a coin that never does", {"kind": "k-ary", "head": 0, "size": 2}),
        ("a coin below 0", {"kind": "k-ary", "head": -1, "size": 2}),
        ("a coin that is text", {"kind": "k-ary", "head": "1", "size": 2}),
        ("a coin that is true", {"kind": "k-ary", "head": True, "size": 2}),
        ("a coin that is null", {"kind": "k-ary", "head": None, "size": 2}),
        ("one cell", {"kind": "k-ary", "head": 1, "size": 1}),
        ("too many cells for a word", {"kind": "k-ary", "head": 1, "size": WORD}),
        ("a cell that is never faked", {"kind": "two-coin", "head": 1, "fake": [0, WORD]}),
        ("a weight below 0", {"kind": "two-coin", "head": 1, "fake": [-1, WORD + 1]}),
        ("weights short by one", {"kind": "two-coin", "head": 1, "fake": [HALF, HALF - 1]}),
        ("weights over by one", {"kind": "two-coin", "head": 1, "fake": [HALF, HALF + 1]}),
        ("a single weight", {"kind": "two-coin", "head": 1, "fake": [WORD]}),
        ("no weights", {"kind": "two-coin", "head": 1, "fake": []}),
        ("weights that are a number", {"kind": "two-coin", "head": 1, "fake": WORD}),
        ("weights that are an object", {"kind": "two-coin", "head": 1, "fake": {"0": WORD}}),
        ("a weight that is a list", {"kind": "two-coin", "head": 1, "fake": [[HALF], HALF]}),
        ("an empty subset", {"kind": "subset", "head": HALF, "size": 4, "chosen": 0}),
        ("a subset of everything", {"kind": "subset", "head": HALF, "size": 4, "chosen": 4}),
        ("a subset that avoids the truth", {"kind": "subset", "head": HALF, "size": 4,
                                            "chosen": 3}),
        ("a subset that knows nothing", {"kind": "subset", "head": HALF, "size": 4, "chosen": 2}),
        ("rows of different length", {"kind": "matrix", "rows": [FAIR, [WORD]]}),
        ("a row that does not sum", {"kind": "matrix", "rows": [FAIR, [HALF, HALF + 1]]}),
        ("an entry below 0", {"kind": "matrix", "rows": [FAIR, [-1, WORD + 1]]}),
        ("one row", {"kind": "matrix", "rows": [FAIR]}),
        ("rows that are numbers", {"kind": "matrix", "rows": [HALF, HALF]}),
        ("no rows", {"kind": "matrix", "rows": []}),
        ("a true bit no likelier than another", {"kind": "unary", "keep": HALF, "flip": HALF,
                                                 "size": 4}),
        ("a bit that is never flipped", {"kind": "unary", "keep": HALF, "flip": 0, "size": 4}),
        ("a field that is not prime", {"kind": "local-hash", "head": 1, "buckets": 2, "size": 9,
                                       "prime": 65536}),
        ("a field smaller than the cells", {"kind": "local-hash", "head": 1, "buckets": 2,
                                            "size": 9, "prime": 7}),
        ("more buckets than the field", {"kind": "local-hash", "head": 1, "buckets": 8, "size": 5,
                                         "prime": 7}),
        ("one bucket", {"kind": "local-hash", "head": 1, "buckets": 1, "size": 9, "prime": 11}),
        ("a prime beyond the largest", {"kind": "local-hash", "head": 1, "buckets": 2, "size": 9,
                                        "prime": 65539}),
    ]  # fmt: skip
    cases = [_read(comment, wire, None) for comment, wire in good]
    cases += [_read(comment, wire, "invalid-channel") for comment, wire in bad]
    return "the wire form of one channel, and the code of the error that refuses it", cases


def _read(comment: str, wire: object, error: str | None) -> Case:
    outcome(comment, error, lambda: channel_from_dict(wire))
    return {"comment": comment, "channel": wire, "error": error}


def certificates() -> Cases:
    """Return channels with their exact worst ratio and certified ε."""
    cases = [
        _certify(f"k-ary, {m} cells, asked for ε = {epsilon}", k_ary(epsilon, m))
        for epsilon in (0.001, 0.25, 1.0, 8.0)
        for m in (2, 3, 5, 7, 16, 31, 64)
    ]
    cases += [
        _certify(f"two coins, uneven T, asked for ε = {epsilon}", two_coin(epsilon, uneven))
        for epsilon in (0.1, 1.0, 4.0)
        for uneven in ([0.9, 0.1], [0.5, 0.3, 0.2], [0.97, 0.01, 0.01, 0.01])
    ]
    cases += [
        _certify("Warner, three quarters", warner(0.75)),
        _certify("the least of all coins over two cells", KAry(1, 2)),
        _certify("the least of all coins over many cells", KAry(1, 2**31)),
        _certify("the most truthful coin of all", KAry(WORD - 1, WORD - 1)),
        _certify("the least fake weight", TwoCoin(WORD - 1, (1, WORD - 1))),
        _certify("subset selection", subset(1.0, 16)),
        _certify("subset selection, many cells", subset(0.25, 400)),
        _certify("subset selection, s = 1", SubsetSelection(HALF, 3, 1)),
        _certify("subset selection barely better than chance", SubsetSelection(HALF + 1, 4, 2)),
        _certify("rounded Laplace", rounded_laplace(1.0, 5)),
        _certify("rounded Laplace, 9 cells", rounded_laplace(0.5, 9)),
        _certify("a matrix that tells nothing", Matrix(((HALF, HALF), (HALF, HALF)))),
        _certify("a matrix with an unbounded column", Matrix(((WORD, 0), (HALF, HALF)))),
        _certify("a column that never occurs bounds nothing",
                 Matrix(((HALF, HALF, 0), (HALF - 7, HALF + 7, 0)))),
        _certify("a matrix whose worst ratio is in its smallest entries",
                 Matrix(((WORD - 6, 5, 1), (WORD - 7, 2, 5)))),
        _certify("symmetric unary", symmetric_unary(1.0, 40)),
        _certify("optimized unary", optimized_unary(2.0, 7)),
        _certify("the widest unary", Unary(WORD - 1, 1, 3)),
        _certify("local hashing", local_hash(1.0, 100)),
        _certify("local hashing, uneven buckets", LocalHash(HALF, 3, 9, 11)),
        _certify("no channel at all costs nothing"),
        _certify("two questions cost their sum", k_ary(0.5, 4), k_ary(0.5, 7)),
        _certify("sixty questions cost their sum", *(best(0.02, m) for m in range(2, 62))),
        _certify("one unbounded question makes all unbounded",
                 k_ary(0.5, 4), Matrix(((WORD, 0), (HALF, HALF)))),
    ]  # fmt: skip
    about = (
        "channels answered together: the largest P(y|x)/P(y|x') exactly, and the least double not "
        "below its logarithm (null: unbounded). A certified epsilon is at least that, and at most "
        "2^-44 of itself above it"
    )
    return about, cases


def _certify(comment: str, *together: Channel) -> Case:
    high, low = 1, 1
    for channel in together:
        numerator, denominator = channel.worst_ratio()
        high, low = high * numerator, low * denominator
    epsilon = epsilon_of_all(together)
    return {
        "comment": comment,
        "channels": [channel_to_dict(channel) for channel in together],
        "ratio": [str(high), str(low)],
        "epsilon": None if math.isinf(epsilon) else repr(epsilon),
    }
