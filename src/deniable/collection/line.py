"""A connection to a server that is kept open: what simulated devices and other servers call by."""

from __future__ import annotations

import http.client
import json
import re
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from deniable.device import Reply
from deniable.device.submit import BROKEN
from deniable.errors import SubmissionError

if TYPE_CHECKING:
    from urllib.parse import SplitResult

TIMEOUT_SECONDS: Final = 30.0
KINDS: Final = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}


class Line:
    """A connection that is kept open: what a device sends with, many times over.

    Attributes:
        address: The server, without whatever secret stood in what was given.
    """

    def __init__(self, address: str) -> None:
        """Remember where to call; the connection opens when first used."""
        parts = _parts_of(address)
        self.address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        kind = KINDS[parts.scheme]
        self._connection = kind(str(parts.hostname), parts.port, timeout=TIMEOUT_SECONDS)

    def close(self) -> None:
        """Hang up; the next call opens the connection again."""
        self._connection.close()

    def get(self, path: str, token: str = "") -> bytes:
        """Return what stands at a path; some of it needs a token."""
        reply = self.ask("GET", path, token=token)
        if reply.status != http.HTTPStatus.OK:
            given = self.read(reply).get("detail", reply.status)
            raise SubmissionError(f"{self.address} did not hand out {path}", given=given)
        return reply.body

    def post_tally(self, url: str, body: bytes, token: str) -> str:
        """Send a tally into a server; return whether it was new there."""
        reply = self.ask("POST", urlsplit(url).path, body, token)
        found = self.read(reply)
        if reply.status not in {200, 201}:
            given = found.get("detail", reply.status)
            raise SubmissionError("the server did not take the tally", given=given)
        if "status" not in found:
            raise stranger(self.address, reply)
        return str(found["status"])

    def send(self, url: str, body: bytes) -> Reply:
        """Post a body, as ``deniable.device.submit`` asks; unreachable is status 503."""
        try:
            return self._call("POST", urlsplit(url).path, body)
        except BROKEN:
            return Reply(503)

    def ask(self, method: str, path: str, body: bytes = b"", token: str = "") -> Reply:
        """Return what the server says, whatever it is.

        Raises:
            SubmissionError: Nobody answers.
        """
        was_open = self._connection.sock is not None
        try:
            return self._call(method, path, body, token)
        except BROKEN as error:
            if was_open:  # the server hangs up on those who are silent for long
                return self.ask(method, path, body, token)
            problem = f"no server answers at {self.address}"
            given = getattr(error, "strerror", None)
            raise SubmissionError(problem, given=given, expected="one that runs there") from error

    def read(self, reply: Reply) -> dict[str, Any]:
        """Return the JSON of a reply, or say that no server of ours gave it."""
        try:
            found = json.loads(reply.body)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise stranger(self.address, reply)
        return found

    def _call(self, method: str, path: str, body: bytes, token: str = "") -> Reply:
        headers = {"Content-Type": "application/json"} if body else {}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            self._connection.request(method, path, body or None, headers)
            answer = self._connection.getresponse()
            text = answer.getheader("Retry-After")
            wait = float(text) if text and text.isdigit() else None
            return Reply(answer.status, answer.read(), wait)
        except BROKEN:
            self._connection.close()
            raise


def stranger(address: str, reply: Reply) -> SubmissionError:
    """Say that whoever answers is another kind of server."""
    problem = f"what answers at {address} collects no surveys"
    expected = "the address of a server started with 'deniable serve'"
    return SubmissionError(problem, given=f"status {reply.status}", expected=expected)


def _parts_of(address: str) -> SplitResult:
    """Return the parts of a web address that can be called."""
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").encode("idna").decode()
        is_good = parts.scheme in KINDS and parts.port != 0 and re.fullmatch(r"[!-~]+", host)
    except ValueError:
        is_good = None
    if not is_good or re.search(r"[^!-~]", parts.path):
        problem = "this is no address of a server"
        raise SubmissionError(problem, given=address, expected="such as http://localhost:8000")
    return parts
