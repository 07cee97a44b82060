"""One transaction on a database: each step is one named statement.

What SQLite and PostgreSQL do each in their own way stands in ``sqlite`` and ``postgresql``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from deniable.collection.store import queries
from deniable.collection.store.contract import BlockRow, Count, ReportRow, SurveyRow, TokenRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection
    from sqlalchemy.sql import Executable

    from deniable.collection.store.contract import State


class SqlSession:
    """The steps of ``contract.Writing`` that are alike on every database."""

    __slots__ = ("_connection",)

    where_reports_are: ClassVar[queries.ReportQueries] = queries.IN_TABLE

    def __init__(self, connection: Connection) -> None:
        """Work inside the connection's transaction."""
        self._connection = connection

    def _do(self, statement: Executable, /, **values: object) -> Any:  # noqa: ANN401 - a cursor
        return self._connection.execute(statement, values)

    def _one(self, statement: Executable, /, **values: object) -> tuple[Any, ...] | None:
        row = self._do(statement, **values).first()
        return None if row is None else tuple(row)

    def server(self) -> str:
        """Return the store's own random name."""
        name: str = self._do(queries.SERVER_NAME).scalar_one()
        return name

    def surveys(self) -> list[SurveyRow]:
        """Return every survey, by name."""
        return [SurveyRow(*row) for row in self._do(queries.SURVEYS)]

    def survey(self, name: str) -> SurveyRow | None:
        """Return a survey."""
        row = self._one(queries.SURVEY_NAMED, named=name)
        return None if row is None else SurveyRow(*row)

    def design(self, digest: str) -> bytes | None:
        """Return a published design."""
        body: bytes | None = self._do(queries.DESIGN_BODY, wanted=digest).scalar()
        return body

    def block(self, digest: str) -> bytes | None:
        """Return a published block."""
        body: bytes | None = self._do(queries.BLOCK_BODY, wanted=digest).scalar()
        return body

    def blocks(self, survey: int, since: int = 0) -> list[BlockRow]:
        """Return a survey's blocks from number ``since`` on."""
        return [BlockRow(*row[1:]) for row in self._do(queries.BLOCKS, of=survey, since=since)]

    def open_block(self, survey: int) -> BlockRow | None:
        """Return the block that is handed out now."""
        row = self._one(queries.OPEN_BLOCK, of=survey)
        return None if row is None else BlockRow(*row[1:])

    def counts(self, survey: int, block: int | None = None) -> list[Count]:
        """Return what was reported how often, in one block or all."""
        questions = self.where_reports_are
        if block is None:
            rows = self._do(questions.counts, of=survey)
        else:
            rows = self._do(questions.counts_of_block, of=survey, nr=block)
        return [Count(*row) for row in rows]

    def reports(self, survey: int, after: str, limit: int) -> list[ReportRow]:
        """Return a page of reports in the order of their ids."""
        rows = self._do(self.where_reports_are.page, of=survey, after=after, most=limit)
        return [ReportRow(*row) for row in rows]

    def refusals(self, survey: int) -> dict[str, int]:
        """Return how many reports were refused, by reason."""
        return dict(map(tuple, self._do(queries.REFUSALS, of=survey)))

    def invitations(self, survey: int, codes: Sequence[str]) -> dict[str, bool]:
        """Return those of the hashed codes that were issued, and whether they are redeemed."""
        rows = self._do(queries.INVITATIONS, of=survey, codes=list(codes))
        return {code: bool(redeemed) for code, redeemed in rows}

    def invitation_totals(self, survey: int) -> tuple[int, int]:
        """Return how many invitations were issued, and how many redeemed."""
        rows = self._do(queries.INVITATION_TOTALS, of=survey)
        found = {bool(redeemed): int(count) for redeemed, count in rows}
        return sum(found.values()), found.get(True, 0)

    def merged(self, survey: int) -> list[bytes]:
        """Return the tallies that other servers sent."""
        return list(self._do(queries.MERGED, of=survey).scalars())

    def token(self, hashed: str) -> TokenRow | None:
        """Return a staff token by its hash."""
        row = self._one(queries.TOKEN, wanted=hashed)
        return None if row is None else TokenRow(*row)

    def lock(self, survey: int) -> SurveyRow | None:
        """Return a survey and let no other transaction change it until this one ends."""
        row = self._one(queries.LOCK_SURVEY, of=survey)
        return None if row is None else SurveyRow(*row)

    def add_survey(self, name: str, document: str, *, invited: bool, block_seconds: int) -> None:
        """Keep a draft."""
        self._do(
            queries.ADD_SURVEY,
            name=name,
            document=document,
            state="draft",
            invited=invited,
            block_seconds=block_seconds,
        )

    def set_document(
        self, survey: int, document: str, *, invited: bool, block_seconds: int
    ) -> None:
        """Replace a draft."""
        change = queries.CHANGE_SURVEY.values(
            document=document, invited=invited, block_seconds=block_seconds
        )
        self._do(change, of=survey)

    def set_state(self, survey: int, state: State, design: str | None) -> None:
        """Move a survey on in its life."""
        self._do(queries.CHANGE_SURVEY.values(state=state, design=design), of=survey)

    def remove_survey(self, survey: int) -> None:
        """Forget a survey and everything collected for it."""
        self._do(queries.REMOVE_SURVEY, of=survey)

    def add_design(self, digest: str, body: bytes) -> None:
        """Publish a design; one that is published already stays as it is."""
        if self.design(digest) is None:
            self._do(queries.ADD_DESIGN, digest=digest, body=body)

    def add_block(self, survey: int, block: BlockRow) -> None:
        """Publish a block and open it."""
        self._do(
            queries.ADD_BLOCK,
            survey=survey,
            number=block.number,
            digest=block.digest,
            body=block.body,
            size=block.size,
            count=block.count,
            closes_at=block.closes_at,
            tally=block.tally,
        )

    def add_to_block(self, survey: int, number: int, reports: int) -> None:
        """Count reports to an open block."""
        self._do(queries.COUNT_TO_BLOCK, of=survey, nr=number, more=reports)

    def postpone(self, survey: int, number: int, closes_at: int) -> None:
        """Let an open block close later."""
        self._do(queries.POSTPONE_BLOCK.values(closes_at=closes_at), of=survey, nr=number)

    def close_block(self, survey: int, number: int, tally: bytes) -> None:
        """Close a block for good."""
        self._do(queries.CLOSE_BLOCK.values(tally=tally), of=survey, nr=number)

    def add_refusals(self, survey: int, reasons: Mapping[str, int]) -> None:
        """Count refused reports."""
        for reason, count in sorted(reasons.items()):
            if not self._do(queries.ADD_TO_REFUSAL, of=survey, why=reason, more=count).rowcount:
                self._do(queries.ADD_REFUSAL, survey=survey, reason=reason, count=count)

    def add_invitations(self, survey: int, codes: Sequence[str]) -> None:
        """Keep hashed invitation codes."""
        rows = [{"survey": survey, "code": code, "redeemed": False} for code in codes]
        if rows:
            self._connection.execute(queries.ADD_INVITATION, rows)

    def redeem(self, survey: int, codes: Sequence[str]) -> None:
        """Mark invitations as used."""
        if codes:
            self._do(queries.REDEEM, of=survey, codes=list(codes))

    def add_merged(self, survey: int, digest: str, body: bytes) -> None:
        """Keep a tally from another server."""
        self._do(queries.ADD_MERGED, survey=survey, digest=digest, body=body)

    def add_token(self, token: TokenRow) -> None:
        """Keep a staff token's hash."""
        self._do(
            queries.ADD_TOKEN,
            hash=token.hash,
            scope=token.scope,
            survey=token.survey,
            expires=token.expires,
        )

    def remove_token(self, hashed: str) -> None:
        """Forget a staff token."""
        self._do(queries.REMOVE_TOKEN, wanted=hashed)

    def remove_expired_tokens(self, now: int) -> None:
        """Forget the tokens that have expired."""
        self._do(queries.REMOVE_EXPIRED_TOKENS, now=now)
