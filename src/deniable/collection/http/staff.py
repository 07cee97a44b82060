"""The routes that need a token: the life of a survey, and what was counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Route

from deniable.collection.http.exports import reports_as_csv, reports_as_lines
from deniable.collection.http.reports import JSON
from deniable.collection.http.requests import check_query, flag_in, integer_in, read_body
from deniable.collection.service import Terms
from deniable.collection.tokens import DAY, Scope, issue_token
from deniable.errors import NotFoundError, RequestError, ScopeError
from deniable.schema import Survey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request

    from deniable.collection.http.desk import Desk

NO_STORE: Final = {"Cache-Control": "no-store"}
LARGEST_TALLY: Final = 2**28


def _json(found: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(found), status, NO_STORE, JSON)


async def _survey_in(request: Request, desk: Desk) -> Survey:
    body = await read_body(request.receive, desk.settings.largest_body)
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise RequestError("a survey file is UTF-8 text") from error
    return await run_in_threadpool(Survey.parse, text)


def _terms(request: Request) -> Terms:
    seconds = integer_in(request, "block_seconds", 0, most=2**31 - 1)
    return Terms(invited=flag_in(request, "invited"), block_seconds=seconds)


async def listing(request: Request) -> Response:
    """List every survey and its state."""
    desk = await _managed_all(request)

    def load() -> list[dict[str, object]]:
        with desk.collection.store.reading() as reading:
            return [{"name": row.name, "state": row.state} for row in reading.surveys()]

    return _json({"surveys": await run_in_threadpool(load)})


async def draft(request: Request) -> Response:
    """Keep a survey file as a draft, or change the draft of that name."""
    desk = await _managed_all(request, "invited", "block_seconds")
    survey = await _survey_in(request, desk)
    await run_in_threadpool(desk.collection.draft, survey, _terms(request))
    return _json({"name": survey.name, "state": "draft"}, 201)


async def validate(request: Request) -> Response:
    """Tell what a survey file would cost and show, and keep nothing."""
    desk = await _managed_all(request, "people")
    people = integer_in(request, "people", 1000, least=1, most=10**9)
    survey = await _survey_in(request, desk)

    def foresee() -> dict[str, object]:
        from deniable.collection.forecast import forecast  # noqa: PLC0415 -- slow to load, and large

        return forecast(survey, people=people)

    return _json(await run_in_threadpool(foresee))


async def publish(request: Request) -> Response:
    """Freeze a draft and open its first block."""
    desk, name = await _managed(request)
    await run_in_threadpool(desk.collection.publish, name)
    return _json({"name": name, "state": "published"})


async def close(request: Request) -> Response:
    """Close a survey for good."""
    desk, name = await _managed(request)
    await run_in_threadpool(desk.collection.close, name)
    return _json({"name": name, "state": "closed"})


async def discard(request: Request) -> Response:
    """Forget a draft."""
    desk, name = await _managed(request)
    await run_in_threadpool(desk.collection.discard, name)
    return Response(status_code=204)


async def _managed_all(request: Request, *asked: str) -> Desk:
    desk: Desk = request.app.state.desk
    await desk.require(request, "manage", None)
    check_query(request, *asked)
    return desk


async def _managed(request: Request, *asked: str) -> tuple[Desk, str]:
    return await _entered(request, "manage", asked)


async def _researched(request: Request, *asked: str) -> tuple[Desk, str]:
    return await _entered(request, "research", asked)


async def _entered(request: Request, scope: Scope, asked: Sequence[str]) -> tuple[Desk, str]:
    """Check the token for a survey before anything else, then what the query may ask."""
    desk: Desk = request.app.state.desk
    name: str = request.path_params["name"]
    await desk.require(request, scope, name)
    check_query(request, *asked)
    return desk, name


async def invite(request: Request) -> Response:
    """Make invitation codes, shown once."""
    desk, name = await _managed(request, "count")
    count = integer_in(request, "count", 1, least=1, most=100_000)
    codes = await run_in_threadpool(desk.collection.invite, name, count)
    return _json({"codes": codes}, 201)


async def token(request: Request) -> Response:
    """Make a token for one survey, shown once."""
    desk, name = await _managed(request, "scope", "days")
    scope = request.query_params.get("scope", "research")
    if scope not in get_args(Scope):
        raise RequestError("there is no such scope", expected=" or ".join(get_args(Scope)))
    days = integer_in(request, "days", 30, least=1, most=366)
    made = await run_in_threadpool(
        issue_token,
        desk.collection.store,
        scope,  # type: ignore[arg-type]  # it is a scope, as just checked
        survey=name,
        now=desk.collection.now(),
        seconds=days * DAY,
    )
    return _json({"token": made, "scope": scope, "days": days}, 201)


async def tally(request: Request) -> Response:
    """Return what was counted so far, own and merged."""
    desk, name = await _researched(request, "joint", "own")
    joint, own = flag_in(request, "joint"), flag_in(request, "own")

    def load() -> bytes:
        return desk.collection.tally(name, joint=joint, own=own).to_bytes()

    return Response(await run_in_threadpool(load), 200, NO_STORE, JSON)


async def block_tally(request: Request) -> Response:
    """Return the tally of a block that has closed."""
    desk, name = await _researched(request)
    text = request.path_params["number"]
    if not text.isascii() or not text.isdigit() or len(text) > 9:  # noqa: PLR2004 - below 2**31
        raise NotFoundError("a block has a number", given=text[:20])
    body = await run_in_threadpool(desk.collection.block_tally, name, int(text))
    return Response(body, 200, {"Cache-Control": "private, immutable"}, JSON)


async def merge(request: Request) -> Response:
    """Add a tally from another server."""
    desk, name = await _entered(request, "merge", ())
    body = await read_body(request.receive, LARGEST_TALLY)
    is_new = await run_in_threadpool(desk.collection.merge, name, body)
    return _json({"status": "accepted" if is_new else "repeated"}, 201 if is_new else 200)


async def results(request: Request) -> Response:
    """Return tables with intervals, block by block, and what was refused."""
    desk, name = await _researched(request)
    return Response(await desk.results(name), 200, NO_STORE, JSON)


async def export(request: Request) -> Response:
    """Return every report, in the order of their random ids."""
    desk, name = await _researched(request, "format")
    if desk.settings.tallies_only:
        problem = "this server gives away no reports, whatever the token"
        raise ScopeError(problem, expected="a request for the tally")
    form = request.query_params.get("format", "jsonl")
    if form not in {"jsonl", "csv"}:
        raise RequestError("there is no such format", expected="jsonl or csv")
    await desk.offer(name)
    writer = reports_as_lines if form == "jsonl" else reports_as_csv
    return writer(desk.collection, name)


ROUTES = [
    Route("/v1/surveys", listing, methods=["GET"]),
    Route("/v1/surveys", draft, methods=["POST"]),
    Route("/v1/validate", validate, methods=["POST"]),
    Route("/v1/surveys/{name}", discard, methods=["DELETE"]),
    Route("/v1/surveys/{name}/publish", publish, methods=["POST"]),
    Route("/v1/surveys/{name}/close", close, methods=["POST"]),
    Route("/v1/surveys/{name}/invitations", invite, methods=["POST"]),
    Route("/v1/surveys/{name}/tokens", token, methods=["POST"]),
    Route("/v1/surveys/{name}/reports", export, methods=["GET"]),
    Route("/v1/surveys/{name}/results", results, methods=["GET"]),
    Route("/v1/surveys/{name}/tally", tally, methods=["GET"]),
    Route("/v1/surveys/{name}/tallies", merge, methods=["POST"]),
    Route("/v1/surveys/{name}/blocks/{number}/tally", block_tally, methods=["GET"]),
]
