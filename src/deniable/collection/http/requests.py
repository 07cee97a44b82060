"""What every route asks of a request: its body, its token, its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.errors import RequestError, TooLargeError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive


async def read_body(receive: Receive, largest: int) -> bytes:
    """Return a request's body, unless it is larger than the server reads."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RequestError("the request broke off", expected="the whole of it")
        body = message.get("body", b"")
        size += len(body)
        if size > largest:
            raise TooLargeError("the request is too large", expected=f"at most {largest} bytes")
        parts.append(body)
        if not message.get("more_body"):
            return b"".join(parts)


def token_in(request: Request) -> str | None:
    """Return the token of the header Authorization. It is never read from an address."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" and token.strip() else None


def integer_in(request: Request, name: str, default: int, *, most: int) -> int:
    """Return a number from the query."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > len(str(most)) or int(text) > most:
        raise RequestError(f"{name} is no number that fits", expected=f"0 to {most}")
    return int(text)


def flag_in(request: Request, name: str) -> bool:
    """Return a yes or no from the query."""
    text = request.query_params.get(name, "false")
    if text not in {"true", "false"}:
        raise RequestError(f"{name} must be true or false")
    return text == "true"
