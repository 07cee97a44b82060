"""A tally: how often each report was seen, by block, view and group. Tallies add.

It is the sufficient statistic of all that is estimated later, and all that an
aggregator need ever publish.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from deniable.errors import DigestError, TallyError
from deniable.protocol.canonical import canonical, is_count, read_json
from deniable.protocol.design import VERSION
from deniable.protocol.reading import block_from_dict, design_from_dict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from deniable.channels import Channel, Value
    from deniable.protocol.block import Block
    from deniable.protocol.design import Design
    from deniable.protocol.report import Report


class Stratum(NamedTuple):
    """Where reports were counted: a block, a view, and the groups counted together.

    With one group this is a table of that group's reports; with all groups of the view
    it is the table of whole reports, which whole-joint models want.
    """

    block: int
    view: int
    groups: tuple[int, ...]


Counts: TypeAlias = "Mapping[Value, int]"
"""Reported integers, those of several groups one after another, and how often they came."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What was seen under one design.

    Attributes:
        design: The design that every report was made for.
        blocks: The blocks that occur, by number.
        counts: For each stratum, how often each report came.
        sources: Who counted; a tally cannot be added to one that already holds it.
    """

    design: Design
    blocks: Mapping[int, Block]
    counts: Mapping[Stratum, Counts]
    sources: frozenset[str]

    def people(self, block: int, view: int) -> int:
        """Return the number of respondents of a block who answered a view."""
        for stratum, counts in self.counts.items():
            if (stratum.block, stratum.view) == (block, view):
                return sum(counts.values())
        return 0

    @property
    def total(self) -> int:
        """Return the number of respondents."""
        return sum(self.people_by_block().values())

    def people_by_block(self) -> dict[int, int]:
        """Return the number of respondents of each block that occurs."""
        cells: dict[tuple[int, int], Counts] = {}
        for stratum, counts in self.counts.items():
            cells.setdefault((stratum.block, stratum.view), counts)
        found: dict[int, int] = {}
        for (block, _), counts in cells.items():
            found[block] = found.get(block, 0) + sum(counts.values())
        return found

    def plus(self, other: Tally) -> Tally:
        """Return both tallies added. Order and grouping do not matter."""
        if other.design.digest != self.design.digest:
            problem = "tallies of different designs cannot be added"
            raise DigestError(problem, given=other.design.digest, expected=self.design.digest)
        twice = self.sources & other.sources
        if twice:
            problem = "a tally was already added"
            given = sorted(twice)[:3]
            raise TallyError(problem, given=given, expected="every source once")
        for number, block in other.blocks.items():
            if number in self.blocks and self.blocks[number].digest != block.digest:
                problem = f"block {number} had different channels in the two tallies"
                raise DigestError(problem, given=block.digest, expected=self.blocks[number].digest)
        self._check_grouping(other)
        counts = {stratum: Counter(values) for stratum, values in self.counts.items()}
        for stratum, values in other.counts.items():
            counts.setdefault(stratum, Counter()).update(values)
        blocks = {**self.blocks, **other.blocks}
        return Tally(self.design, blocks, counts, self.sources | other.sources)

    def by_group(self) -> Tally:
        """Return the same reports counted group by group, which tables of whole reports tell, too.

        Raises:
            TallyError: A group is counted by itself and in a table of whole reports besides.
        """
        counts: dict[Stratum, dict[Value, int]] = {}
        for stratum, values in self.counts.items():
            channels = self.blocks[stratum.block].channels[stratum.view]
            start = 0
            for group in stratum.groups:
                single = Stratum(stratum.block, stratum.view, (group,))
                if single in counts:
                    problem = "a tally counts the same reports twice"
                    raise TallyError(problem, given=f"group {group} of view {stratum.view}")
                end = start + channels[group].width
                found: Counter[Value] = Counter()
                for value, count in values.items():
                    found[value[start:end]] += count
                counts[single] = found
                start = end
        return replace(self, counts=counts)

    def _check_grouping(self, other: Tally) -> None:
        ways = [
            {stratum.groups for stratum in one.counts if len(stratum.groups) > 1}
            for one in (self, other)
        ]
        if self.counts and other.counts and bool(ways[0]) != bool(ways[1]):
            problem = "one tally counts whole reports, the other single groups"
            raise TallyError(problem, expected="tallies counted the same way")

    def to_bytes(self) -> bytes:
        """Return canonical bytes (``spec/tally.schema.json``)."""
        strata = [
            {
                "block": stratum.block,
                "view": stratum.view,
                "groups": list(stratum.groups),
                "reports": [list(value) for value, _ in sorted(values.items())],
                "counts": [count for _, count in sorted(values.items())],
            }
            for stratum, values in sorted(self.counts.items())
        ]
        return canonical(
            {
                "deniable": VERSION,
                "design": self.design.to_dict(),
                "blocks": [self.blocks[number].to_dict() for number in sorted(self.blocks)],
                "strata": strata,
                "sources": sorted(self.sources),
            }
        )


def tally_of(
    design: Design,
    blocks: Iterable[Block],
    reports: Iterable[Report],
    *,
    source: str,
    joint: bool = False,
) -> Tally:
    """Count reports that have been checked; ``joint`` keeps the groups of a view together."""
    by_digest = {block.digest: block for block in blocks}
    counts: dict[Stratum, Counter[Value]] = {}
    for report in reports:
        block = by_digest.get(report.block)
        if report.design != design.digest or block is None:
            problem = "a report belongs to no block of this tally"
            raise DigestError(problem, given=report.block)
        for stratum, value in strata_of(report, block.number, joint=joint):
            counts.setdefault(stratum, Counter())[value] += 1
    numbers = {block.number: block for block in by_digest.values()}
    return Tally(design, numbers, counts, frozenset({source}))


def strata_of(report: Report, block: int, *, joint: bool) -> Iterator[tuple[Stratum, Value]]:
    """Yield each stratum that a report counts in, with the integers counted there."""
    if joint:
        flat = tuple(number for value in report.values for number in value)
        yield Stratum(block, report.view, tuple(range(len(report.values)))), flat
        return
    for place, value in enumerate(report.values):
        yield Stratum(block, report.view, (place,)), value


def tally_from_bytes(data: bytes | str) -> Tally:
    """Read a tally; impossible reports and counts are errors."""
    found = read_json(data, "a tally", TallyError)
    keys = {"deniable", "design", "blocks", "strata", "sources"}
    if not isinstance(found, dict) or set(found) != keys or not is_count(found["deniable"]):
        problem = "this is no tally"
        raise TallyError(problem, expected=", ".join(sorted(keys)))
    if found["deniable"] != VERSION:
        problem = "a tally of another version"
        raise TallyError(problem, given=found["deniable"], expected=str(VERSION))
    design = design_from_dict(found["design"])
    blocks = {
        block.number: block
        for block in (block_from_dict(b, design) for b in _list(found["blocks"]))
    }
    counts = dict(_stratum(one, design, blocks) for one in _list(found["strata"]))
    if len(counts) != len(found["strata"]):
        problem = "a tally counts a stratum twice"
        raise TallyError(problem)
    sources = _list(found["sources"])
    if not all(isinstance(source, str) for source in sources) or len(set(sources)) != len(sources):
        problem = "the sources of a tally are no different names"
        raise TallyError(problem)
    return Tally(design, blocks, counts, frozenset(sources))


def _list(data: object) -> list[Any]:
    if not isinstance(data, list):
        problem = "a part of a tally is no list"
        raise TallyError(problem, given=type(data).__name__)
    return data


def _stratum(
    data: object, design: Design, blocks: Mapping[int, Block]
) -> tuple[Stratum, dict[Value, int]]:
    keys = {"block", "view", "groups", "reports", "counts"}
    if not isinstance(data, dict) or set(data) != keys:
        problem = "this is no stratum of a tally"
        raise TallyError(problem, expected=", ".join(sorted(keys)))
    block, view, groups = data["block"], data["view"], _list(data["groups"])
    if not all(map(is_count, [block, view, *groups])):
        problem = "a stratum's block, view and groups must be integers of at least 0"
        raise TallyError(problem, given=(block, view, groups))
    if block not in blocks or view not in range(len(design.views)):
        problem = "a stratum names a block or a view that does not exist"
        raise TallyError(problem, given=(block, view))
    channels = blocks[block].channels[view]
    known = all(group in range(len(channels)) for group in groups)
    if not groups or not known or len(set(groups)) != len(groups):
        problem = "a stratum names groups that its view does not have"
        raise TallyError(problem, given=groups)
    chosen = [channels[group] for group in groups]
    reports, numbers = _list(data["reports"]), _list(data["counts"])
    if len(reports) != len(numbers):
        problem = "a stratum holds more reports than counts, or fewer"
        raise TallyError(problem, given=(len(reports), len(numbers)))
    counts: dict[Value, int] = {}
    for report, count in zip(reports, numbers, strict=True):
        value = _reported(_list(report), chosen)
        if not is_count(count) or value in counts:
            problem = "a count must be an integer of at least 0, once for each report"
            raise TallyError(problem, given=count)
        counts[value] = count
    return Stratum(block, view, tuple(groups)), counts


def _reported(numbers: list[Any], channels: list[Channel]) -> Value:
    """Check the integers of several groups, one after another, against their channels."""
    wanted = sum(channel.width for channel in channels)
    if len(numbers) != wanted:
        problem = "a counted report does not fit its groups"
        raise TallyError(problem, given=f"{len(numbers)} integers", expected=f"{wanted}")
    start = 0
    for channel in channels:
        channel.check(tuple(numbers[start : start + channel.width]))
        start += channel.width
    return tuple(numbers)
