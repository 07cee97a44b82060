"""The pages: files with integrity hashes, under a policy that allows nothing else."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import msgspec
from starlette.responses import Response
from starlette.routing import Route

from deniable.collection import assets
from deniable.collection.http.public import IMMUTABLE, headers_of
from deniable.collection.http.reports import JSON
from deniable.collection.store import CLOSED, PUBLISHED
from deniable.errors import NotFoundError
from deniable.schema import Survey

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request

    from deniable.collection.http.desk import Desk

KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_IMPORT: Final = re.compile(r"""^(?:import|export)\b[^;]*?\bfrom\s+"(\./[^"]+)";""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Asset:
    """A file ready to be sent."""

    body: bytes
    packed: bytes
    kind: str

    def respond(self, request: Request, caching: str) -> Response:
        """Answer with the file, packed if the browser can unpack it."""
        headers = {
            "Cache-Control": caching,
            "Content-Security-Policy": POLICY,
            "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
            "Vary": "Accept-Encoding",
        }
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
            return Response(self.packed, 200, headers, self.kind)
        return Response(self.body, 200, headers, self.kind)


@dataclass(frozen=True, slots=True)
class Site:
    """All files: static ones under a version of their own, and the two pages."""

    version: str
    static: dict[str, Asset]
    respond: Asset
    results: Asset
    worker: Asset


def integrity_of(body: bytes) -> str:
    """Return what a browser compares a file with before it uses it."""
    return "sha384-" + base64.b64encode(hashlib.sha384(body).digest()).decode()


@cache
def load_site() -> Site:
    """Read all files once and fill in versions and integrity hashes."""
    files = {path.name: path for path in sorted(assets.pages().iterdir())}
    templates = {"respond.html", "results.html", "worker.js"}
    bodies = {name: path.read_bytes() for name, path in files.items() if name not in templates}
    for path in sorted(assets.client().glob("*.js")):
        bodies[f"client/{path.name}"] = path.read_bytes()
    everything = b"".join(name.encode() + body for name, body in sorted(bodies.items()))
    version = hashlib.sha256(everything).hexdigest()[:16]
    return Site(
        version,
        {name: _asset(body, name) for name, body in bodies.items()},
        _asset(_filled(files["respond.html"], bodies, version), "respond.html"),
        _asset(_filled(files["results.html"], bodies, version), "results.html"),
        _asset(_worker(files["worker.js"], bodies, version), "worker.js"),
    )


def _asset(body: bytes, name: str) -> Asset:
    kind = KINDS["." + name.rsplit(".", 1)[-1]]
    return Asset(body, gzip.compress(body, 9, mtime=0), kind)


def _filled(path: Path, bodies: dict[str, bytes], version: str) -> bytes:
    """Fill in a page: addresses, integrity hashes, and a preload for each module it imports.

    A preload with an integrity hash is what holds an imported module to its bytes.
    """
    text = path.read_text(encoding="utf-8").replace("{{static}}", f"/static/{version}")

    def preloads(match: re.Match[str]) -> str:
        return "\n".join(
            f'<link rel="modulepreload" href="/static/{version}/{name}"'
            f' integrity="{integrity_of(bodies[name])}">'
            for name in imported(match[1], bodies)
        )

    text = re.sub(r"{{preloads:([\w.-]+)}}", preloads, text)
    text = re.sub(r"{{integrity:([\w.-]+)}}", lambda m: integrity_of(bodies[m[1]]), text)
    return text.encode()


def imported(name: str, bodies: dict[str, bytes]) -> list[str]:
    """Return every module that a module imports, directly or not, in a fixed order."""
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        current = waiting.pop(0)
        folder = current.rpartition("/")[0]
        for target in _IMPORT.findall(bodies[current].decode()):
            path = target.removeprefix("./")
            path = f"{folder}/{path}" if folder else path
            if path not in found and path != name:
                found[path] = None
                waiting.append(path)
    return list(found)


def _worker(path: Path, bodies: dict[str, bytes], version: str) -> bytes:
    needed = ["page.css", "coin.svg", "respond.js", *imported("respond.js", bodies)]
    files = msgspec.json.encode([f"/static/{version}/{name}" for name in needed]).decode()
    text = path.read_text(encoding="utf-8").replace("{{version}}", version)
    return text.replace("[/* files */]", files).encode()


async def respond(request: Request) -> Response:
    """Return the respondent's page, the same for every survey."""
    return load_site().respond.respond(request, "no-cache")


async def results(request: Request) -> Response:
    """Return the researcher's page; what it shows needs a token."""
    return load_site().results.respond(request, "no-cache")


async def worker(request: Request) -> Response:
    """Return the service worker, which keeps the page for later."""
    return load_site().worker.respond(request, "no-cache")


async def static(request: Request) -> Response:
    """Return a file of the pages."""
    site = load_site()
    found = site.static.get(request.path_params["path"])
    if found is None or request.path_params["version"] != site.version:
        raise NotFoundError("there is no such file")
    return found.respond(request, IMMUTABLE)


async def page(request: Request) -> Response:
    """Return a survey as its page shows it: questions with their categories, in all languages."""
    desk: Desk = request.app.state.desk
    offer = await desk.offer_to_answer(request.path_params["name"])
    survey = Survey.from_dict(offer.document)
    found = {
        "name": offer.name,
        "state": CLOSED if offer.is_closed else PUBLISHED,
        "invited": offer.invited,
        "design": offer.design.digest,
        "block": None if offer.current is None else offer.current.digest,
        **content_of(survey),
    }
    return Response(msgspec.json.encode(found), 200, headers_of(offer), JSON)


def content_of(survey: Survey) -> dict[str, object]:
    """Return what a page shows of a survey."""
    pages = []
    for one in survey.pages:
        questions = []
        for asked in one.elements:
            attribute = survey.schema[asked.attribute]
            questions.append(
                {
                    "name": attribute.name,
                    "title": dict(attribute.labels),
                    "description": dict(asked.description),
                    "cells": [
                        {"default": category.name, **category.labels}
                        for category in attribute.categories
                    ],
                }
            )
        texts = {"title": dict(one.title), "description": dict(one.description)}
        pages.append({**texts, "questions": questions})
    return {
        "title": dict(survey.title),
        "description": dict(survey.description),
        "locales": [survey.locale, *(tag for tag in survey.locales if tag != survey.locale)],
        "pages": pages,
    }


ROUTES = [
    Route("/s/{name}", respond, methods=["GET"]),
    Route("/r/{name}", results, methods=["GET"]),
    Route("/sw.js", worker, methods=["GET"]),
    Route("/static/{version}/{path:path}", static, methods=["GET"]),
    Route("/v1/surveys/{name}/page", page, methods=["GET"]),
]
