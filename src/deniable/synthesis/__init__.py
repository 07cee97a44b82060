"""From a table or a model to synthetic records, and how well they keep what was estimated."""

from deniable.estimation.model import Model
from deniable.synthesis.records import Records
from deniable.synthesis.synthesize import largest_remainder, synthesize
from deniable.synthesis.utility import Utility, utility

__all__ = ["Model", "Records", "Utility", "largest_remainder", "synthesize", "utility"]
