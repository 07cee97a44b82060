"""An offer: a published survey as the server holds it ready, to check what arrives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from deniable.channels.coin import ID_BYTES
from deniable.errors import DigestError
from deniable.protocol import Report, check_report, decode_bytes
from deniable.schema.privacy import RULES

if TYPE_CHECKING:
    from deniable.collection.reading import WireReport
    from deniable.protocol import Block, Design
    from deniable.protocol.report import Values

LARGEST_MEMORY = 200_000
"""So many different reports are remembered as checked, then all are forgotten."""


FOLLOWING: Final = frozenset(RULES)
"""Rules under which a block is soon another one's."""


@dataclass(slots=True)
class Offer:
    """A published survey: its design and the blocks that this server knows.

    Attributes:
        key: The store's number for the survey.
        document: The survey file, as plain data.
        is_closed: Whether it accepts no reports any more.
        current: The block that is handed out; ``None`` once the survey is closed, and while
            the next block is being prepared.
    """

    key: int
    name: str
    document: object
    design: Design
    invited: bool
    blocks: dict[str, Block] = field(default_factory=dict)
    is_closed: bool = False
    current: Block | None = None
    _checked: dict[tuple[str, str, int, Values], tuple[int, str]] = field(default_factory=dict)

    @property
    def is_between_blocks(self) -> bool:
        """Tell whether the next block is being prepared: devices had better come back soon."""
        return self.current is None and not self.is_closed

    @property
    def is_followed(self) -> bool:
        """Tell whether channels follow the reports, so that an old offer is another's."""
        return self.design.rule.name in FOLLOWING

    def check(self, report: Report | WireReport) -> tuple[int, str]:
        """Return the report's block number and its values as canonical JSON, or refuse it.

        Few different reports come often, so what passed once is remembered.

        Raises:
            DigestError: It was made for another design or block.
            ReportError: No device can have made it.
        """
        said = report.design, report.block, report.view, report.values
        found = self._checked.get(said)
        if found is None:
            found = self._check_anew(report)
            if len(self._checked) >= LARGEST_MEMORY:
                self._checked.clear()
            self._checked[said] = found
        return found

    def _check_anew(self, report: Report | WireReport) -> tuple[int, str]:
        block = self.blocks.get(report.block)
        if report.design != self.design.digest:
            problem = "the report was made for another design"
            raise DigestError(problem, given=report.design, expected=self.design.digest)
        if block is None:
            problem = "the report was made for a block that was never published"
            raise DigestError(problem, given=report.block)
        check_report(as_report(report), self.design, block)
        return block.number, msgspec.json.encode(report.values).decode()


def as_report(found: Report | WireReport) -> Report:
    """Return a report as the protocol knows it."""
    if isinstance(found, Report):
        return found
    identity = decode_bytes(found.id, ID_BYTES)
    return Report(found.design, found.block, identity, found.view, found.values)
