"""Is it real, and how strong? Tests, derived measures and their uncertainty."""

from deniable.inference.catalogue import MEASURES, measure_named
from deniable.inference.central import NoisyTable, unsafe_release
from deniable.inference.confidence import Bounds
from deniable.inference.derive import derive
from deniable.inference.estimate import Estimate
from deniable.inference.groups import equality_test
from deniable.inference.hypothesis import Anything, Given, Hypothesis
from deniable.inference.independence import Independence, mutual
from deniable.inference.pairs import PairTests, every_pair
from deniable.inference.plain import plain_test
from deniable.inference.procedure import Procedure
from deniable.inference.ratio import ratio_test
from deniable.inference.registry import (
    TESTS,
    fit_test,
    groups_test,
    independence_test,
    procedure_named,
)
from deniable.inference.regression import Coefficient, Regression, regress
from deniable.inference.result import TestResult
from deniable.inference.score import score_test

__all__ = [
    "MEASURES",
    "TESTS",
    "Anything",
    "Bounds",
    "Coefficient",
    "Estimate",
    "Given",
    "Hypothesis",
    "Independence",
    "NoisyTable",
    "PairTests",
    "Procedure",
    "Regression",
    "TestResult",
    "derive",
    "equality_test",
    "every_pair",
    "fit_test",
    "groups_test",
    "independence_test",
    "measure_named",
    "mutual",
    "plain_test",
    "procedure_named",
    "ratio_test",
    "regress",
    "score_test",
    "unsafe_release",
]
