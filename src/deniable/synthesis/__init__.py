"""From a table or a model to synthetic records, and how well they keep what was estimated."""

from deniable.synthesis.records import Model, Records
from deniable.synthesis.synthesize import largest_remainder, synthesize
from deniable.synthesis.utility import Utility, utility

__all__ = ["Model", "Records", "Utility", "largest_remainder", "synthesize", "utility"]
