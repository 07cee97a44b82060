"""The body of a submission: read fast where it is canonical, slowly and strictly elsewhere.

A device sends canonical bytes. A body that decodes by the typed reader and encodes to
the very same bytes is therefore read exactly as ``deniable.protocol`` would read it, at
a tenth of the cost; any other body goes to that reader, item by item.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import msgspec

from deniable.errors import DeniableError, RequestError
from deniable.protocol import report_from_dict
from deniable.protocol.canonical import read_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deniable.protocol import Report


Count = Annotated[int, msgspec.Meta(ge=0)]


class WireReport(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A report as it crosses the wire, its keys in canonical order."""

    block: str
    deniable: Literal[1]
    design: str
    id: str
    values: tuple[tuple[Count, ...], ...]
    view: Count


class WireBody(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A submission: reports, and the invitation that came with a single one."""

    reports: list[WireReport]
    invitation: str = ""


Item: TypeAlias = "Report | WireReport | DeniableError"
"""A report that was read, or what is wrong with it."""


class Submission(msgspec.Struct):
    """What was read, in order; ids as they came."""

    items: Sequence[Item]
    ids: Sequence[str | None]
    invitation: str = ""


_DECODE = msgspec.json.Decoder(WireBody)
_ENCODE = msgspec.json.Encoder()
# 16 bytes as base64url: the last of 22 characters holds four bits and four zeros.
_ID = re.compile(r"[A-Za-z0-9_-]{21}[AQgw]", re.ASCII)
# 32 bytes: the last of 43 characters holds four bits and two zeros.
_DIGEST = re.compile(r"[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]", re.ASCII)


def read_submission(body: bytes) -> Submission:
    """Read a submission.

    Raises:
        RequestError: It is no submission at all. A single bad report is an item instead.
    """
    try:
        found = _DECODE.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _read_slowly(body)
    if _ENCODE.encode(found) != body:
        return _read_slowly(body)
    ids = [one.id for one in found.reports]
    digests = {one.design for one in found.reports} | {one.block for one in found.reports}
    if not all(map(_ID.fullmatch, ids)) or not all(map(_is_digest, digests)):
        return _read_slowly(body)
    return Submission(found.reports, ids, found.invitation)


@lru_cache(maxsize=256)
def _is_digest(text: str) -> bool:
    """Tell whether a text is a digest; nearly all reports name the same two."""
    return _DIGEST.fullmatch(text) is not None


def _read_slowly(body: bytes) -> Submission:
    found = read_json(body, "the request", RequestError)
    keys = set(found) if isinstance(found, dict) else set()
    if not isinstance(found, dict) or "reports" not in keys or keys - {"reports", "invitation"}:
        problem = "a submission holds reports and nothing else"
        raise RequestError(problem, expected='{"reports": […]}, with an "invitation" if need be')
    reports, invitation = found["reports"], found.get("invitation", "")
    if not isinstance(reports, list) or not isinstance(invitation, str):
        problem = "the reports of a submission are no list, or its invitation is no text"
        raise RequestError(problem, expected='{"reports": […]}')
    return Submission([_one(item) for item in reports], [_id_of(i) for i in reports], invitation)


def _one(item: object) -> Report | DeniableError:
    try:
        return report_from_dict(item)
    except DeniableError as error:
        return error


def _id_of(item: Any) -> str | None:  # noqa: ANN401 - whatever JSON holds
    name = item.get("id") if isinstance(item, dict) else None
    return name if isinstance(name, str) else None
