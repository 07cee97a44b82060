"""A connection that fails, at once or half-way, is a server out of reach and never a crash."""

from __future__ import annotations

import socketserver
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from deniable.device import post
from deniable.errors import SubmissionError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def server_that_says(words: bytes) -> Iterator[str]:
    """Serve these bytes to whoever comes, and hang up."""

    class Reply(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            """Wait for the whole request, so that nothing but the reply can go wrong."""
            received = b""
            while b"{}" not in received:
                received += self.request.recv(65536)
            self.request.sendall(words)

    with socketserver.TCPServer(("127.0.0.1", 0), Reply) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/reports"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("words", "status", "body"),
    [
        (b"", 503, b""),
        (b"what?\r\n\r\n", 503, b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", 503, b""),
        (b"HTTP/1.1 422 No\r\nContent-Length: 99\r\n\r\n{", 422, b""),
        (b"HTTP/1.1 422 No\r\nContent-Length: 2\r\n\r\n{}", 422, b"{}"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", 200, b"{}"),
    ],
    ids=["nothing", "no HTTP", "half a reply", "half a refusal", "a refusal", "a reply"],
)
def test_whatever_a_server_says_is_a_reply(words: bytes, status: int, body: bytes) -> None:
    """Half a reply is none, and half a refusal is one without its words."""
    with server_that_says(words) as url:
        reply = post(url, b"{}")
    assert (reply.status, reply.body) == (status, body)


@pytest.mark.parametrize("url", ["http://", "https://[::1", "http://127.0.0.1:0/", "file:///x", ""])
def test_what_is_no_address_of_a_server_is_refused(url: str) -> None:
    """A slip in an address is told at once, and not tried six times."""
    with pytest.raises(SubmissionError, match="http or https"):
        post(url, b"{}")


def test_a_host_that_cannot_be_is_out_of_reach() -> None:
    """Whatever is the matter with a host, it is no crash."""
    assert post("http://a b/", b"{}").status == 503
