"""Send a report, and send the same bytes again until somebody has kept them."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.errors import SubmissionError
from deniable.protocol import encode_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deniable.device.device import Device
    from deniable.protocol import Report

OK = range(200, 300)
TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}
LONGEST_WAIT = 60.0
BROKEN = (OSError, http.client.HTTPException)
"""What the standard library raises where a connection fails, at once or half-way."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server said."""

    status: int
    body: bytes = b""
    retry_after: float | None = None


def reports_body(reports: Sequence[Report], invitation: str | None = None) -> bytes:
    """Return the body of a submission: the reports' own bytes, in order."""
    code = b"" if invitation is None else b',"invitation":' + json.dumps(invitation).encode()
    return b'{"reports":[' + b",".join(report.to_bytes() for report in reports) + b"]" + code + b"}"


def post(url: str, body: bytes, *, timeout: float = 30.0) -> Reply:
    """Post JSON with the standard library; unreachable is status 503."""
    if not _is_web_address(url):
        problem = "reports are sent by http or https"
        raise SubmissionError(problem, given=url, expected="an address such as https://…")
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, data=body, headers=headers)  # noqa: S310 - checked above
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:  # noqa: S310
            return Reply(answer.status, answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return Reply(error.code, _rest_of(error), _seconds(error.headers.get("Retry-After")))
    except BROKEN:
        return Reply(503)


def _is_web_address(url: str) -> bool:
    try:
        parts = urllib.parse.urlsplit(url)
        return parts.scheme in {"https", "http"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _rest_of(error: urllib.error.HTTPError) -> bytes:
    """Return what a refusal says, as far as it arrives."""
    try:
        return error.read()
    except BROKEN:
        return b""


def submit(
    device: Device,
    url: str,
    *,
    survey: str | None = None,
    invitation: str | None = None,
    attempts: int = 6,
    send: Callable[[str, bytes], Reply] = post,
    wait: Callable[[float], None] = time.sleep,
) -> int:
    """Send every report the device still holds to ``url``; return how many arrived.

    A report that was refused or timed out is sent again unchanged, now and at the next
    call: randomizing a retry would be a second answer. One refusal does not keep the
    other reports back; it is raised when all were tried.

    Args:
        device: The device that holds the reports.
        url: Where the survey's reports go.
        survey: Send the reports of this survey only.
        invitation: The code that a survey by invitation asks for.
        attempts: How often to try each report.
        send: Posts a body to an address.
        wait: Sleeps between attempts.
    """
    arrived = 0
    failure: SubmissionError | None = None
    for report in device.unsent(survey):
        try:
            _deliver(url, reports_body([report], invitation), report, attempts, send, wait)
        except SubmissionError as error:
            failure = failure or error
        else:
            device.mark_sent(report)
            arrived += 1
    if failure is not None:
        raise failure
    return arrived


def _deliver(
    url: str,
    body: bytes,
    report: Report,
    attempts: int,
    send: Callable[[str, bytes], Reply],
    wait: Callable[[float], None],
) -> None:
    for attempt in range(attempts):
        reply = send(url, body)
        if reply.status in OK:
            _check_accepted(reply, report)
            return
        if reply.status not in TRY_AGAIN:
            problem = "the server refused a report"
            raise SubmissionError(problem, given=_sentence(reply), expected="a report it accepts")
        if attempt + 1 < attempts:
            wait(min(reply.retry_after or 0.5 * 2**attempt, LONGEST_WAIT))
    problem = f"the server could not be reached in {attempts} attempts"
    raise SubmissionError(problem, expected="a later call, which sends the same bytes again")


def _check_accepted(reply: Reply, report: Report) -> None:
    """Believe the server only if it names this very report as kept."""
    name = encode_bytes(report.identity)
    try:
        results = json.loads(reply.body)["results"]
        (result,) = [one for one in results if one["id"] == name]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        problem = "the server did not say that it kept the report"
        raise SubmissionError(problem, expected="a result for each report") from error
    if "problem" in result:
        problem = "the server refused a report"
        given = str(result["problem"])[:500]
        raise SubmissionError(problem, given=given, expected="a report it accepts")


def _sentence(reply: Reply) -> str:
    try:
        found = json.loads(reply.body)
        return str(found.get("detail") or found.get("title") or reply.status)[:500]
    except (ValueError, AttributeError, RecursionError):
        return f"status {reply.status}"


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else max(0.0, float(text))
    except ValueError:
        return None
