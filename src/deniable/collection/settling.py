"""What becomes of arrivals: decided in one place, without a store, so that every store agrees.

The rules: the same id with the same bytes succeeds, whenever it comes again; the same
id with other bytes is a conflict; a report counts in the block it was made for, in that
block's tally if the block was open and had room, and as late otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deniable.collection.arrival import (
    ACCEPTED,
    CONFLICT,
    INVITATION_USED,
    REPEATED,
    SURVEY_CLOSED,
    UNINVITED,
)
from deniable.collection.store import PUBLISHED, ReportRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deniable.collection.arrival import Arrival, Fate
    from deniable.collection.store import BlockRow, SurveyRow


@dataclass(slots=True)
class Settlement:
    """What to write for some arrivals of one survey.

    Attributes:
        fates: One for each arrival, in order.
        rows: The reports to keep.
        in_time: How many of them count in the open block.
        is_full: Whether the open block must close now.
        codes: The hashed invitations to mark as used.
    """

    fates: list[Fate] = field(default_factory=list)
    rows: list[ReportRow] = field(default_factory=list)
    in_time: int = 0
    is_full: bool = False
    codes: list[str] = field(default_factory=list)


def settle(
    arrivals: Sequence[Arrival],
    survey: SurveyRow,
    *,
    block: BlockRow | None,
    kept: Mapping[str, ReportRow],
    invitations: Mapping[str, bool],
) -> Settlement:
    """Decide over arrivals of one survey.

    Args:
        arrivals: In the order in which they came.
        survey: As it stands, locked.
        block: The open block, if there is one.
        kept: Those of the reports that are kept already, by id.
        invitations: Those of the codes that were issued, and whether they are used.
    """
    done = Settlement()
    known = dict(kept)
    used = {code for code, redeemed in invitations.items() if redeemed}
    room = block.size - block.count if block is not None and block.size else len(arrivals)
    for arrival in arrivals:
        before = known.get(arrival.id)
        if before is not None:
            done.fates.append(REPEATED if _says_the_same(arrival, before) else CONFLICT)
            continue
        refusal = _refusal(arrival, survey, invitations, used)
        if refusal is not None:
            done.fates.append(refusal)
            continue
        is_open = block is not None and arrival.block == block.number and done.in_time < room
        row = ReportRow(arrival.id, arrival.block, arrival.view, arrival.values, not is_open)
        known[arrival.id] = row
        done.rows.append(row)
        done.in_time += is_open
        done.fates.append(ACCEPTED)
        if survey.invited:
            used.add(arrival.code)
            done.codes.append(arrival.code)
    done.is_full = block is not None and block.size > 0 and done.in_time >= room
    return done


def _says_the_same(arrival: Arrival, row: ReportRow) -> bool:
    said = (arrival.block, arrival.view, arrival.values)
    return said == (row.block, row.view, row.values)


def _refusal(
    arrival: Arrival, survey: SurveyRow, invitations: Mapping[str, bool], used: set[str]
) -> Fate | None:
    if survey.state != PUBLISHED:
        return SURVEY_CLOSED
    if survey.invited and arrival.code not in invitations:
        return UNINVITED
    if survey.invited and arrival.code in used:
        return INVITATION_USED
    return None
