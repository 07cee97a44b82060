"""The device's randomization over whole data frames: vectorized, secure, in bounded memory."""

from deniable.bulk.infer import DomainFromDataWarning, infer_schema
from deniable.bulk.randomize import How, Written, randomize, randomize_file
from deniable.bulk.source import rows_of

__all__ = [
    "DomainFromDataWarning",
    "How",
    "Written",
    "infer_schema",
    "randomize",
    "randomize_file",
    "rows_of",
]
