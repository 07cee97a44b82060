"""The life of a survey: draft, published, closed; and everything between, without HTTP."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.collection.offer import Offer
from deniable.collection.preparing import prepare_next
from deniable.collection.recording import close_due, close_last, opened, record
from deniable.collection.rules import update_for
from deniable.collection.store import CLOSED, DRAFT, PUBLISHED
from deniable.collection.tallies import plus_merged, tally_all, tally_own
from deniable.collection.tokens import hash_of, new_invitation
from deniable.errors import (
    DigestError,
    NotFoundError,
    RequestError,
    StateError,
    StorageError,
    TwiceError,
)
from deniable.protocol import (
    block_from_bytes,
    design_for,
    design_from_bytes,
    digest,
    first_block,
    tally_from_bytes,
)
from deniable.schema import Survey

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from deniable.collection.arrival import Arrival, Fate
    from deniable.collection.store import Reading, Store, SurveyRow, Writing
    from deniable.protocol import Design, Tally

MOST_INVITATIONS = 100_000


@dataclass(frozen=True, slots=True)
class Terms:
    """How a survey is collected, beside what its file says.

    Attributes:
        invited: Whether each report needs an invitation.
        block_seconds: Time after which a block closes; 0 for never.
    """

    invited: bool = False
    block_seconds: int = 0

    def __post_init__(self) -> None:
        """Refuse a time that is none."""
        if not 0 <= self.block_seconds < 2**31:
            raise RequestError("a block's time must be seconds", given=self.block_seconds)


class Collection:
    """What the routes and commands ask of the server. Every method may wait for the disk."""

    def __init__(self, store: Store, *, clock: Callable[[], float] = time.time) -> None:
        """Collect into a store; the clock tells seconds since 1970."""
        self.store = store
        self._clock = clock

    def now(self) -> int:
        """Return the time in whole seconds."""
        return int(self._clock())

    def draft(self, survey: Survey, terms: Terms | None = None) -> None:
        """Keep a survey as a draft, or change it while it is one."""
        terms = Terms() if terms is None else terms
        update_for(design_for(survey))
        document = json.dumps(survey.to_dict(), ensure_ascii=False)
        with self.store.writing() as writing:
            row = writing.survey(survey.name)
            if row is None:
                writing.add_survey(
                    survey.name,
                    document,
                    invited=terms.invited,
                    block_seconds=terms.block_seconds,
                )
                return
            row = _locked(writing, survey.name)
            _expect(row, DRAFT, "only a draft can be changed")
            writing.set_document(
                row.key, document, invited=terms.invited, block_seconds=terms.block_seconds
            )

    def present(self, survey: Survey, terms: Terms | None = None, *, publish: bool = True) -> None:
        """Make a survey be there: as a draft, or published; one that is stays as it is.

        Raises:
            StateError: A survey of this name was published and asks something else.
        """
        with self.store.reading() as reading:
            row = reading.survey(survey.name)
        if row is None or row.state == DRAFT:
            self.draft(survey, terms)
            if publish:
                self.publish(survey.name)
        elif row.design != design_for(survey).digest:
            problem = "a published survey cannot change"
            raise StateError(problem, given=survey.name, expected="another name, or another store")

    def discard(self, name: str) -> None:
        """Forget a draft."""
        with self.store.writing() as writing:
            row = _locked(writing, name)
            _expect(row, DRAFT, "what was published cannot be discarded")
            writing.remove_survey(row.key)

    def publish(self, name: str) -> None:
        """Freeze a draft, publish its design and open its first block."""
        with self.store.writing() as writing:
            row = _locked(writing, name)
            _expect(row, DRAFT, "only a draft can be published")
            design = design_for(Survey.from_dict(json.loads(row.document)))
            update_for(design)
            block = first_block(design)
            writing.add_design(design.digest, design.to_bytes())
            size = design.rule.block_size
            writing.add_block(row.key, opened(block, row, size, self.now()))
            writing.set_state(row.key, PUBLISHED, design.digest)

    def close(self, name: str) -> None:
        """Close a survey: its last block closes and no report is accepted any more."""
        with self.store.writing() as writing:
            row = _locked(writing, name)
            _expect(row, PUBLISHED, "only a published survey can be closed")
            close_last(writing, row)
            writing.forget_pairs(row.key)
            writing.set_state(row.key, CLOSED, row.design)
        with suppress(StorageError):  # the survey is closed all the same
            self.store.tidy(thoroughly=True)

    def close_due_blocks(self) -> None:
        """Close the blocks whose time is up."""
        with self.store.reading() as reading:
            rows = [row for row in reading.surveys() if row.state == PUBLISHED]
        for row in rows:
            if row.block_seconds:
                close_due(self.store, row.key, now=self.now())

    def prepare_blocks(self) -> None:
        """Open the blocks that take long to prepare. This may take many seconds."""
        with self.store.reading() as reading:
            names = [row.name for row in reading.surveys() if row.state == PUBLISHED]
        for name in names:
            prepare_next(self.store, name, now=self.now)

    def tidy(self) -> None:
        """Remove what tells the order of reports, or which invitation came with which."""
        with self.store.reading() as reading:
            invited = [row for row in reading.surveys() if row.invited and row.state == PUBLISHED]
        for row in invited:
            with self.store.writing() as writing:
                if writing.lock(row.key) is not None:
                    writing.forget_pairs(row.key)
        self.store.tidy()

    def offer(self, name: str) -> Offer:
        """Return a survey that was published, ready to check reports."""
        with self.store.reading() as reading:
            row, design = published(reading, name)
        document = json.loads(row.document)
        offer = Offer(row.key, row.name, document, design, row.invited)
        self.refresh(offer)
        return offer

    def refresh(self, offer: Offer) -> None:
        """Tell an offer of the blocks that were opened since it was made."""
        with self.store.reading() as reading:
            rows = reading.blocks(offer.key, len(offer.blocks))
            current = reading.open_block(offer.key)
            survey = reading.survey(offer.name)
        for row in rows:
            offer.blocks[row.digest] = block_from_bytes(row.body, offer.design)
        offer.is_closed = survey is None or survey.state == CLOSED
        offer.current = None if current is None else offer.blocks.get(current.digest)

    def record(
        self, arrivals: Sequence[Arrival], refusals: Mapping[int, Mapping[str, int]]
    ) -> list[Fate]:
        """Keep arrivals and counts of refusals, durably."""
        return record(self.store, arrivals, now=self.now(), refusals=refusals)

    def tally(self, name: str, *, joint: bool = False, own: bool = False) -> Tally:
        """Return what was counted so far; ``own`` leaves out what other servers sent."""
        with self.store.reading() as reading:
            row, design = published(reading, name)
            rows = reading.blocks(row.key)
            count = tally_own if own else tally_all
            return count(reading, row, design, rows, joint=joint)

    def block_tally(self, name: str, number: int) -> bytes:
        """Return the tally of a block that has closed. It never changes."""
        with self.store.reading() as reading:
            row, _ = published(reading, name)
            found = {block.number: block for block in reading.blocks(row.key)}.get(number)
        if found is None:
            raise NotFoundError("there is no such block", given=number)
        if found.tally is None:
            problem = "the block is still open"
            raise StateError(problem, given=number, expected="a block that has closed")
        return found.tally

    def merge(self, name: str, body: bytes) -> bool:
        """Add a tally from another server; return whether it is new.

        The very same tally is taken once and then answered with success; one that
        shares a source with what is here already is refused.
        """
        tally = tally_from_bytes(body)
        text = tally.to_bytes()
        with self.store.writing() as writing:
            row = _locked(writing, name)
            if row.state == DRAFT:
                raise StateError("a draft collects nothing yet", expected="a published survey")
            row, design = published(writing, name)
            _expect_of(tally.design, design)
            merged = writing.merged(row.key)
            if text in merged:
                return False
            server = writing.server()
            ours = {source for source in tally.sources if source.startswith(f"{server}/")}
            others = {source for one in merged for source in tally_from_bytes(one).sources}
            twice = sorted(ours | (others & tally.sources))
            if twice:
                problem = "these reports are counted here already"
                raise TwiceError(problem, given=twice[:3], expected="a tally of other sources")
            plus_merged(tally_own(writing, row, design, writing.blocks(row.key)), [tally])
            writing.add_merged(row.key, digest(text), text)
            return True

    def invite(self, name: str, count: int) -> list[str]:
        """Return new invitation codes, which are kept as hashes only."""
        if not 0 < count <= MOST_INVITATIONS:
            problem = "so many invitations cannot be made at once"
            raise RequestError(problem, given=count, expected=f"1 to {MOST_INVITATIONS}")
        codes = sorted(new_invitation() for _ in range(count))
        with self.store.writing() as writing:
            row = _locked(writing, name)
            if row.state == CLOSED:
                raise StateError("a closed survey invites nobody")
            if not row.invited:
                problem = "an open survey takes reports without a code"
                raise StateError(problem, given=name, expected="a survey drafted with invited=true")
            writing.add_invitations(row.key, [hash_of(code) for code in codes])
        return codes


def published(reading: Reading, name: str) -> tuple[SurveyRow, Design]:
    """Return a survey that was published, and its design."""
    row = reading.survey(name)
    if row is None or row.design is None:
        raise NotFoundError("there is no published survey of this name", given=name[:80])
    body = reading.design(row.design)
    if body is None:
        raise NotFoundError("the survey's design is lost", given=row.design)
    return row, design_from_bytes(body)


def _locked(writing: Writing, name: str) -> SurveyRow:
    found = writing.survey(name)
    row = None if found is None else writing.lock(found.key)
    if row is None:
        raise NotFoundError("there is no survey of this name", given=name[:80])
    return row


def _expect_of(design: Design, ours: Design) -> None:
    """Refuse what was counted elsewhere unless it was asked the same way."""
    if design.survey != ours.survey:
        problem = "the tally is of another survey"
        raise DigestError(problem, given=design.survey, expected=f"one of {ours.survey!r}")
    if design.digest != ours.digest:
        problem = "the tally was collected under another design"
        raise DigestError(problem, given=design.digest, expected=ours.digest)


def _expect(row: SurveyRow, state: str, problem: str) -> None:
    if row.state != state:
        raise StateError(problem, given=row.state, expected=state)
