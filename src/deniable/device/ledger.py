"""What one device has spent and said: reports by survey, ε by survey and attribute."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from deniable.channels import format_epsilon
from deniable.errors import LedgerError, ReportError, StorageError
from deniable.protocol import report_from_bytes
from deniable.schema.canonical import spell_number

if TYPE_CHECKING:
    from deniable.device.agreement import Certificate
    from deniable.protocol import Design, Report

VERSION = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One report that was made: what it says, what it cost, whether it arrived."""

    survey: str
    wave: int
    report: Report
    epsilon: float
    attributes: dict[str, float]
    sent: bool = False


@dataclass(slots=True)
class Ledger:
    """Every report this device ever made. Frozen entries; only ``sent`` changes.

    Attributes:
        cap: The most ε that the respondent allows in total; infinite if never set.
    """

    entries: dict[tuple[str, int], Entry] = field(default_factory=dict)
    cap: float = math.inf

    @property
    def total(self) -> float:
        """Return the ε spent on everything, rounded up."""
        return _sum_up(entry.epsilon for entry in self.entries.values())

    def spent_on(self, survey: str) -> float:
        """Return the ε spent on a survey, rounded up."""
        return _sum_up(e.epsilon for e in self.entries.values() if e.survey == survey)

    def spent_by_attribute(self, survey: str) -> dict[str, float]:
        """Return the ε spent on each attribute of a survey (attribute-level), rounded up."""
        spent: dict[str, list[float]] = {}
        for entry in self.entries.values():
            if entry.survey == survey:
                for name, epsilon in entry.attributes.items():
                    spent.setdefault(name, []).append(epsilon)
        return {name: _sum_up(values) for name, values in spent.items()}

    def allow(self, certificate: Certificate) -> None:
        """Raise ``LedgerError`` if one more answer would exceed the respondent's cap."""
        after = _sum_up([self.total, certificate.epsilon])
        if after > self.cap:
            problem = "one more answer would exceed your cap on spent privacy"
            given = f"{format_epsilon(after, 6)} after this answer"
            raise LedgerError(problem, given=given, expected=f"at most {spell_number(self.cap)}")

    def add(self, design: Design, certificate: Certificate, report: Report, wave: int) -> Entry:
        """Write down a report that was just made."""
        view = design.views[report.view]
        asked = {
            design.names[a]: certificate.attributes[a] for g in view.groups for a in g.attributes
        }
        # The cost is that of the costliest view: which view was drawn depends on no answer,
        # but a bound that does not depend on the draw is the one that was agreed to.
        entry = Entry(design.survey, wave, report, certificate.epsilon, asked)
        self.entries[design.survey, wave] = entry
        return entry

    def find(self, report: Report) -> Entry | None:
        """Return the entry of a report."""
        return next((one for one in self.entries.values() if one.report == report), None)

    def learn(self, other: Ledger) -> None:
        """Take over what another ledger knows, as of this device in a time without memory."""
        for key, entry in other.entries.items():
            self.entries[key] = settle(self.entries.get(key, entry), entry)

    def to_bytes(self) -> bytes:
        """Return the document that is stored."""
        entries = [
            {
                "survey": entry.survey,
                "wave": entry.wave,
                "report": entry.report.to_bytes().decode(),
                "epsilon": entry.epsilon,
                "attributes": entry.attributes,
                "sent": entry.sent,
            }
            for entry in self.entries.values()
        ]
        cap = None if math.isinf(self.cap) else self.cap
        return json.dumps({"deniable": VERSION, "cap": cap, "entries": entries}).encode()


def settle(mine: Entry, other: Entry) -> Entry:
    """Return what holds where two entries answer the same survey and wave.

    The report that arrived holds, and the other one is never sent. If none arrived, mine
    holds. If both did, nothing can be taken back: mine holds, at the cost of both.
    """
    if mine.report == other.report:
        costs = {**other.attributes, **mine.attributes}
        most = {name: max(c, other.attributes.get(name, 0.0)) for name, c in costs.items()}
        epsilon = max(mine.epsilon, other.epsilon)
        return replace(mine, sent=mine.sent or other.sent, epsilon=epsilon, attributes=most)
    if not other.sent:
        return mine
    if not mine.sent:
        return other
    names = {**mine.attributes, **other.attributes}
    both = [mine.attributes, other.attributes]
    costs = {name: _sum_up(costs.get(name, 0.0) for costs in both) for name in names}
    return replace(mine, epsilon=_sum_up([mine.epsilon, other.epsilon]), attributes=costs)


def ledger_from_bytes(document: bytes) -> Ledger:
    """Read the stored document, or say that it is damaged."""
    try:
        found = json.loads(document)
        if found["deniable"] != VERSION:
            problem = "the device's memory was written by another version"
            raise StorageError(problem, given=found["deniable"], expected=str(VERSION))
        entries = {
            (one["survey"], one["wave"]): Entry(
                survey=one["survey"],
                wave=one["wave"],
                report=report_from_bytes(one["report"]),
                epsilon=_level(one["epsilon"]),
                attributes={name: _level(cost) for name, cost in one["attributes"].items()},
                sent=bool(one["sent"]),
            )
            for one in found["entries"]
        }
        cap = math.inf if found["cap"] is None else _level(found["cap"])
    except (ValueError, KeyError, TypeError, AttributeError, ReportError) as error:
        problem = "the device's memory is damaged"
        raise StorageError(problem, expected="the document that a device wrote") from error
    return Ledger(entries, cap)


def _level(value: object) -> float:
    """Refuse a level that no device wrote: one below 0 would give spent privacy back."""
    if isinstance(value, int | float) and 0 <= value < math.inf:
        return float(value)
    message = "no level"
    raise ValueError(message)


def _sum_up(values: object) -> float:
    total = math.fsum(values)  # type: ignore[arg-type]
    return math.nextafter(total, math.inf) if total else 0.0
