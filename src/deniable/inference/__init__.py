"""Is it real, and how strong? Tests, derived measures and their uncertainty."""

from deniable.inference.independence import Independence, mutual
from deniable.inference.pairs import PairTests, every_pair
from deniable.inference.plain import plain_test
from deniable.inference.ratio import ratio_test
from deniable.inference.result import TestResult
from deniable.inference.score import score_test

__all__ = [
    "Independence",
    "PairTests",
    "TestResult",
    "every_pair",
    "mutual",
    "plain_test",
    "ratio_test",
    "score_test",
]
