"""The respondent's side: check ε, randomize, remember, keep the ledger.

The order is the promise: examine every channel before any coin is tossed; remember
the report before anybody sees it; hand out the same bytes for ever after.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import operator
from typing import TYPE_CHECKING

from deniable.channels import SystemCoin, fresh_id
from deniable.device.agreement import Agreement, Certificate, examine
from deniable.device.answer import untraced
from deniable.device.ledger import Entry, Ledger, ledger_from_bytes
from deniable.errors import AnswerError, EpsilonError, PrivacyRefusedError, StorageError
from deniable.protocol import Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from deniable.channels import Coin
    from deniable.device.answer import Answer
    from deniable.device.storage import Storage
    from deniable.protocol import Block, Design


class Device:
    """One respondent's device.

    Attributes:
        lasting: Whether the device remembers beyond this run. A storage that fails
            does not stop an answer, but then a restart would forget it was given.
    """

    def __init__(
        self,
        storage: Storage,
        agreement: Agreement,
        *,
        coin: Coin | None = None,
        name_report: Callable[[], bytes] = fresh_id,
    ) -> None:
        """Open the device's memory.

        Args:
            storage: Where reports and spent ε are remembered.
            agreement: What the respondent agreed to.
            coin: Tosses every coin; the operating system's unless a test scripts it.
            name_report: Draws report ids.
        """
        self.lasting = True
        self._agreement = agreement
        self._storage = storage
        self._readable = True
        self._coin: Coin = SystemCoin() if coin is None else coin
        self._name_report = name_report
        self._examined: dict[tuple[str, str], Certificate] = {}
        self._known: bytes | None = None
        self._ledger = Ledger()
        # What is on its way, perhaps, whatever the ledger has learned since.
        self._handed_out: dict[bytes, Entry] = {}
        with self._alone():
            pass

    @property
    def agreement(self) -> Agreement:
        """Return what the respondent agreed to; another agreement is another device."""
        return self._agreement

    @property
    def ledger(self) -> Ledger:
        """Return what was spent and said so far."""
        return self._ledger

    def examine(self, design: Design, block: Block) -> Certificate:
        """Return what this device computed about a block, or refuse it."""
        key = design.digest, block.digest
        if key not in self._examined:
            self._examined[key] = examine(design, block, self._agreement)
        return self._examined[key]

    def respond(self, design: Design, block: Block, answer: Answer, *, wave: int = 0) -> Report:
        """Return the report of an answer: randomized once, the same ever after.

        A survey that was answered before gives the report made then, whatever the
        answer now and whatever block is open. ``wave`` numbers the fresh answers that
        a design with repeats allows; each costs ε again.
        """
        with self._alone():
            return self._respond(design, block, answer, wave)

    def _respond(self, design: Design, block: Block, answer: Answer, wave: int) -> Report:
        before = self._ledger.entries.get((design.survey, wave))
        if before is not None:
            if before.report.design != design.digest:
                problem = "this survey was answered under another design"
                expected = "the design that was answered, or a survey of another name"
                raise PrivacyRefusedError(problem, given=design.digest, expected=expected)
            return before.report
        if not 0 <= wave < design.repeats:
            problem = "the design does not allow that many fresh answers"
            raise PrivacyRefusedError(problem, given=wave + 1, expected=f"at most {design.repeats}")
        certificate = self.examine(design, block)
        self._ledger.allow(certificate)
        report = self._randomize(design, block, answer)
        entry = self._ledger.add(design, certificate, report, wave)
        self._handed_out[report.identity] = entry
        self._remember()
        return report

    @untraced
    def _randomize(self, design: Design, block: Block, answer: Answer) -> Report:
        cells = answer._cells_for_the_coin()  # noqa: SLF001 - the one place that may look
        if len(cells) != len(design.sizes) or any(map(operator.ge, cells, design.sizes)):
            problem = "the answer does not fit the design's attributes"
            raise AnswerError(problem, expected=f"one cell for each of {design.names}")
        view = design.draw_view(self._coin)
        groups = [group.cell(cells) for group in design.views[view].groups]
        values = tuple(
            channel.randomize(cell, self._coin)
            for channel, cell in zip(block.channels[view], groups, strict=True)
        )
        return Report(design.digest, block.digest, self._name_report(), view, values)

    def mark_sent(self, report: Report) -> None:
        """Remember that a report has arrived.

        It is booked before the memory is asked: meanwhile this may have learned of another
        report for the same survey, and the one that arrived holds.
        """
        entry = self._ledger.find(report) or self._handed_out.get(report.identity)
        if entry is None:
            return
        arrived = dataclasses.replace(entry, sent=True)
        self._ledger.learn(Ledger({(entry.survey, entry.wave): arrived}))
        with self._alone():
            self._remember()

    def unsent(self, survey: str | None = None) -> list[Report]:
        """Return the reports that have not arrived yet, of one survey or of all."""
        with self._alone():
            entries = self._ledger.entries.values()
        found = [one for one in entries if not one.sent and survey in (None, one.survey)]
        self._handed_out.update((one.report.identity, one) for one in found)
        return [one.report for one in found]

    def set_cap(self, cap: float) -> None:
        """Let the respondent limit the ε spent on all surveys together."""
        if isinstance(cap, bool) or not isinstance(cap, int | float) or math.isnan(cap) or cap < 0:
            problem = "a cap on spent privacy must be a number of at least 0"
            raise EpsilonError(problem, given=cap, expected="such as 5.0, or infinity for none")
        with self._alone():
            self._ledger.cap = float(cap)
            self._remember()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other device on this storage answer meanwhile, and know what it knows."""
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(self._storage.alone())
            except (StorageError, OSError):
                self.lasting = False
            self._recall()
            yield

    def _recall(self) -> None:
        try:
            document = self._storage.read()
        except (StorageError, OSError):
            # What cannot be read must not be written over: it may hold earlier reports.
            self.lasting = self._readable = False
            return
        self._readable = True
        if document is None or document == self._known:
            return
        # A damaged memory is not a missing one: forgetting it would spend ε twice.
        stored = ledger_from_bytes(document)
        stored.learn(self._ledger)
        self._ledger, self._known = stored, document

    def _remember(self) -> None:
        if not self._readable:
            return
        document = self._ledger.to_bytes()
        try:
            self._storage.write(document)
        except (StorageError, OSError):
            self.lasting = False
        else:
            self.lasting, self._known = True, document
