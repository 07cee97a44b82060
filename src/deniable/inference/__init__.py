"""Is it real, and how strong? Tests, derived measures and their uncertainty."""

from deniable.inference.independence import Independence, mutual
from deniable.inference.result import TestResult
from deniable.inference.score import score_test

__all__ = ["Independence", "TestResult", "mutual", "score_test"]
