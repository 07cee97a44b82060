"""The store without a database, for tests and trials: the same steps on dictionaries."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from deniable.channels.coin import fresh_id
from deniable.collection.store.contract import (
    DRAFT,
    BlockRow,
    Count,
    ReportRow,
    SurveyRow,
    TokenRow,
)
from deniable.errors import ConflictError, StorageError
from deniable.protocol import encode_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from deniable.collection.store.contract import State


@dataclass(slots=True)
class _Kept:
    """Everything that is kept for one survey."""

    row: SurveyRow
    blocks: dict[int, BlockRow] = field(default_factory=dict)
    reports: dict[str, ReportRow] = field(default_factory=dict)
    refusals: Counter[str] = field(default_factory=Counter)
    invitations: dict[str, bool] = field(default_factory=dict)
    merged: dict[str, bytes] = field(default_factory=dict)


@dataclass(slots=True)
class _Contents:
    """Everything that is kept. Rows are frozen, so that a shallow copy is a whole one."""

    name: str
    surveys: dict[int, _Kept] = field(default_factory=dict)
    designs: dict[str, bytes] = field(default_factory=dict)
    tokens: dict[str, TokenRow] = field(default_factory=dict)


def _copy(contents: _Contents) -> _Contents:
    surveys = {
        key: _Kept(
            kept.row,
            dict(kept.blocks),
            dict(kept.reports),
            Counter(kept.refusals),
            dict(kept.invitations),
            dict(kept.merged),
        )
        for key, kept in contents.surveys.items()
    }
    return _Contents(contents.name, surveys, dict(contents.designs), dict(contents.tokens))


class MemoryStore:
    """Surveys, reports and tallies that are gone when the program ends."""

    def __init__(self) -> None:
        """Start empty."""
        self._contents = _Contents(encode_bytes(fresh_id()))
        self._alone = threading.Lock()

    @contextmanager
    def reading(self) -> Iterator[MemorySession]:
        """Open a transaction that sees one state and changes nothing."""
        with self._alone:
            yield MemorySession(self._contents)

    @contextmanager
    def writing(self) -> Iterator[MemorySession]:
        """Open a transaction; if it fails, everything is as it was before."""
        with self._alone:
            before = _copy(self._contents)
            try:
                yield MemorySession(self._contents)
            except BaseException:
                self._contents = before
                raise

    @contextmanager
    def preparing(self, name: str) -> Iterator[bool]:
        """Yield yes: there is no other process."""
        del name
        yield True

    def tidy(self, *, thoroughly: bool = False) -> None:
        """Do nothing; there is no log."""

    def close(self) -> None:
        """Do nothing; there is nothing to let go of."""


class MemorySession:
    """The steps of ``contract.Writing``, on dictionaries."""

    __slots__ = ("_all",)

    def __init__(self, contents: _Contents) -> None:
        """Work on the contents as they are."""
        self._all = contents

    def server(self) -> str:
        """Return the store's own random name."""
        return self._all.name

    def surveys(self) -> list[SurveyRow]:
        """Return every survey, by name."""
        return sorted((kept.row for kept in self._all.surveys.values()), key=lambda row: row.name)

    def survey(self, name: str) -> SurveyRow | None:
        """Return a survey."""
        return next((row for row in self.surveys() if row.name == name), None)

    def design(self, digest: str) -> bytes | None:
        """Return a published design."""
        return self._all.designs.get(digest)

    def block(self, digest: str) -> bytes | None:
        """Return a published block."""
        rows = (row for kept in self._all.surveys.values() for row in kept.blocks.values())
        return next((row.body for row in rows if row.digest == digest), None)

    def blocks(self, survey: int, since: int = 0) -> list[BlockRow]:
        """Return a survey's blocks from number ``since`` on."""
        blocks = sorted(self._all.surveys[survey].blocks.items())
        return [row for number, row in blocks if number >= since]

    def open_block(self, survey: int) -> BlockRow | None:
        """Return the block that is handed out now."""
        return next((row for row in self.blocks(survey) if row.is_open), None)

    def kept(self, survey: int, ids: Sequence[str]) -> dict[str, ReportRow]:
        """Return those of the reports that are kept already."""
        reports = self._all.surveys[survey].reports
        return {name: reports[name] for name in ids if name in reports}

    def counts(self, survey: int, block: int | None = None) -> list[Count]:
        """Return what was reported how often, in one block or all."""
        found = Counter(
            (row.block, row.late, row.view, row.values)
            for row in self._all.surveys[survey].reports.values()
            if block is None or row.block == block
        )
        return [Count(*said, times) for said, times in found.items()]

    def reports(self, survey: int, after: str, limit: int) -> list[ReportRow]:
        """Return a page of reports in the order of their ids."""
        reports = self._all.surveys[survey].reports
        return [reports[name] for name in sorted(reports) if name > after][:limit]

    def refusals(self, survey: int) -> dict[str, int]:
        """Return how many reports were refused, by reason."""
        return dict(self._all.surveys[survey].refusals)

    def invitations(self, survey: int, codes: Sequence[str]) -> dict[str, bool]:
        """Return those of the hashed codes that were issued, and whether they are redeemed."""
        issued = self._all.surveys[survey].invitations
        return {code: issued[code] for code in codes if code in issued}

    def invitation_totals(self, survey: int) -> tuple[int, int]:
        """Return how many invitations were issued, and how many redeemed."""
        issued = self._all.surveys[survey].invitations
        return len(issued), sum(issued.values())

    def merged(self, survey: int) -> list[bytes]:
        """Return the tallies that other servers sent."""
        return [body for _, body in sorted(self._all.surveys[survey].merged.items())]

    def token(self, hashed: str) -> TokenRow | None:
        """Return a staff token by its hash."""
        return self._all.tokens.get(hashed)

    def lock(self, survey: int) -> SurveyRow | None:
        """Return a survey; a memory transaction is alone anyway."""
        kept = self._all.surveys.get(survey)
        return None if kept is None else kept.row

    def add_survey(self, name: str, document: str, *, invited: bool, block_seconds: int) -> None:
        """Keep a draft."""
        if self.survey(name) is not None:
            _refuse("a survey of this name")
        key = max(self._all.surveys, default=0) + 1
        row = SurveyRow(key, name, document, DRAFT, invited, None, block_seconds)
        self._all.surveys[key] = _Kept(row)

    def _change(self, survey: int, **values: object) -> None:
        kept = self._all.surveys[survey]
        kept.row = replace(kept.row, **values)  # type: ignore[arg-type]

    def set_document(
        self, survey: int, document: str, *, invited: bool, block_seconds: int
    ) -> None:
        """Replace a draft."""
        self._change(survey, document=document, invited=invited, block_seconds=block_seconds)

    def set_state(self, survey: int, state: State, design: str | None) -> None:
        """Move a survey on in its life."""
        self._change(survey, state=state, design=design)

    def remove_survey(self, survey: int) -> None:
        """Forget a survey and everything collected for it."""
        del self._all.surveys[survey]

    def add_design(self, digest: str, body: bytes) -> None:
        """Publish a design; one that is published already stays as it is."""
        self._all.designs.setdefault(digest, body)

    def add_block(self, survey: int, block: BlockRow) -> None:
        """Publish a block and open it."""
        blocks = self._all.surveys[survey].blocks
        if block.number in blocks:
            _refuse("a block of this number")
        blocks[block.number] = block

    def add_reports(self, survey: int, reports: Sequence[ReportRow]) -> None:
        """Keep reports that are not kept yet, or give up."""
        kept = self._all.surveys[survey].reports
        if any(row.id in kept for row in reports):
            raise ConflictError("a report of this id is kept already")
        kept.update((row.id, row) for row in reports)

    def _change_block(self, survey: int, number: int, **values: object) -> None:
        blocks = self._all.surveys[survey].blocks
        if number in blocks and blocks[number].is_open:
            blocks[number] = replace(blocks[number], **values)  # type: ignore[arg-type]

    def add_to_block(self, survey: int, number: int, reports: int) -> None:
        """Count reports to an open block."""
        count = self._all.surveys[survey].blocks[number].count
        self._change_block(survey, number, count=count + reports)

    def postpone(self, survey: int, number: int, closes_at: int) -> None:
        """Let an open block close later."""
        self._change_block(survey, number, closes_at=closes_at)

    def close_block(self, survey: int, number: int, tally: bytes) -> None:
        """Close a block for good."""
        self._change_block(survey, number, tally=tally)

    def add_refusals(self, survey: int, reasons: Mapping[str, int]) -> None:
        """Count refused reports."""
        self._all.surveys[survey].refusals.update(reasons)

    def add_invitations(self, survey: int, codes: Sequence[str]) -> None:
        """Keep hashed invitation codes."""
        issued = self._all.surveys[survey].invitations
        for code in codes:
            if code in issued:
                _refuse("an invitation of this code")
            issued[code] = False

    def redeem(self, survey: int, codes: Sequence[str]) -> None:
        """Mark invitations as used."""
        self._all.surveys[survey].invitations.update(dict.fromkeys(codes, True))

    def forget_pairs(self, survey: int) -> None:
        """Nothing pairs them: invitations lie in the order in which they were made."""

    def add_merged(self, survey: int, digest: str, body: bytes) -> None:
        """Keep a tally from another server."""
        merged = self._all.surveys[survey].merged
        if digest in merged:
            _refuse("a tally of this digest")
        merged[digest] = body

    def add_token(self, token: TokenRow) -> None:
        """Keep a staff token's hash."""
        self._all.tokens[token.hash] = token

    def remove_token(self, hashed: str) -> None:
        """Forget a staff token."""
        self._all.tokens.pop(hashed, None)

    def remove_expired_tokens(self, now: int) -> None:
        """Forget the tokens that have expired."""
        for hashed, token in list(self._all.tokens.items()):
            if token.expires <= now:
                del self._all.tokens[hashed]


def _refuse(what: str) -> None:
    problem = f"the store already holds {what}"
    raise StorageError(problem)
