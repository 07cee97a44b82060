"""Post: messages between the parties of a sum, within a process or over HTTP."""

from __future__ import annotations

import queue
import threading
from collections import defaultdict
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Protocol

import numpy as np

from deniable.errors import SharingError
from deniable.sharing.address import PATIENCE_SECONDS, Address, address_from, reason_of
from deniable.sharing.party import Party, digest_of, sum_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from deniable.sharing.shares import Vector

LONGEST_BODY = 2**28


@dataclass(frozen=True, slots=True)
class Message:
    """What one party sends another.

    Attributes:
        topic: What it is: ``deal``, ``announce`` or ``heard``, or a word of the caller's.
        sender: The number of the party it comes from.
        body: A vector.
    """

    topic: str
    sender: int
    body: Vector


class Post(Protocol):
    """How messages travel."""

    def send(self, receiver: int, message: Message) -> None:
        """Deliver a message, or raise ``SharingError``."""

    def receive(self, topic: str) -> Message:
        """Wait for the next message on a topic; ``SharingError`` if none comes."""


class Inbox:
    """Messages that have come, by topic."""

    def __init__(self, patience: float = PATIENCE_SECONDS) -> None:
        """Begin empty.

        Args:
            patience: Seconds to wait for a message.
        """
        self._patience = patience
        self._waiting: defaultdict[str, queue.Queue[Message]] = defaultdict(queue.Queue)

    def put(self, message: Message) -> None:
        """Keep a message."""
        self._waiting[message.topic].put(message)

    def receive(self, topic: str) -> Message:
        """Wait for the next message on a topic."""
        try:
            return self._waiting[topic].get(timeout=self._patience)
        except queue.Empty:
            problem = f"no more {topic!r} came in {self._patience:g} seconds"
            expected = "every party at its place; begin again without those who left"
            raise SharingError(problem, expected=expected) from None


class LocalPost(Inbox):
    """Post within one process."""

    def __init__(self, offices: list[LocalPost], patience: float = PATIENCE_SECONDS) -> None:
        """Open an inbox and enter it in the list of all."""
        super().__init__(patience)
        self._offices = offices
        offices.append(self)

    def send(self, receiver: int, message: Message) -> None:
        """Put a message into another's inbox."""
        self._offices[receiver].put(message)


class HttpPost(Inbox):
    """Post over HTTP: an inbox that listens, and the addresses of the others.

    Dealt rows are secrets between two parties: across machines put TLS in front of it, and
    give its address as text, ``https://…``. It believes who a sender says it is, so put it
    behind what knows the parties.
    """

    def __init__(self, port: int = 0, patience: float = PATIENCE_SECONDS) -> None:
        """Listen on this machine; port 0 takes a free one."""
        super().__init__(patience)
        self.addresses: Mapping[int, tuple[str, int] | str] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _listener_for(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def address(self) -> tuple[str, int]:
        """Return the host and port that the others send to."""
        host, port = self._server.server_address[:2]
        return str(host), int(port)

    def send(self, receiver: int, message: Message) -> None:
        """Post a message to another's inbox."""
        known = self.addresses[receiver]
        address = address_from(known) if isinstance(known, str) else Address("http", *known)
        path, body = f"/{message.topic}/{message.sender}", message.body.astype("<u4").tobytes()
        try:
            status, _ = address.ask("POST", path, body, patience=self._patience)
        except OSError as error:
            problem = f"party {receiver} cannot be reached: {reason_of(error)}"
            expected = "every party at its place"
            raise SharingError(problem, given=str(address), expected=expected) from error
        if status != HTTP_ACCEPTED:
            problem = f"party {receiver} refused a message"
            raise SharingError(problem, given=status, expected=f"{HTTP_ACCEPTED}")

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        """Return the post itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop listening."""
        self.close()


HTTP_ACCEPTED = 202
HTTP_REFUSED = 400


def _listener_for(inbox: Inbox) -> type[BaseHTTPRequestHandler]:
    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            """Take one message in."""
            parts = self.path.strip("/").split("/")
            length = self.headers.get("Content-Length", "")
            topic, sender = (*parts, "", "")[:2]
            whole = length.isdigit() and int(length) <= LONGEST_BODY and int(length) % 4 == 0
            if len(parts) != len(("topic", "sender")) or not sender.isdigit() or not whole:
                self.send_response(HTTP_REFUSED)
            else:
                body = np.frombuffer(self.rfile.read(int(length)), "<u4").astype(np.uint32)
                inbox.put(Message(topic, int(sender), body))
                self.send_response(HTTP_ACCEPTED)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing: who sent when is nobody's business."""

    return Listener


def take_part(party: Party, post: Post) -> Vector:
    """Carry out one party's side of the protocol; return the sums, as every party does.

    In the end the parties compare the hash of what each has heard.

    Raises:
        SharingError: Somebody left, or told one party this and another that.
    """
    others = [number for number in range(party.parties) if number != party.number]
    dealt = party.deal()
    party.collect(party.number, dealt[party.number])
    for receiver in others:
        post.send(receiver, Message("deal", party.number, dealt[receiver]))
    for _ in others:
        message = post.receive("deal")
        party.collect(message.sender, message.body)
    said = _told(party, post, "announce", party.announce())
    sums = sum_of(said, party.parties)
    heard = np.frombuffer(bytes.fromhex(digest_of(said)), "<u4").astype(np.uint32)
    hashes = _told(party, post, "heard", heard)
    differ = sorted(one for one, other in hashes.items() if not np.array_equal(other, heard))
    if differ:
        problem = "some parties have heard something else"
        expected = "the same from everybody; somebody told one this and another that"
        raise SharingError(problem, given=differ[:8], expected=expected)
    return sums


def _told(party: Party, post: Post, topic: str, own: Vector) -> dict[int, Vector]:
    """Tell everybody something, and return what everybody has told, one's own included."""
    others = [number for number in range(party.parties) if number != party.number]
    for receiver in others:
        post.send(receiver, Message(topic, party.number, own))
    said = {party.number: own}
    for _ in others:
        message = post.receive(topic)
        if message.sender in said:
            problem = "a party spoke twice"
            raise SharingError(problem, given=message.sender, expected="one word from each")
        if message.body.shape != own.shape:
            problem = "what a party said does not fit the tables"
            raise SharingError(problem, given=message.sender, expected=f"{own.size} numbers")
        said[message.sender] = message.body
    return said
