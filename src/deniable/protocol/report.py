"""A report: what leaves the device. Everything in it is safe to keep, copy and publish."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from deniable.channels.coin import ID_BYTES
from deniable.errors import DigestError, ReportError
from deniable.protocol.canonical import (
    DIGEST_BYTES,
    DIGEST_LENGTH,
    decode_bytes,
    encode_bytes,
    is_count,
    read_json,
)
from deniable.protocol.design import VERSION

if TYPE_CHECKING:
    from deniable.channels import Value
    from deniable.protocol.block import Block
    from deniable.protocol.design import Design

Values: TypeAlias = "tuple[Value, ...]"
"""One channel report for each group of a view."""

KEYS = frozenset({"deniable", "design", "block", "id", "view", "values"})


@dataclass(frozen=True, slots=True)
class Report:
    """One respondent's randomized answers to one view."""

    design: str
    block: str
    identity: bytes
    view: int
    values: Values

    def to_bytes(self) -> bytes:
        """Return the bytes that are sent, kept and sent again: canonical JSON, written out."""
        values = ",".join(f"[{','.join(map(str, value))}]" for value in self.values)
        return (
            f'{{"block":"{self.block}","deniable":{VERSION},"design":"{self.design}",'
            f'"id":"{encode_bytes(self.identity)}","values":[{values}],"view":{self.view}}}'
        ).encode()


def report_from_bytes(data: bytes | str) -> Report:
    """Read a report; a truncated, padded or foreign one is an error."""
    return report_from_dict(read_json(data, "a report", ReportError))


def report_from_dict(found: object) -> Report:
    """Read a report from plain data."""
    if not isinstance(found, dict) or set(found) != KEYS:
        problem = "a report does not have the keys of one"
        raise ReportError(problem, expected=", ".join(sorted(KEYS)))
    if not is_count(found["deniable"]) or found["deniable"] != VERSION:
        problem = "a report of another version"
        raise ReportError(problem, given=found["deniable"], expected=str(VERSION))
    for key in ("design", "block"):
        if not isinstance(found[key], str) or len(found[key]) != DIGEST_LENGTH:
            problem = f"a report's {key} is no digest"
            raise ReportError(problem, expected=f"{DIGEST_LENGTH} characters of base64url")
        decode_bytes(found[key], DIGEST_BYTES)
    if not isinstance(found["id"], str):
        problem = "a report's id is no text"
        raise ReportError(problem, expected=f"{ID_BYTES} bytes as base64url")
    values = found["values"]
    if not isinstance(values, list) or not all(_is_value(value) for value in values):
        problem = "a report's values are no lists of integers"
        raise ReportError(problem, expected="one list of integers for each group of the view")
    if not is_count(found["view"]):
        problem = "a report's view is no number"
        raise ReportError(problem, expected="an integer of at least 0")
    identity = decode_bytes(found["id"], ID_BYTES)
    values = tuple(tuple(value) for value in values)
    return Report(found["design"], found["block"], identity, found["view"], values)


def check_report(report: Report, design: Design, block: Block) -> None:
    """Raise unless the report can have been made under this design and block."""
    if report.design != design.digest:
        problem = "the report was made for another design"
        raise DigestError(problem, given=report.design, expected=design.digest)
    if report.block != block.digest:
        problem = "the report was made for another block"
        raise DigestError(problem, given=report.block, expected=block.digest)
    if report.view >= len(design.views):
        problem = "the report answers a view that was not offered"
        raise ReportError(problem, given=report.view, expected=f"0 to {len(design.views) - 1}")
    channels = block.channels[report.view]
    if len(report.values) != len(channels):
        problem = "the report does not answer every group of its view"
        given = f"{len(report.values)} groups"
        raise ReportError(problem, given=given, expected=f"{len(channels)} groups")
    for value, channel in zip(report.values, channels, strict=True):
        channel.check(value)


def _is_value(value: object) -> bool:
    return isinstance(value, list) and all(is_count(number) for number in value)
