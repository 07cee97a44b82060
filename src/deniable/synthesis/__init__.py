"""From a table or a model to synthetic records, and how well they keep what was estimated."""

from deniable.estimation.model import Model
from deniable.synthesis.records import Records
from deniable.synthesis.synthesize import largest_remainder, synthesize
from deniable.synthesis.utility import Agreement, Utility, agreement, utility

__all__ = [
    "Agreement",
    "Model",
    "Records",
    "Utility",
    "agreement",
    "largest_remainder",
    "synthesize",
    "utility",
]
