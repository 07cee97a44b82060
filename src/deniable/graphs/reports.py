"""Reports of edges, and how they lie in a file."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.channels import channel_from_dict, channel_to_dict, epsilon_of_all
from deniable.errors import ChannelError, ReportError
from deniable.graphs.roster import Roster

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.channels import Channel

    Bits = NDArray[np.uint8]
    Flags = NDArray[np.bool_]

VERSION = 1
KEYS = ("deniable-graph", "ends", "channel", "people", "rows")


@dataclass(frozen=True, slots=True, eq=False)
class GraphReports:
    """What everybody reported about those they were asked about. Safe to keep.

    Attributes:
        roster: The people, and who was asked about whom.
        channel: How each edge, or that there is none, was randomized.
        bits: A row for each person, a column for each of ``roster.whom``; what stands where
            nobody was asked means nothing.
        answered: Who answered at all.
    """

    roster: Roster
    channel: Channel
    bits: Bits
    answered: Flags

    def __post_init__(self) -> None:
        """Refuse a channel that is not one of edges, and bits that do not fit the roster."""
        check_edge_channel(self.channel)
        if self.bits.shape != (len(self.roster), self.roster.width):
            problem = "the reports do not fit the roster"
            expected = f"{len(self.roster)} rows of {self.roster.width}"
            raise ReportError(problem, given=self.bits.shape, expected=expected)

    @property
    def epsilon(self) -> float:
        """Return ε of one edge, rounded up: both of its ends' reports together."""
        return epsilon_of_all([self.channel] * self.roster.ends)

    @property
    def epsilon_of_person(self) -> float:
        """Return ε of all that is reported about one person, by whomever."""
        return epsilon_of_all([self.channel] * (self.roster.ends * (len(self.roster) - 1)))

    def to_bytes(self) -> bytes:
        """Return the reports as a JSON document."""
        rows = [
            base64.b64encode(np.packbits(row).tobytes()).decode() if there else None
            for row, there in zip(self.bits, self.answered, strict=True)
        ]
        values = (VERSION, self.roster.ends, channel_to_dict(self.channel), self.roster.names, rows)
        document = dict(zip(KEYS, values, strict=True))
        return json.dumps(document, ensure_ascii=False, indent=0).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> GraphReports:
        """Read them back.

        Raises:
            ReportError: The document is none of these.
        """
        document = _document(data)
        roster = Roster(tuple(document["people"]), document["ends"])
        rows = document["rows"]
        if not isinstance(rows, list) or len(rows) != len(roster):
            problem = "a file of reports does not hold a row for each person"
            raise ReportError(problem, expected=f"{len(roster)} rows")
        bits = np.zeros((len(roster), roster.width), np.uint8)
        for place, row in enumerate(rows):
            if row is not None:
                bits[place] = _unpacked(row, roster.width)
        answered = np.array([row is not None for row in rows])
        return cls(roster, channel_from_dict(document["channel"]), bits, answered)


def gather(roster: Roster, channel: Channel, said: Mapping[str, Sequence[int]]) -> GraphReports:
    """Return the reports of those who answered, each as their device sent it.

    Raises:
        ReportError: Somebody's report does not fit what they were asked.
    """
    bits = np.zeros((len(roster), roster.width), np.uint8)
    answered = np.zeros(len(roster), np.bool_)
    for name, report in said.items():
        place = roster.place(name)
        there = roster.whom[place] >= 0
        if len(report) != there.sum() or not set(report) <= {0, 1}:
            problem = "a report on edges does not fit what was asked"
            raise ReportError(problem, expected=f"{there.sum()} numbers, each 0 or 1")
        bits[place, there] = report
        answered[place] = True
    return GraphReports(roster, channel, bits, answered)


def check_edge_channel(channel: Channel) -> None:
    """Refuse a channel of which a report does not keep both answers equally often."""
    kept = [channel.probability((x,), x) for x in range(channel.size)] if channel.width == 1 else []
    if len(kept) != 2 or kept[0] != kept[1] or kept[0] <= 1 - kept[0]:  # noqa: PLR2004 -- 0 and 1
        problem = "edges are reported through a channel of two cells that keeps both equally often"
        raise ChannelError(problem, given=channel.kind, expected="such as k_ary(1.0, 2)")


def _document(data: bytes) -> dict[str, Any]:
    try:
        document = json.loads(data)
    except ValueError as error:
        problem = "this is no file of reports on a graph"
        raise ReportError(problem, expected="what deniable graph randomize writes") from error
    if not isinstance(document, dict) or document.get(KEYS[0]) != VERSION:
        problem = "this is no file of reports on a graph"
        raise ReportError(problem, expected="what deniable graph randomize writes")
    if sorted(document) != sorted(KEYS):
        problem = "a file of reports on a graph lacks something or holds something else"
        raise ReportError(problem, given=sorted(document), expected=", ".join(KEYS))
    people = document["people"]
    if not isinstance(people, list) or not all(isinstance(name, str) for name in people):
        problem = "the people of a graph are a list of names"
        raise ReportError(problem)
    return document


def _unpacked(row: object, width: int) -> Bits:
    length = (width + 7) // 8
    try:
        packed = base64.b64decode(row, validate=True) if isinstance(row, str) else b""
    except binascii.Error:
        packed = b""
    if len(packed) != length:
        problem = "a row of reports cannot be read"
        raise ReportError(problem, expected=f"{length} bytes in base 64")
    return np.unpackbits(np.frombuffer(packed, np.uint8), count=width)
