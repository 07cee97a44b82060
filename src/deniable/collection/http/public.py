"""The routes that need no token: what a device must know, and whether the server lives."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Route

from deniable.collection import assets
from deniable.collection.http.metrics import TEXT_FORM
from deniable.collection.http.problems import STATUS
from deniable.collection.http.reports import JSON
from deniable.collection.store import CLOSED, PUBLISHED
from deniable.errors import NotFoundError

if TYPE_CHECKING:
    from starlette.requests import Request

    from deniable.collection.http.desk import Desk
    from deniable.collection.offer import Offer

IMMUTABLE = "public, max-age=31536000, immutable"
BRIEFLY = "public, max-age=1"
FOR_AN_HOUR = "public, max-age=3600"
BETWEEN_BLOCKS_SECONDS = 2


async def describe(request: Request) -> Response:
    """Return what a respondent's page needs: the survey, its design and its open block."""
    desk: Desk = request.app.state.desk
    offer = await desk.offer_to_answer(request.path_params["name"])
    found = {
        "name": offer.name,
        "state": CLOSED if offer.is_closed else PUBLISHED,
        "invited": offer.invited,
        "design": offer.design.digest,
        "block": None if offer.current is None else offer.current.digest,
        "survey": offer.document,
    }
    return Response(msgspec.json.encode(found), 200, headers_of(offer), JSON)


def headers_of(offer: Offer) -> dict[str, str]:
    """Return what is said beside a survey: how long it holds, and when to ask for a block again."""
    headers = {"Cache-Control": "no-cache" if offer.is_followed else BRIEFLY}
    if offer.is_between_blocks:
        headers["Retry-After"] = str(BETWEEN_BLOCKS_SECONDS)
    return headers


async def design(request: Request) -> Response:
    """Return a published design: the very bytes whose digest is its address."""
    return await _published(request, "design")


async def block(request: Request) -> Response:
    """Return a published block: the very bytes whose digest is its address."""
    return await _published(request, "block")


async def _published(request: Request, what: str) -> Response:
    desk: Desk = request.app.state.desk
    digest = request.path_params["digest"]

    def load() -> bytes | None:
        with desk.collection.store.reading() as reading:
            return reading.design(digest) if what == "design" else reading.block(digest)

    body = await run_in_threadpool(load)
    if body is None:
        raise NotFoundError(f"there is no {what} of this digest", given=digest[:80])
    return _unless_known(request, body, digest, IMMUTABLE)


def _unless_known(request: Request, body: bytes, tag: str, caching: str) -> Response:
    """Answer with a body, or with nothing if whoever asks holds it already."""
    headers = {"Cache-Control": caching, "ETag": f'"{tag}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(body, 200, headers, JSON)


async def interface(request: Request) -> Response:
    """Return what this server takes and says, for programs."""
    body, tag = _interface()
    return _unless_known(request, body, tag, FOR_AN_HOUR)


@cache
def _interface() -> tuple[bytes, str]:
    body = assets.interface()
    return body, hashlib.sha256(body).hexdigest()[:16]


async def health(request: Request) -> Response:
    """Tell whether the server can reach its store."""
    desk: Desk = request.app.state.desk

    def ask() -> None:
        with desk.collection.store.reading() as reading:
            reading.server()

    await run_in_threadpool(ask)
    return Response(b'{"status":"ok"}', media_type=JSON)


async def metrics(request: Request) -> Response:
    """Return counters for a monitor."""
    desk: Desk = request.app.state.desk
    text = await run_in_threadpool(desk.metrics.to_text, desk.commits.waiting)
    return Response(text, media_type=TEXT_FORM)


async def problem(request: Request) -> Response:
    """Explain a kind of problem; its address is the problem's type."""
    code = request.path_params["code"]
    if code not in STATUS:
        raise NotFoundError("there is no problem of this code", given=code[:80])
    status, title = STATUS[code]
    found = {"type": f"/v1/problems/{code}", "title": title, "status": status}
    return Response(msgspec.json.encode(found), media_type=JSON)


ROUTES = [
    Route("/v1/surveys/{name}", describe, methods=["GET"]),
    Route("/v1/designs/{digest}", design, methods=["GET"]),
    Route("/v1/blocks/{digest}", block, methods=["GET"]),
    Route("/v1/openapi.json", interface, methods=["GET"]),
    Route("/v1/problems/{code}", problem, methods=["GET"]),
    Route("/v1/health", health, methods=["GET"]),
    Route("/metrics", metrics, methods=["GET"]),
]
