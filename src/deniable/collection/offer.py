"""An offer: a published survey as the server holds it ready, to check what arrives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from deniable.errors import DigestError
from deniable.protocol import check_report

if TYPE_CHECKING:
    from deniable.protocol import Block, Design, Report

LARGEST_MEMORY = 200_000
"""So many different reports are remembered as checked, then all are forgotten."""


@dataclass(slots=True)
class Offer:
    """A published survey: its design and the blocks that this server knows.

    Attributes:
        key: The store's number for the survey.
        document: The survey file, as plain data.
        current: The block that is handed out; ``None`` once the survey is closed.
    """

    key: int
    name: str
    document: object
    design: Design
    invited: bool
    blocks: dict[str, Block] = field(default_factory=dict)
    current: Block | None = None
    _checked: dict[tuple[str, int, tuple[tuple[int, ...], ...]], str] = field(default_factory=dict)

    def check(self, report: Report) -> tuple[int, str]:
        """Return the report's block number and its values as canonical JSON, or refuse it.

        Few different reports come often, so what passed once is remembered.

        Raises:
            DigestError: It was made for another design or block.
            ReportError: No device can have made it.
        """
        block = self.blocks.get(report.block)
        if report.design != self.design.digest:
            problem = "the report was made for another design"
            raise DigestError(problem, given=report.design, expected=self.design.digest)
        if block is None:
            problem = "the report was made for a block that was never published"
            raise DigestError(problem, given=report.block)
        key = report.block, report.view, report.values
        values = self._checked.get(key)
        if values is None:
            check_report(report, self.design, block)
            values = msgspec.json.encode(report.values).decode()
            if len(self._checked) >= LARGEST_MEMORY:
                self._checked.clear()
            self._checked[key] = values
        return block.number, values
