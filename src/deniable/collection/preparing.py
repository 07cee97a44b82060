"""The block after one that closed, where its channels take long to find.

Nobody who writes may wait for that: the block closes at once, with its tally; then one
process searches with no transaction open, and publishes if nothing has changed meanwhile.
Until then a published survey has no open block, and devices are asked to come back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.collection.recording import described, opened
from deniable.collection.rules import update_for
from deniable.collection.store import PUBLISHED
from deniable.protocol import next_block, tally_from_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.collection.store import BlockRow, Reading, Store, SurveyRow


def prepare_next(store: Store, name: str, *, now: Callable[[], int]) -> bool:
    """Open a survey's next block if it has none; return whether this process did.

    What is missing after a crash is found in the same way, from the tally of the closed block.
    """
    with store.reading() as reading:
        if _last_closed(reading, reading.survey(name)) is None:
            return False
    with store.preparing(name) as is_mine:
        return is_mine and _prepare(store, name, now)


def _prepare(store: Store, name: str, now: Callable[[], int]) -> bool:
    with store.reading() as reading:
        survey = reading.survey(name)
        last = _last_closed(reading, survey)
        if survey is None or last is None or last.tally is None:
            return False
        design, block = described(reading, survey, last)
    channels = update_for(design)(design, block, tally_from_bytes(last.tally))
    following = next_block(design, block, channels)
    with store.writing() as writing:
        locked = writing.lock(survey.key)
        if locked is None or _last_closed(writing, locked) != last:
            return False  # it was closed, or somebody else has published
        writing.add_block(survey.key, opened(following, locked, last.size, now()))
    return True


def _last_closed(reading: Reading, survey: SurveyRow | None) -> BlockRow | None:
    """Return the last block of a published survey that has no open one."""
    if survey is None or survey.state != PUBLISHED or reading.open_block(survey.key) is not None:
        return None
    return reading.blocks(survey.key)[-1]
