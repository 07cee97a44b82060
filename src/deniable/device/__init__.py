"""The respondent's side: check ε, randomize, remember, keep the ledger, submit."""

from deniable.device.agreement import Agreement, Certificate, examine
from deniable.device.answer import Answer
from deniable.device.device import Device
from deniable.device.ledger import Entry, Ledger
from deniable.device.storage import FileStorage, MemoryStorage, Storage
from deniable.device.submit import Reply, post, reports_body, submit

__all__ = [
    "Agreement",
    "Answer",
    "Certificate",
    "Device",
    "Entry",
    "FileStorage",
    "Ledger",
    "MemoryStorage",
    "Reply",
    "Storage",
    "examine",
    "post",
    "reports_body",
    "submit",
]
