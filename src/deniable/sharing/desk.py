"""A desk: an aggregator that listens, and how devices and the others reach it over HTTP.

``PUT /shares/ID`` brings one device's share, ``GET /identities`` says whose shares have
come, ``POST /total`` names the respondents whom all aggregators agreed on and is answered
with the sum of their shares. Bodies are words, identities 16 bytes each.
"""

from __future__ import annotations

import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import urlsplit

import numpy as np

from deniable.channels.coin import ID_BYTES
from deniable.errors import SharingError
from deniable.sharing.post import HTTP_REFUSED, LONGEST_BODY, PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from deniable.sharing.aggregator import Aggregator
    from deniable.sharing.shares import Vector

HTTP_DONE: Final = 200
HTTP_CONFLICT: Final = 409


class Adding(Protocol):
    """One who adds up shares, here or elsewhere."""

    def accept(self, identity: bytes, share: Vector) -> None:
        """Keep a respondent's share, once."""

    @property
    def identities(self) -> frozenset[bytes]:
        """Return whose shares have come."""

    def total(self, agreed: Iterable[bytes]) -> Vector:
        """Return the sum of the shares of those whom all agreed on."""


class Desk:
    """An aggregator behind HTTP on this machine. Across machines put TLS in front of it.

    It knows nobody: put it behind what knows the devices and the other aggregators.
    """

    def __init__(self, aggregator: Aggregator, port: int = 0, host: str = "127.0.0.1") -> None:
        """Listen; port 0 takes a free one."""
        self.aggregator = aggregator
        known = {"aggregator": aggregator, "lock": threading.Lock()}
        listener = type("Listener", (_Listener,), known)
        self._server = ThreadingHTTPServer((host, port), listener)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """Return where it can be reached."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        """Return the desk itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop listening."""
        self.close()


class RemoteAggregator:
    """An aggregator at a desk elsewhere."""

    def __init__(self, address: str, patience: float = PATIENCE_SECONDS) -> None:
        """Remember where it is.

        Args:
            address: Such as ``http://127.0.0.1:9001``.
            patience: Seconds to wait for an answer.
        """
        parts = urlsplit(address)
        if parts.scheme != "http" or parts.hostname is None:
            problem = "an aggregator has an address"
            raise SharingError(problem, given=address, expected="such as http://127.0.0.1:9001")
        self._place = (parts.hostname, parts.port or 80)
        self._patience = patience

    def accept(self, identity: bytes, share: Vector) -> None:
        """Send a respondent's share; the same again does no harm."""
        self._ask("PUT", f"/shares/{identity.hex()}", share.astype("<u4").tobytes())

    @property
    def identities(self) -> frozenset[bytes]:
        """Return whose shares have come."""
        found = self._ask("GET", "/identities", b"")
        return frozenset(_divided(found))

    def total(self, agreed: Iterable[bytes]) -> Vector:
        """Return the sum of the shares of those whom all agreed on."""
        found = self._ask("POST", "/total", b"".join(sorted(agreed)))
        return np.frombuffer(found, "<u4").astype(np.uint32)

    def _ask(self, method: str, path: str, body: bytes) -> bytes:
        connection = HTTPConnection(*self._place, timeout=self._patience)
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            found = answer.read()
        except OSError as error:
            problem = "an aggregator cannot be reached"
            given = f"{self._place[0]}:{self._place[1]}"
            expected = "every aggregator at its place; a share may be sent again"
            raise SharingError(problem, given=given, expected=expected) from error
        finally:
            connection.close()
        if answer.status != HTTP_DONE:
            problem = "an aggregator refused"
            raise SharingError(problem, given=answer.status, expected=found.decode() or "200")
        return found


def _divided(body: bytes) -> list[bytes]:
    return [body[start : start + ID_BYTES] for start in range(0, len(body), ID_BYTES)]


class _Listener(BaseHTTPRequestHandler):
    aggregator: Aggregator
    lock: threading.Lock

    def do_PUT(self) -> None:
        """Take a share in."""
        identity, body = self._identity(), self._body()
        if identity is None or body is None or len(body) % 4:
            self._answer(HTTP_REFUSED, b"a share under an id")
            return
        try:
            with self.lock:
                self.aggregator.accept(identity, np.frombuffer(body, "<u4").astype(np.uint32))
        except SharingError as error:
            self._answer(HTTP_CONFLICT, str(error).encode())
        else:
            self._answer(HTTP_DONE, b"")

    def do_GET(self) -> None:
        """Say whose shares are here."""
        if self.path != "/identities":
            self._answer(HTTP_REFUSED, b"/identities")
            return
        with self.lock:
            self._answer(HTTP_DONE, b"".join(sorted(self.aggregator.identities)))

    def do_POST(self) -> None:
        """Add up the shares of those who were agreed on."""
        body = self._body()
        if self.path != "/total" or body is None or len(body) % ID_BYTES:
            self._answer(HTTP_REFUSED, b"/total, with identities")
            return
        try:
            with self.lock:
                total = self.aggregator.total(_divided(body))
        except SharingError as error:
            self._answer(HTTP_CONFLICT, str(error).encode())
        else:
            self._answer(HTTP_DONE, total.astype("<u4").tobytes())

    def _identity(self) -> bytes | None:
        _, _, word = self.path.partition("/shares/")
        try:
            identity = bytes.fromhex(word)
        except ValueError:
            return None
        return identity if len(identity) == ID_BYTES else None

    def _body(self) -> bytes | None:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > LONGEST_BODY:
            return None
        return self.rfile.read(int(length))

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: who sent when is nobody's business."""
