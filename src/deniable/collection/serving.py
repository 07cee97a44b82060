"""Running the server: in this process, in a thread beside something else, or in several workers."""

from __future__ import annotations

import contextlib
import errno
import gc
import ipaddress
import socket
import tempfile
import threading
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import uvicorn
from uvicorn.supervisors import Multiprocess

from deniable.collection.http import Settings, create_app
from deniable.collection.service import Collection
from deniable.collection.store import is_shared, open_store
from deniable.errors import CollectionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.applications import Starlette
    from starlette.types import ASGIApp

BACKLOG = 2_048
START_SECONDS = 120.0
PORT_ERRORS: Final = {errno.EADDRINUSE, errno.EACCES}
"""What the system says of a port; whatever else it says is about the host."""


def build(where: str, settings: Settings) -> Starlette:
    """Return the application for a store; each worker calls it for itself."""
    _collect_seldom()
    return create_app(Collection(open_store(where)), settings)


def serve(where: str, settings: Settings, listening: socket.socket, *, workers: int = 1) -> None:
    """Serve until stopped, in as many processes as asked."""
    if workers == 1:
        app = build(where, settings)
        uvicorn.Server(_config(app, factory=False)).run(sockets=[listening])
        return
    check_shared(where, workers)
    open_store(where).close()
    with tempfile.TemporaryDirectory(prefix="deniable-") as folder:
        settings = replace(settings.shared_by(workers), metrics_folder=folder)
        config = _config(partial(build, where, settings), factory=True, workers=workers)
        Multiprocess(config, [listening]).run()


def check_shared(where: str, workers: int) -> None:
    """Refuse several workers on a store that only one process may use, before it is opened."""
    if not is_shared(where) and workers > 1:
        problem = "several workers need a store that they can share"
        raise CollectionError(problem, given=workers, expected="--store postgresql://…")


def _collect_seldom() -> None:
    """Let Python look for garbage seldom: reports are many short-lived objects without cycles."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


@contextlib.contextmanager
def serving(app: ASGIApp, listening: socket.socket | None = None) -> Iterator[str]:
    """Serve in a thread while the ``with`` block lasts; yield the address."""
    listening = listen("127.0.0.1", 0) if listening is None else listening
    server = uvicorn.Server(_config(app, factory=False))
    thread = threading.Thread(target=server.run, args=([listening],), name="server", daemon=True)
    thread.start()
    deadline = time.monotonic() + START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise CollectionError("the server did not start")
        time.sleep(0.01)
    try:
        yield address_of(listening)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except (OSError, UnicodeError) as error:
        listening.close()
        raise _unheard(host, port, error) from error
    listening.set_inheritable(True)
    return listening


def _unheard(host: str, port: int, error: OSError | UnicodeError) -> CollectionError:
    """Say why nothing can listen there, and which of the two would have to be another one."""
    if isinstance(error, OSError) and error.errno in PORT_ERRORS:
        problem = f"nothing can listen at {host} port {port}"
        return CollectionError(problem, given=error.strerror, expected="another --port")
    expected = "another --host: 127.0.0.1 for this machine alone, 0.0.0.0 for everybody"
    return CollectionError("this machine has no such address", given=host, expected=expected)


def is_everywhere(listening: socket.socket) -> bool:
    """Tell whether a socket listens at every address of this machine."""
    return ipaddress.ip_address(listening.getsockname()[0].partition("%")[0]).is_unspecified


def address_of(listening: socket.socket) -> str:
    """Return an address at which people reach a listening socket from this machine."""
    host, port = listening.getsockname()[:2]
    if is_everywhere(listening):
        host = "localhost"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _config(app: object, *, factory: bool, workers: int = 1) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        factory=factory,
        workers=workers,
        # Addresses and times of respondents are written nowhere.
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=10,
    )
