"""The transaction in which arrivals become kept reports, and full blocks close."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.collection.arrival import SURVEY_CLOSED
from deniable.collection.rules import takes_long, update_for
from deniable.collection.settling import settle
from deniable.collection.store import PUBLISHED, BlockRow
from deniable.collection.tallies import tally_block
from deniable.errors import ConflictError, StorageError
from deniable.protocol import block_from_bytes, design_from_bytes, next_block

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from deniable.collection.arrival import Arrival, Fate
    from deniable.collection.settling import Settlement
    from deniable.collection.store import Reading, Store, SurveyRow, Writing
    from deniable.protocol import Block, Design

    SettleOne = Callable[[Writing, SurveyRow, Sequence[Arrival], BlockRow | None], Settlement]


def record(
    store: Store,
    arrivals: Sequence[Arrival],
    *,
    now: int,
    refusals: Mapping[int, Mapping[str, int]] | None = None,
) -> list[Fate]:
    """Keep arrivals, in one durable transaction, and return their fates in order.

    Args:
        store: Where to keep them.
        arrivals: Of any surveys.
        now: Seconds since 1970, for the time at which a next block closes.
        refusals: Reports refused before they got here, by survey and reason, to be counted.
    """
    try:
        return _record(store, arrivals, refusals or {}, now=now, settle_one=_settle_new)
    except ConflictError:
        return _record(store, arrivals, refusals or {}, now=now, settle_one=_settle)


def _record(
    store: Store,
    arrivals: Sequence[Arrival],
    refusals: Mapping[int, Mapping[str, int]],
    *,
    now: int,
    settle_one: SettleOne,
) -> list[Fate]:
    by_survey: dict[int, list[int]] = {}
    for place, arrival in enumerate(arrivals):
        by_survey.setdefault(arrival.survey, []).append(place)
    fates: list[Fate] = [SURVEY_CLOSED] * len(arrivals)
    with store.writing() as writing:
        # Always in the order of keys, so that two workers cannot wait for each other.
        for key in sorted({*by_survey, *refusals}):
            survey = writing.lock(key)
            if survey is None:
                continue
            places = by_survey.get(key, [])
            if places:
                block = writing.open_block(key)
                done = settle_one(writing, survey, [arrivals[place] for place in places], block)
                _write(writing, survey, block, done, now)
                for place, fate in zip(places, done.fates, strict=True):
                    fates[place] = fate
            if key in refusals:
                writing.add_refusals(key, refusals[key])
    return fates


def _settle_new(
    writing: Writing, survey: SurveyRow, arrivals: Sequence[Arrival], block: BlockRow | None
) -> Settlement:
    """Settle on the guess that none of the reports came before, which nearly always holds.

    It spares looking each up. Keeping them fails if the guess was wrong, and then all is
    done again with care.
    """
    if survey.state != PUBLISHED or survey.invited:
        return _settle(writing, survey, arrivals, block)
    return settle(arrivals, survey, block=block, kept={}, invitations={})


def _settle(
    writing: Writing, survey: SurveyRow, arrivals: Sequence[Arrival], block: BlockRow | None
) -> Settlement:
    """Settle having looked up which reports are kept already."""
    codes = sorted({arrival.code for arrival in arrivals}) if survey.invited else []
    return settle(
        arrivals,
        survey,
        block=block,
        kept=writing.kept(survey.key, [arrival.id for arrival in arrivals]),
        invitations=writing.invitations(survey.key, codes) if codes else {},
    )


def _write(
    writing: Writing, survey: SurveyRow, block: BlockRow | None, done: Settlement, now: int
) -> None:
    writing.add_reports(survey.key, done.rows)
    writing.redeem(survey.key, done.codes)
    if block is not None and done.in_time:
        writing.add_to_block(survey.key, block.number, done.in_time)
        if done.is_full:
            close_and_open(writing, survey, block, now)


def close_and_open(writing: Writing, survey: SurveyRow, row: BlockRow, now: int) -> None:
    """Close a locked survey's open block and open the next one, whose rule says its channels.

    Where that takes long the next one is left to ``deniable.collection.preparing``.
    """
    design, block = described(writing, survey, row)
    tally = tally_block(writing, survey, design, block)
    writing.close_block(survey.key, row.number, tally.to_bytes())
    if takes_long(design, block):
        return
    following = next_block(design, block, update_for(design)(design, block, tally))
    writing.add_block(survey.key, opened(following, survey, row.size, now))


def close_last(writing: Writing, survey: SurveyRow) -> None:
    """Close a locked survey's open block, after which there is none."""
    row = writing.open_block(survey.key)
    if row is not None:
        design, block = described(writing, survey, row)
        tally = tally_block(writing, survey, design, block)
        writing.close_block(survey.key, row.number, tally.to_bytes())


def close_due(store: Store, survey: int, *, now: int) -> bool:
    """Close a survey's block if its time is up; exactly one of several workers does.

    An empty block is left open for another stretch: there is nothing to count.
    """
    with store.writing() as writing:
        row = writing.lock(survey)
        block = writing.open_block(survey)
        if row is None or block is None or block.closes_at is None or now < block.closes_at:
            return False
        if not block.count:
            writing.postpone(survey, block.number, now + row.block_seconds)
            return False
        close_and_open(writing, row, block, now)
        return True


def opened(block: Block, survey: SurveyRow, size: int, now: int) -> BlockRow:
    """Return the row of a block that opens now."""
    closes_at = now + survey.block_seconds if survey.block_seconds else None
    return BlockRow(block.number, block.digest, block.to_bytes(), size, 0, closes_at)


def described(reading: Reading, survey: SurveyRow, row: BlockRow) -> tuple[Design, Block]:
    """Return a survey's design and a block of it, as published."""
    body = None if survey.design is None else reading.design(survey.design)
    if body is None:
        problem = "the store has lost a published design"
        raise StorageError(problem, given=survey.design)
    design = design_from_bytes(body)
    return design, block_from_bytes(row.body, design)
