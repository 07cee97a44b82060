"""Reports at rest → tally: files, Arrow tables, data frames, and the engine that holds them."""

from deniable.counting.count import Counted, count
from deniable.counting.distinct import Seen

__all__ = ["Counted", "Seen", "count"]
