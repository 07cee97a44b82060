"""A desk: an aggregator that listens to devices and to the others over HTTP.

``PUT /shares/ID`` brings one device's share and, in the header ``Deniable-Kind``, what it
is made of. ``GET /kind`` says of what kind all shares are, with nothing while none has come,
and ``GET /identities`` whose shares have come. ``POST /total`` names the respondents whom all
aggregators agreed on and is answered with the sum of their shares. Bodies are words,
identities 16 bytes each; a refusal has the status 409 and the parts of its sentence as JSON.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Final

import numpy as np

from deniable.channels.coin import ID_BYTES
from deniable.errors import SharingError
from deniable.sharing.address import Address, reason_of
from deniable.sharing.kind import kind_from
from deniable.sharing.post import HTTP_REFUSED, LONGEST_BODY

if TYPE_CHECKING:
    from typing import Self

    from deniable.sharing.aggregator import Aggregator

HTTP_DONE: Final = 200
HTTP_CONFLICT: Final = 409
KIND_HEADER: Final = "Deniable-Kind"


class Desk:
    """An aggregator behind HTTP on this machine. Across machines put TLS in front of it.

    It knows nobody: put it behind what knows the devices and the other aggregators.
    """

    def __init__(self, aggregator: Aggregator, port: int = 0, host: str = "127.0.0.1") -> None:
        """Listen; port 0 takes a free one."""
        self.aggregator = aggregator
        known = {"aggregator": aggregator, "lock": threading.Lock()}
        listener = type("Listener", (_Listener,), known)
        try:
            self._server = ThreadingHTTPServer((host, port), listener)
        except OSError as error:
            problem = f"nobody can listen there: {reason_of(error)}"
            given = str(Address("http", host, port))
            raise SharingError(
                problem, given=given, expected="a free port, or 0 for any"
            ) from error
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


def divided(body: bytes) -> list[bytes]:
    """Return the identities that a body holds."""
    return [body[start : start + ID_BYTES] for start in range(0, len(body), ID_BYTES)]


class _Listener(BaseHTTPRequestHandler):
    aggregator: Aggregator
    lock: threading.Lock

    def do_PUT(self) -> None:
        """Take a share in."""
        identity, body, said = self._identity(), self._body(), self.headers.get(KIND_HEADER)
        if identity is None or body is None or len(body) % 4 or said is None:
            self._answer(HTTP_REFUSED, b"a share under an id, and its kind")
            return
        try:
            share, kind = np.frombuffer(body, "<u4").astype(np.uint32), kind_from(said)
            with self.lock:
                self.aggregator.accept(identity, share, kind)
        except SharingError as error:
            self._refuse(error)
        else:
            self._answer(HTTP_DONE, b"")

    def do_GET(self) -> None:
        """Say whose shares are here, or of what kind they are."""
        with self.lock:
            kind, identities = self.aggregator.kind, self.aggregator.identities
        if self.path == "/identities":
            self._answer(HTTP_DONE, b"".join(sorted(identities)))
        elif self.path == "/kind":
            self._answer(HTTP_DONE, b"" if kind is None else kind.text.encode())
        else:
            self._answer(HTTP_REFUSED, b"/identities or /kind")

    def do_POST(self) -> None:
        """Add up the shares of those who were agreed on."""
        body = self._body()
        if self.path != "/total" or body is None or len(body) % ID_BYTES:
            self._answer(HTTP_REFUSED, b"/total, with identities")
            return
        try:
            with self.lock:
                total = self.aggregator.total(divided(body))
        except SharingError as error:
            self._refuse(error)
        else:
            self._answer(HTTP_DONE, total.astype("<u4").tobytes())

    def _refuse(self, error: SharingError) -> None:
        parts = {"problem": error.problem, "given": error.given, "expected": error.expected}
        self._answer(HTTP_CONFLICT, json.dumps(parts).encode())

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
