"""Which framework should the server be built with?

The one endpoint that matters, in each: read a report that was posted, as the framework
would have it, and answer with its id. The processor time is the server's own: it does not
depend on what else the machine does. Whether an interface in OpenAPI 3.1 comes with it is
read off what the framework publishes.

./run bench frameworks [--seconds 5] [--rounds 3]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from _load import Rate, bring_wrk, load, started

PATH = "/v1/surveys/bench/reports"

SERVE = """
import sys, uvicorn
uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="warning")
"""

TYPED = """
import msgspec
class Report(msgspec.Struct):
    block: str
    deniable: int
    design: str
    id: str
    values: list[list[int]]
    view: int
class Submission(msgspec.Struct):
    reports: list[Report]
read = msgspec.json.Decoder(Submission).decode
def answered(submission):
    return {"results": [{"id": one.id, "status": "accepted"} for one in submission.reports]}
"""

BARE = """
import re
from typing import Any
address = re.compile(r"/v1/surveys/([^/]+)/reports")
async def app(scope, receive, send):
    if scope["type"] != "http":
        raise NotImplementedError  # nothing is to be done at start and end
    if not address.fullmatch(scope["path"]):
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})
        return
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    answer = msgspec.json.encode(answered(read(body)))
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})
"""

STARLETTE = """
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
async def accept(request):
    answer = msgspec.json.encode(answered(read(await request.body())))
    return Response(answer, media_type="application/json")
app = Starlette(routes=[Route("/v1/surveys/{name}/reports", accept, methods=["POST"])])
"""

FASTAPI = """
from fastapi import FastAPI
from pydantic import BaseModel
class Report(BaseModel):
    block: str
    deniable: int
    design: str
    id: str
    values: list[list[int]]
    view: int
class Submission(BaseModel):
    reports: list[Report]
class Result(BaseModel):
    id: str
    status: str
class Results(BaseModel):
    results: list[Result]
app = FastAPI()
@app.post("/v1/surveys/{name}/reports")
async def accept(name: str, submission: Submission) -> Results:
    return Results(results=[Result(id=one.id, status="accepted") for one in submission.reports])
"""

LITESTAR = """
from typing import Any
from litestar import Litestar, post
@post("/v1/surveys/{name:str}/reports", status_code=200)
async def accept(name: str, data: Submission) -> dict[str, Any]:
    return answered(data)
app = Litestar([accept])
"""

CANDIDATES = {
    "bare ASGI": (TYPED + BARE, "None"),
    "Starlette": (TYPED + STARLETTE, "None"),
    "Litestar": (TYPED + LITESTAR, "app.openapi_schema.to_schema()['openapi']"),
    "FastAPI": (FASTAPI, "app.openapi()['openapi']"),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    bring_wrk()
    with contextlib.ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
        servers = {}
        for number, (name, (code, _)) in enumerate(CANDIDATES.items()):
            path = folder / f"server{number}.py"
            path.write_text(code + SERVE)
            servers[name] = running.enter_context(started([sys.executable, path]))
        rates: dict[str, list[Rate]] = {name: [] for name in servers}
        for _ in range(asked.rounds):
            for name, server in servers.items():
                rates[name].append(load(folder, server, PATH, seconds=asked.seconds))
        print(f"{'':<10}{'a second':>10}{'µs each':>10}{'99 % in':>10}  OpenAPI")
        for name, found in rates.items():
            rate = median(one.requests for one in found)
            cost, slow = (median(getattr(one, what) for one in found) for what in ("cost", "slow"))
            print(f"{name:<10}{rate:>10,.0f}{cost:>10.1f}{slow:>7.0f} ms  {interface_of(name)}")


def interface_of(name: str) -> str:
    """Return the version of the interface description that a framework writes by itself."""
    code, asked = CANDIDATES[name]
    program = f"{code}\nimport json\nprint(json.dumps({asked}))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    return str(json.loads(done.stdout) or "written by hand")


if __name__ == "__main__":
    main()
