"""Address: where an aggregator or a party listens, and one exchange of request and answer."""

from __future__ import annotations

from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, urlsplit

from deniable.errors import SharingError

if TYPE_CHECKING:
    from collections.abc import Mapping

PATIENCE_SECONDS: Final = 60.0
PORTS: Final = {"http": 80, "https": 443}
EXAMPLES: Final = "such as http://127.0.0.1:9001 or https://sums.example/first"


@dataclass(frozen=True, slots=True)
class Address:
    """Where somebody listens.

    Attributes:
        scheme: ``http``, or ``https`` where TLS stands in front.
        host: The name or number of the machine.
        port: Where on that machine.
        path: What stands before every path, without a slash at its end.
    """

    scheme: str
    host: str
    port: int
    path: str = ""

    def __str__(self) -> str:
        """Return it as a person writes it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"

    def ask(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        headers: Mapping[str, str] | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> tuple[int, bytes]:
        """Send a request and return the status and the body of the answer.

        Raises:
            OSError: It cannot be reached, or does not speak HTTP.
        """
        # The certificate of https is checked by the authorities that this machine trusts.
        kind = HTTPSConnection if self.scheme == "https" else HTTPConnection
        connection = kind(self.host, self.port, timeout=patience)
        try:
            connection.request(method, self.path + path, body, dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, answer.read()
        except HTTPException as error:
            raise ConnectionError(0, f"no HTTP answer: {type(error).__name__}") from error
        finally:
            connection.close()


def address_from(text: str) -> Address:
    """Read an address.

    >>> str(address_from("https://sums.example/first/"))
    'https://sums.example:443/first'
    """
    try:
        parts = urlsplit(text)
        port = parts.port or PORTS.get(parts.scheme)
    except ValueError:
        parts, port = SplitResult("", "", "", "", ""), None
    more = parts.query or parts.fragment or parts.username or parts.password
    if parts.hostname is None or port is None or parts.scheme not in PORTS or more:
        problem = "an aggregator has an address"
        raise SharingError(problem, given=text, expected=EXAMPLES)
    return Address(parts.scheme, parts.hostname, port, parts.path.rstrip("/"))


def reason_of(error: OSError) -> str:
    """Return why somebody could not be reached, in the system's words."""
    return str(getattr(error, "verify_message", "") or error.strerror or error) or "no answer"
