"""An arrival: a report that was read and checked, on its way into the store; and its fate."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

Fate: TypeAlias = Literal[
    "accepted", "repeated", "conflict", "closed", "uninvited", "invitation-used"
]
"""What became of an arrival. The first two are successes: the report is kept, once."""

ACCEPTED: Final = "accepted"
REPEATED: Final = "repeated"
CONFLICT: Final = "conflict"
SURVEY_CLOSED: Final = "closed"
UNINVITED: Final = "uninvited"
INVITATION_USED: Final = "invitation-used"

KEPT: Final = frozenset({ACCEPTED, REPEATED})


class Arrival(NamedTuple):
    """A checked report of one survey.

    ``values`` is the canonical JSON of the report's values: equal text, equal bytes.
    ``code`` is the hash of the invitation that came with it, or empty.
    """

    survey: int
    id: str
    block: int
    view: int
    values: str
    code: str = ""
