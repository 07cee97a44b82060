"""Tallies of what is kept: of one block when it closes, of a survey whenever asked."""

from __future__ import annotations

import json
from collections import Counter
from functools import reduce
from typing import TYPE_CHECKING

from deniable.protocol import Stratum, Tally, block_from_bytes, tally_from_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deniable.channels import Value
    from deniable.collection.store import BlockRow, Count, Reading, SurveyRow
    from deniable.protocol import Block, Design


def source_of(server: str, survey: str, block: int, *, late: bool = False) -> str:
    """Name who counted what, so that the same reports are never added twice.

    >>> source_of("s", "health", 3)
    's/health/3'
    """
    return f"{server}/{survey}/{block}" + ("/late" if late else "")


def tally_counts(
    design: Design,
    blocks: Iterable[Block],
    counts: Iterable[Count],
    sources: Iterable[str],
    *,
    joint: bool = False,
) -> Tally:
    """Return the tally of counted reports; ``joint`` keeps the groups of a view together."""
    found: dict[Stratum, Counter[Value]] = {}
    for count in counts:
        values = [tuple(value) for value in json.loads(count.values)]
        parts: list[tuple[tuple[int, ...], Value]]
        parts = [((place,), value) for place, value in enumerate(values)]
        if joint:
            flat = tuple(number for value in values for number in value)
            parts = [(tuple(range(len(values))), flat)]
        for groups, value in parts:
            stratum = Stratum(count.block, count.view, groups)
            found.setdefault(stratum, Counter())[value] += count.reports
    numbers = {block.number: block for block in blocks}
    return Tally(design, numbers, found, frozenset(sources))


def tally_block(reading: Reading, survey: SurveyRow, design: Design, block: Block) -> Tally:
    """Count one block's reports that came while it was open."""
    counts = [one for one in reading.counts(survey.key, block.number) if not one.late]
    source = source_of(reading.server(), survey.name, block.number)
    return tally_counts(design, [block], counts, [source])


def tally_own(
    reading: Reading,
    survey: SurveyRow,
    design: Design,
    rows: Sequence[BlockRow],
    *,
    joint: bool = False,
) -> Tally:
    """Count everything that this server accepted for a survey."""
    blocks = [block_from_bytes(row.body, design) for row in rows]
    counts = reading.counts(survey.key)
    server = reading.server()
    sources = {source_of(server, survey.name, one.block, late=one.late) for one in counts}
    seen = {one.block for one in counts}
    asked = [block for block in blocks if block.number in seen]
    return tally_counts(design, asked, counts, sources, joint=joint)


def tally_all(
    reading: Reading,
    survey: SurveyRow,
    design: Design,
    rows: Sequence[BlockRow],
    *,
    joint: bool = False,
) -> Tally:
    """Return what this server and those merged into it counted, added.

    Raises:
        TallyError: The groups of a view were asked for together, and another server sent
            them one by one.
    """
    own = tally_own(reading, survey, design, rows, joint=joint)
    others = merged_tallies(reading, survey)
    return reduce(Tally.plus, others, own) if joint else plus_merged(own, others)


def merged_tallies(reading: Reading, survey: SurveyRow) -> list[Tally]:
    """Return what other servers sent, as they counted it."""
    return [tally_from_bytes(body) for body in reading.merged(survey.key)]


def plus_merged(own: Tally, others: Iterable[Tally]) -> Tally:
    """Add what others counted to what this server counted, group by group."""
    return reduce(Tally.plus, (other.by_group() for other in others), own)
