"""Refusals as problem documents (RFC 9457), one for each error of ``spec/errors.json``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import msgspec
from starlette.responses import Response

from deniable.collection import assets
from deniable.errors import BusyError, DeniableError, RateError, StorageError, TokenError

if TYPE_CHECKING:
    from collections.abc import Mapping

MEDIA_TYPE: Final = "application/problem+json"

STATUS: Final[Mapping[str, tuple[int, str]]] = {
    one["code"]: (one["status"], one["title"]) for one in assets.errors() if one["status"]
}
"""Status and title by code, from the list that all languages share."""


def problem_of(error: DeniableError) -> dict[str, object]:
    """Return an error as the members of a problem document."""
    status, title = STATUS.get(error.code, STATUS["error"])
    return {
        "type": f"/v1/problems/{error.code}",
        "title": title,
        "status": status,
        "detail": str(error),
    }


def status_of(error: DeniableError) -> int:
    """Return the HTTP status of an error."""
    return STATUS.get(error.code, STATUS["error"])[0]


def problem_response(error: DeniableError) -> Response:
    """Answer with a problem document."""
    headers = {}
    if isinstance(error, TokenError):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, RateError):
        headers["Retry-After"] = str(math.ceil(error.wait))
    if isinstance(error, BusyError | StorageError):
        headers["Retry-After"] = "1"
    body = msgspec.json.encode(problem_of(error))
    return Response(body, status_of(error), headers, MEDIA_TYPE)
