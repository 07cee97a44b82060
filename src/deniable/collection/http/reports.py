"""The route on which reports arrive."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

import msgspec

from deniable.collection.arrival import (
    ACCEPTED,
    CONFLICT,
    INVITATION_USED,
    KEPT,
    REPEATED,
    SURVEY_CLOSED,
    UNINVITED,
    Arrival,
)
from deniable.collection.http.problems import MEDIA_TYPE, problem_of, status_of
from deniable.collection.http.requests import read_body
from deniable.collection.http.watch import SECURITY_HEADERS
from deniable.collection.reading import read_submission
from deniable.collection.tokens import hash_of
from deniable.errors import (
    ConflictError,
    DeniableError,
    DigestError,
    InvitationError,
    RateError,
    ReportError,
    RequestError,
    StateError,
    TooLargeError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.types import Receive, Scope, Send

    from deniable.collection.arrival import Fate
    from deniable.collection.http.desk import Desk
    from deniable.collection.offer import Offer
    from deniable.collection.reading import Item, Submission

JSON: Final = "application/json"
_PLAIN: Final = [(b"content-type", JSON.encode()), *SECURITY_HEADERS]
_PROBLEM: Final = [(b"content-type", MEDIA_TYPE.encode()), *SECURITY_HEADERS]

_ERRORS: Final[Mapping[Fate, DeniableError]] = {
    CONFLICT: ConflictError("a report of this id was kept and says something else"),
    SURVEY_CLOSED: StateError("the survey is closed"),
    UNINVITED: InvitationError(
        "this survey needs an invitation", expected="the code you were given"
    ),
    INVITATION_USED: InvitationError("this invitation was used", expected="one report for each"),
}


class Accept:
    """Keep reports; answer after a durable commit, with one result for each, in order.

    An ASGI application of its own: at thousands of requests a second the framework's
    conveniences would cost more than all that is done here.
    """

    def __init__(self, desk: Desk) -> None:
        """Answer at a desk."""
        self._desk = desk

    async def __call__(self, name: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request with reports for the survey of a name."""
        desk = self._desk
        offer = await desk.offer(name)
        try:
            address = _address(scope)
            most = desk.rates.most(address)
            is_limited = most < inf
            if is_limited:
                _check_rate(desk, address, 1)
            body = await read_body(receive, desk.settings.largest_body)
            submission = read_submission(body)
            _check_size(submission, min(desk.settings.most_reports, most))
            if is_limited:
                _check_rate(desk, address, len(submission.items) - 1)
        except DeniableError as error:
            _refuse(desk, offer, error)
            raise
        results = await _results(desk, offer, submission)
        answer = _answer(submission.ids, results)
        status, headers = 200, _PLAIN
        body = b'{"results":' + answer + b"}"
        if len(results) == 1 and isinstance(results[0], DeniableError):
            problem = problem_of(results[0]) | {"results": msgspec.Raw(answer)}
            status, headers, body = status_of(results[0]), _PROBLEM, msgspec.json.encode(problem)
        headers = [(b"content-length", str(len(body)).encode()), *headers]
        desk.metrics.requests[status] += 1
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


async def _results(
    desk: Desk, offer: Offer, submission: Submission
) -> Sequence[DeniableError | Fate]:
    """Return for each report its fate, or why it was refused."""
    code = hash_of(submission.invitation) if submission.invitation else ""
    blocks = [item.block for item in submission.items if not isinstance(item, DeniableError)]
    if offer.current is None or not offer.blocks.keys() >= set(blocks):
        # Another worker may have opened a block, or the survey may have closed.
        offer = await desk.fresh_offer(offer.name)
    results: list[DeniableError | Fate] = []
    arrivals: list[Arrival] = []
    places: list[int] = []
    check, key = offer.check, offer.key
    for item, name in zip(submission.items, submission.ids, strict=True):
        try:
            if isinstance(item, DeniableError) or name is None:
                raise _fault_of(item)
            block, values = check(item)
        except DeniableError as error:
            results.append(error)
            _refuse(desk, offer, error, _reason_of(error, item, offer))
        else:
            places.append(len(results))
            results.append(ACCEPTED)
            arrivals.append(Arrival(key, name, block, item.view, values, code))
    if arrivals:
        for place, fate in zip(places, await desk.commits.put(arrivals), strict=True):
            desk.metrics.reports[fate] += 1
            if fate in KEPT:
                results[place] = fate
            else:
                results[place] = _ERRORS[fate]
                _refuse(desk, offer, _ERRORS[fate], fate)
    return results


def _fault_of(item: Item) -> DeniableError:
    """Return what is wrong with an item; one without an id never reads as a report."""
    return item if isinstance(item, DeniableError) else ReportError("a report without an id")


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""


def _check_rate(desk: Desk, address: str, reports: int) -> None:
    wait = desk.rates.wait_for(address, reports)
    if wait:
        problem = "reports come faster than this server allows"
        error = RateError(problem, expected=f"a pause of {wait:.1f} s")
        error.wait = wait
        raise error


def _check_size(submission: Submission, most: float) -> None:
    if not submission.items:
        raise RequestError("a submission without reports", expected="at least one report")
    if len(submission.items) > most:
        problem = "too many reports in one request"
        raise TooLargeError(problem, given=len(submission.items), expected=f"at most {int(most)}")
    if submission.invitation and len(submission.items) != 1:
        problem = "an invitation is good for one report"
        raise RequestError(problem, given=len(submission.items), expected="1 report")


def _reason_of(error: DeniableError, item: Item, offer: Offer) -> str:
    """Return by what name a refusal is counted: of two digests, the one that was wrong."""
    if not isinstance(error, DigestError) or isinstance(item, DeniableError):
        return error.code
    return "wrong-block" if item.design == offer.design.digest else "wrong-design"


def _refuse(desk: Desk, offer: Offer, error: DeniableError, reason: str | None = None) -> None:
    """Count a refusal by its reason; nothing else of the report is remembered."""
    reason = error.code if reason is None else reason
    desk.metrics.refusals[reason] += 1
    desk.commits.refuse(offer.key, reason)


_STATUS_BYTES: Final = {
    ACCEPTED: b'","status":"accepted"}',
    REPEATED: b'","status":"repeated"}',
}


def _answer(ids: Sequence[str | None], results: Sequence[DeniableError | Fate]) -> bytes:
    """Write the results; an accepted id is base64url and needs no escapes."""
    parts = []
    for name, result in zip(ids, results, strict=True):
        if isinstance(result, DeniableError):
            parts.append(msgspec.json.encode({"id": name, "problem": problem_of(result)}))
        else:
            parts.append(b'{"id":"' + (name or "").encode() + _STATUS_BYTES[result])
    return b"[" + b",".join(parts) + b"]"
