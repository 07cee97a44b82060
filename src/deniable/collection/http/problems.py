"""Refusals as problem documents (RFC 9457), one for each error of ``spec/errors.json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from starlette.responses import Response

from deniable.errors import BusyError, DeniableError, RateError, TokenError

if TYPE_CHECKING:
    from collections.abc import Mapping

MEDIA_TYPE: Final = "application/problem+json"

# A copy of the list that all languages share; a test compares the two.
STATUS: Final[Mapping[str, tuple[int, str]]] = {
    "error": (500, "Refused"),
    "invalid-schema": (422, "Invalid schema"),
    "invalid-survey-file": (422, "Invalid survey file"),
    "invalid-channel": (422, "Invalid channel"),
    "invalid-epsilon": (422, "Invalid privacy level"),
    "invalid-design": (422, "Invalid design"),
    "wrong-digest": (409, "Wrong digest"),
    "invalid-report": (422, "Invalid report"),
    "invalid-tally": (422, "Invalid tally"),
    "storage-failed": (503, "Storage failed"),
    "collection-refused": (400, "Request refused"),
    "invalid-request": (400, "Invalid request"),
    "not-found": (404, "Not found"),
    "report-conflict": (409, "Report conflict"),
    "wrong-state": (409, "Wrong state"),
    "already-merged": (409, "Already merged"),
    "invitation-refused": (403, "Invitation refused"),
    "token-refused": (401, "Token refused"),
    "scope-refused": (403, "Not allowed"),
    "too-large": (413, "Too large"),
    "too-often": (429, "Too many requests"),
    "busy": (503, "Busy"),
    "invalid-data": (422, "Invalid data"),
    "cannot-estimate": (422, "Cannot estimate"),
    "missing-extra": (501, "Optional dependency missing"),
}


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


def problem_response(error: DeniableError, *, retry_after: float | None = None) -> Response:
    """Answer with a problem document."""
    headers = {}
    if isinstance(error, TokenError):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, RateError | BusyError) and retry_after is None:
        retry_after = 1.0
    if retry_after is not None:
        headers["Retry-After"] = str(max(1, round(retry_after)))
    body = msgspec.json.encode(problem_of(error))
    return Response(body, status_of(error), headers, MEDIA_TYPE)
