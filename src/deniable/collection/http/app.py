"""The server as an ASGI application."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from deniable.collection.http import pages, public, staff
from deniable.collection.http.desk import Desk
from deniable.collection.http.problems import problem_response
from deniable.collection.http.reports import Accept
from deniable.collection.http.settings import Settings
from deniable.errors import DeniableError, NotFoundError, RequestError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from deniable.collection.service import Collection

_REPORTS: Final = re.compile(r"/v1/surveys/([^/]+)/reports")

SECURITY_HEADERS: Final = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


def create_app(collection: Collection, settings: Settings | None = None) -> Starlette:
    """Return the server for a collection."""
    desk = Desk(collection, Settings() if settings is None else settings)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        desk.open()
        yield
        await desk.close()

    app = Starlette(
        routes=[
            Route("/v1/surveys/{name}/reports", Accept(desk), methods=["POST"]),
            *public.ROUTES,
            *staff.ROUTES,
            *pages.ROUTES,
        ],
        lifespan=lifespan,
        exception_handlers={
            DeniableError: _refuse,
            HTTPException: _refuse_plainly,
        },
    )
    app.state.desk = desk
    app.add_middleware(_Shortcut, desk=desk)
    app.add_middleware(_Watch, desk=desk)
    return app


class _Watch:
    """Adds the security headers to every answer, and counts it."""

    def __init__(self, app: ASGIApp, desk: Desk) -> None:
        self._app = app
        self._counts = desk.metrics.requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *SECURITY_HEADERS]
                self._counts[message["status"]] += 1
            await send(message)

        await self._app(scope, receive, watched)


class _Shortcut:
    """Leads reports straight to their route: they are most of what a server ever gets."""

    def __init__(self, app: ASGIApp, desk: Desk) -> None:
        self._app = app
        self._accept = Accept(desk)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            found = _REPORTS.fullmatch(scope["path"])
            if found is not None:
                scope["path_params"] = {"name": found[1]}
                try:
                    await self._accept(scope, receive, send)
                except DeniableError as error:
                    await problem_response(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)


async def _refuse(request: Request, error: Exception) -> Response:
    del request
    if not isinstance(error, DeniableError):
        raise error
    return problem_response(error)


async def _refuse_plainly(request: Request, error: Exception) -> Response:
    """Answer the framework's own refusals the same way."""
    del request
    if isinstance(error, HTTPException) and error.status_code == 405:  # noqa: PLR2004
        response = problem_response(RequestError("this address does not take that method"))
        response.status_code = 405
        response.headers.update(error.headers or {})
        return response
    return problem_response(NotFoundError("there is nothing at this address"))
