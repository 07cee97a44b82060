"""Reports at rest → tally: files, Arrow tables, data frames, and the engine that holds them."""

from deniable.counting.count import Counted, count
from deniable.counting.distinct import Seen
from deniable.counting.records import Recorded, records

__all__ = ["Counted", "Recorded", "Seen", "count", "records"]
