"""The page of promises: what every store keeps, and what one transaction may do.

A transaction is a set of small, named steps; what they mean together is decided
elsewhere (``deniable.collection.settling``), once for every store. Steps raise
``StorageError`` when the store cannot be reached or is full; then nothing of the
transaction was kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

State: TypeAlias = Literal["draft", "published", "closed"]

DRAFT: Final[State] = "draft"
PUBLISHED: Final[State] = "published"
CLOSED: Final[State] = "closed"


@dataclass(frozen=True, slots=True)
class SurveyRow:
    """A survey as it is kept.

    Attributes:
        key: The store's own number for it.
        document: The survey file, as JSON.
        invited: Whether a report needs an invitation.
        design: The digest of the published design.
        block_seconds: After how long a block closes, whatever it holds; 0 for never.
    """

    key: int
    name: str
    document: str
    state: State
    invited: bool
    design: str | None
    block_seconds: int


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A block as it is kept.

    Attributes:
        size: The number of reports at which it closes; 0 for never.
        count: The reports that came while it was open.
        closes_at: When it closes in any case, in seconds since 1970.
        tally: What was counted when it closed; never changed afterwards.
    """

    number: int
    digest: str
    body: bytes
    size: int
    count: int = 0
    closes_at: int | None = None
    tally: bytes | None = None

    @property
    def is_open(self) -> bool:
        """Tell whether reports still count in its tally."""
        return self.tally is None


class ReportRow(NamedTuple):
    """A report as it is kept: no address, no time, no serial number.

    ``late`` says that it was made for a block that had closed when it came.
    """

    id: str
    block: int
    view: int
    values: str
    late: bool


class Count(NamedTuple):
    """How many reports of a block said the same."""

    block: int
    late: bool
    view: int
    values: str
    reports: int


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A staff token: only its hash is kept. ``survey`` is empty for all surveys."""

    hash: str
    scope: str
    survey: str
    expires: int


class Reading(Protocol):
    """What a transaction may ask."""

    def server(self) -> str:
        """Return the store's own random name, by which tallies tell their source."""

    def surveys(self) -> list[SurveyRow]:
        """Return every survey, by name."""

    def survey(self, name: str) -> SurveyRow | None:
        """Return a survey."""

    def design(self, digest: str) -> bytes | None:
        """Return a published design."""

    def block(self, digest: str) -> bytes | None:
        """Return a published block."""

    def blocks(self, survey: int, since: int = 0) -> list[BlockRow]:
        """Return a survey's blocks from number ``since`` on."""

    def open_block(self, survey: int) -> BlockRow | None:
        """Return the block that is handed out now."""

    def kept(self, survey: int, ids: Sequence[str]) -> dict[str, ReportRow]:
        """Return those of the reports that are kept already."""

    def counts(self, survey: int, block: int | None = None) -> list[Count]:
        """Return what was reported how often, in one block or all."""

    def reports(self, survey: int, after: str, limit: int) -> list[ReportRow]:
        """Return a page of reports in the order of their ids, which is no order of arrival."""

    def refusals(self, survey: int) -> dict[str, int]:
        """Return how many reports were refused, by reason."""

    def invitations(self, survey: int, codes: Sequence[str]) -> dict[str, bool]:
        """Return those of the hashed codes that were issued, and whether they are redeemed."""

    def invitation_totals(self, survey: int) -> tuple[int, int]:
        """Return how many invitations were issued, and how many redeemed."""

    def merged(self, survey: int) -> list[bytes]:
        """Return the tallies that other servers sent."""

    def token(self, hashed: str) -> TokenRow | None:
        """Return a staff token by its hash."""


class Writing(Reading, Protocol):
    """What a writing transaction may do; all of it is kept, or nothing."""

    def lock(self, survey: int) -> SurveyRow | None:
        """Return a survey and let no other transaction change it until this one ends."""

    def add_survey(self, name: str, document: str, *, invited: bool, block_seconds: int) -> None:
        """Keep a draft."""

    def set_document(
        self, survey: int, document: str, *, invited: bool, block_seconds: int
    ) -> None:
        """Replace a draft."""

    def set_state(self, survey: int, state: State, design: str | None) -> None:
        """Move a survey on in its life."""

    def remove_survey(self, survey: int) -> None:
        """Forget a survey and everything collected for it."""

    def add_design(self, digest: str, body: bytes) -> None:
        """Publish a design; one that is published already stays as it is."""

    def add_block(self, survey: int, block: BlockRow) -> None:
        """Publish a block and open it."""

    def add_reports(self, survey: int, reports: Sequence[ReportRow]) -> None:
        """Keep reports that are not kept yet.

        Raises:
            ConflictError: One of the ids is kept already; the transaction must be given up.
        """

    def add_to_block(self, survey: int, number: int, reports: int) -> None:
        """Count reports to an open block."""

    def postpone(self, survey: int, number: int, closes_at: int) -> None:
        """Let an open block close later."""

    def close_block(self, survey: int, number: int, tally: bytes) -> None:
        """Close a block for good.

        From then on nothing tells in what order its reports came, nor with which invitations.
        """

    def add_refusals(self, survey: int, reasons: Mapping[str, int]) -> None:
        """Count refused reports."""

    def add_invitations(self, survey: int, codes: Sequence[str]) -> None:
        """Keep hashed invitation codes."""

    def redeem(self, survey: int, codes: Sequence[str]) -> None:
        """Mark invitations as used. Nothing tells which report used which."""

    def forget_pairs(self, survey: int) -> None:
        """Let nothing tell which report came with which of the used invitations."""

    def add_merged(self, survey: int, digest: str, body: bytes) -> None:
        """Keep a tally from another server."""

    def add_token(self, token: TokenRow) -> None:
        """Keep a staff token's hash."""

    def remove_token(self, hashed: str) -> None:
        """Forget a staff token."""

    def remove_expired_tokens(self, now: int) -> None:
        """Forget the tokens that have expired."""


class Store(Protocol):
    """Where surveys, reports and tallies are kept."""

    def reading(self) -> AbstractContextManager[Reading]:
        """Open a transaction that sees one state and changes nothing."""

    def writing(self) -> AbstractContextManager[Writing]:
        """Open a transaction that is durable when its ``with`` block has ended."""

    def preparing(self, name: str) -> AbstractContextManager[bool]:
        """Let one process at a time prepare a survey's next block; yield whether it is this one.

        A process that dies leaves it to the others.
        """

    def tidy(self, *, thoroughly: bool = False) -> None:
        """Remove from logs and pages what was overwritten; ``thoroughly`` lays all down anew.

        A log of changes tells their order and what was changed together.
        """

    def close(self) -> None:
        """Let go of files and connections."""


def pages_of_reports(reading: Reading, survey: int, size: int = 10_000) -> Iterator[ReportRow]:
    """Yield every report in the order of ids, a page at a time."""
    after = ""
    while True:
        page = reading.reports(survey, after, size)
        yield from page
        if len(page) < size:
            return
        after = page[-1].id
