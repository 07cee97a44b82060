"""What every route asks of a request: its body, its token, its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.errors import RequestError, TooLargeError, nearest

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


def check_query(request: Request, *known: str) -> None:
    """Refuse what a route does not ask: a misspelt wish would be granted as if it were not made."""
    said = [name for name, _ in request.query_params.multi_items()]
    for name in said:
        if name not in known:
            expected = nearest(name, known) if known else "no query"
            problem = "this address asks for nothing of this name"
            raise RequestError(problem, given=name[:80], expected=expected)
        if said.count(name) > 1:
            raise RequestError(f"{name} is said more than once", expected=f"one {name}")


def integer_in(request: Request, name: str, default: int, *, least: int = 0, most: int) -> int:
    """Return a number from the query."""
    text = request.query_params.get(name)
    if text is None:
        return default
    if (
        not text.isascii()
        or not text.isdigit()
        or len(text) > len(str(most))
        or not (least <= int(text) <= most)
    ):
        raise RequestError(f"{name} is no number that fits", expected=f"{least} to {most}")
    return int(text)


def flag_in(request: Request, name: str) -> bool:
    """Return a yes or no from the query."""
    text = request.query_params.get(name, "false")
    if text not in {"true", "false"}:
        raise RequestError(f"{name} must be true or false")
    return text == "true"
