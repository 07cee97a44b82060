"""What every answer has: the security headers, and its place in the counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections import Counter

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECURITY_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Watch:
    """Adds the security headers to every answer, and counts it."""

    def __init__(self, app: ASGIApp, requests: Counter[int]) -> None:
        """Watch an application, and count its answers by status."""
        self._app = app
        self._requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *SECURITY_HEADERS]
                self._requests[message["status"]] += 1
            await send(message)

        await self._app(scope, receive, watched)
