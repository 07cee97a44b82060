"""Before anybody is asked: which design, which groups, how many people."""

from deniable.planning.checking import Check, CheckedTable, check
from deniable.planning.clusters import Clusters, cluster
from deniable.planning.compare import Plan, plan
from deniable.planning.convergence import Trace, firing_probability, people_for_width, trace
from deniable.planning.dependence import correlation, cramers_v, dependences
from deniable.planning.learning import (
    Learned,
    learn_by_randomized_pairs,
    learn_by_secure_sum,
    learn_from_estimates,
    learn_from_reports,
    learn_from_sums,
    randomized_places,
)
from deniable.planning.option import Option
from deniable.planning.prior import Prior, prior_of, read_prior
from deniable.planning.recommendation import Recommendation
from deniable.planning.rehearsal import rehearse

__all__ = [
    "Check",
    "CheckedTable",
    "Clusters",
    "Learned",
    "Option",
    "Plan",
    "Prior",
    "Recommendation",
    "Trace",
    "check",
    "cluster",
    "correlation",
    "cramers_v",
    "dependences",
    "firing_probability",
    "learn_by_randomized_pairs",
    "learn_by_secure_sum",
    "learn_from_estimates",
    "learn_from_reports",
    "learn_from_sums",
    "people_for_width",
    "plan",
    "prior_of",
    "randomized_places",
    "read_prior",
    "rehearse",
    "trace",
]
