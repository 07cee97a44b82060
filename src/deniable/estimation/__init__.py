"""From tallies to tables: distributions of the true answers, and how sure they are."""

from deniable.estimation.bound import Experiment, cramer_rao
from deniable.estimation.comparison import Comparison
from deniable.estimation.evidence import Batch, Evidence, evidence_from_reports, evidence_from_tally
from deniable.estimation.interval import Interval
from deniable.estimation.method import Method
from deniable.estimation.registry import METHODS, estimate, method_named
from deniable.estimation.table import Axis, Table
from deniable.estimation.whole_joint import WholeJoint, fit_whole_joint

__all__ = [
    "METHODS",
    "Axis",
    "Batch",
    "Comparison",
    "Evidence",
    "Experiment",
    "Interval",
    "Method",
    "Table",
    "WholeJoint",
    "cramer_rao",
    "estimate",
    "evidence_from_reports",
    "evidence_from_tally",
    "fit_whole_joint",
    "method_named",
]
