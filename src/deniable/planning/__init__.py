"""Before anybody is asked: which design, which groups, how many people."""

from deniable.planning.convergence import Trace, firing_probability, people_for_width, trace
from deniable.planning.rehearsal import rehearse

__all__ = ["Trace", "firing_probability", "people_for_width", "rehearse", "trace"]
