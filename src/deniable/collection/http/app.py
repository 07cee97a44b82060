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
from deniable.collection.http.watch import Watch
from deniable.errors import DeniableError, NotFoundError, RequestError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    from deniable.collection.service import Collection

_REPORTS: Final = re.compile(r"/v1/surveys/([^/]+)/reports")


def create_app(collection: Collection, settings: Settings | None = None) -> Starlette:
    """Return the server for a collection."""
    desk = Desk(collection, Settings() if settings is None else settings)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        desk.open()
        yield
        await desk.close()

    app = _Server(
        routes=[
            Route("/v1/surveys/{name}/reports", _otherwise, methods=["POST"]),
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
    app.add_middleware(Watch, requests=desk.metrics.requests)
    return app


class _Server(Starlette):
    """The framework's application, with a short cut before everything of the framework's.

    Reports are most of what a server ever gets, and go straight to their route.
    """

    def build_middleware_stack(self) -> ASGIApp:
        """Return what requests go through."""
        return _Shortcut(super().build_middleware_stack(), self.state.desk)


class _Shortcut:
    """Leads reports to their route, and everything else to the framework."""

    def __init__(self, app: ASGIApp, desk: Desk) -> None:
        self._app = app
        self._accept = Accept(desk)
        self._requests = desk.metrics.requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            found = _REPORTS.fullmatch(scope["path"])
            if found is not None:
                try:
                    await self._accept(found[1], scope, receive, send)
                except DeniableError as error:
                    await Watch(problem_response(error), self._requests)(scope, receive, send)
                return
        await self._app(scope, receive, send)


async def _otherwise(request: Request) -> Response:
    """Stand where reports are posted, so that other methods are refused as such."""
    raise NotFoundError("reports go elsewhere", given=request.url.path)


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
