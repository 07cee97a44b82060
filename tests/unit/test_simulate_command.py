"""What ``deniable simulate`` and ``deniable merge`` say when a server is not what they hope for."""

from __future__ import annotations

import re
import threading
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from deniable.cli import main
from deniable.cli.merge import token_in
from deniable.collection import (
    Collection,
    MemoryStore,
    Terms,
    create_app,
    issue_token,
    listen,
    serving,
)
from deniable.collection.simulating import Line, simulate
from deniable.errors import RequestError, SubmissionError
from deniable.schema import Survey

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SURVEY = """
deniable = 1
name = "habits"
[privacy]
epsilon = 1
[[pages]]
[[pages.elements]]
type = "boolean"
name = "smokes"
"""
NO_ADDRESSES = [
    *("http://127.0.0.1:99999", "http://127.0.0.1:abc", "http://127.0.0.1:0", "http://[::1"),
    *("http://a..b", "http://a b", "http://localhost/a b", "http://localhost/ä", "ftp://localhost"),
]


class Stranger(BaseHTTPRequestHandler):
    """A web server that knows nothing of surveys."""

    protocol_version = "HTTP/1.1"
    status = 200
    body = b"<!doctype html><title>It works!</title>"

    def do_GET(self) -> None:
        """Answer with the same page, whatever is asked."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)
        self.close_connection = True  # without having said so

    do_POST = do_GET  # noqa: N815 -- the library's name

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@contextmanager
def stranger(code: int, content: bytes) -> Iterator[str]:
    """Run another kind of server."""

    class Other(Stranger):
        status = code
        body = content

    with HTTPServer(("127.0.0.1", 0), Other) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def nowhere() -> str:
    """Name an address at which nobody listens."""
    with listen("127.0.0.1", 0) as held:
        port = held.getsockname()[1]
    return f"http://127.0.0.1:{port}"


def run_simulate(folder: Path, address: str, text: str = SURVEY) -> Result:
    """Let five people answer, or try to."""
    path = folder / "survey.toml"
    path.write_text(text)
    words = ["simulate", str(path), "--against", address, "--n", "5", "--seed", "1"]
    return CliRunner().invoke(main, words)


def run_merge(folder: Path, address: str, *options: str) -> Result:
    """Send a tally of nobody."""
    collection = Collection(MemoryStore())
    collection.present(Survey.parse(SURVEY))
    path = folder / "tally.json"
    path.write_bytes(collection.tally("habits").to_bytes())
    return CliRunner().invoke(main, ["merge", str(path), "--into", address, *options])


def said(result: Result) -> str:
    """Return the one sentence in which a command refused."""
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.mark.parametrize("address", NO_ADDRESSES)
def test_what_cannot_be_called_is_no_address(tmp_path: Path, address: str) -> None:
    """Neither an unexpected error nor a server that seems to be away."""
    assert "this is no address of a server" in said(run_simulate(tmp_path, address))
    assert "this is no address of a server" in said(run_merge(tmp_path, address))


def test_where_nobody_answers_the_sentence_says_so(tmp_path: Path, nowhere: str) -> None:
    """An address without a server is not a server without the survey."""
    for result in (run_simulate(tmp_path, nowhere), run_merge(tmp_path, f"{nowhere}/v1/surveys/a")):
        assert f"no server answers at {nowhere}" in said(result)
    with closing(Line(nowhere)) as line:
        assert line.send(f"{nowhere}/v1/surveys/habits/reports", b"{}").status == 503


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, Stranger.body),
        (404, Stranger.body),
        (200, b"[]"),
        (200, b"\xff"),
        (200, b'{"hello": "world"}'),
    ],
)
def test_another_kind_of_server_is_recognized(tmp_path: Path, status: int, body: bytes) -> None:
    """A page instead of a survey, or JSON of another sort, is no server of this program."""
    with stranger(status, body) as address:
        for result in (run_simulate(tmp_path, address), run_merge(tmp_path, address)):
            assert f"what answers at {address} collects no surveys" in said(result)


def test_a_survey_that_is_not_served_is_named(tmp_path: Path) -> None:
    """The server is there, the survey is not."""
    with (
        serving(create_app(Collection(MemoryStore()))) as address,
        closing(Line(address)) as line,
    ):
        sentence = said(run_simulate(tmp_path, address))
        assert f"no survey of this name is published at {address} (given: 'habits')" in sentence
        with pytest.raises(SubmissionError, match=r"/v1/surveys/habits .*no published survey"):
            line.get("/v1/surveys/habits")


def test_a_line_that_was_dropped_is_taken_up_again() -> None:
    """A server hangs up on who is silent; the next question is asked on a new connection."""
    with stranger(200, b"{}") as address, closing(Line(address)) as line:
        assert [line.get("/") for _ in range(3)] == [b"{}"] * 3


def test_who_is_refused_hears_why(tmp_path: Path) -> None:
    """The server's sentence, how often, and an error: nobody arrived."""
    collection = Collection(MemoryStore())
    collection.present(Survey.parse(SURVEY), Terms(invited=True))
    with serving(create_app(collection)) as address:
        result = run_simulate(tmp_path, address)
    assert result.exit_code == 2
    assert re.search(r"refused\s+5\n", result.stdout)
    assert "5 were told: the server refused a report" in result.stderr
    assert "this survey needs an invitation" in result.stderr
    assert "error: no report arrived (given: '5 respondents')" in result.stderr


def test_who_promised_less_than_the_server_asks_hears_the_device(tmp_path: Path) -> None:
    """Another ε in the file than at the server: each device says so, and tosses nothing."""
    collection = Collection(MemoryStore())
    collection.present(Survey.parse(SURVEY.replace("epsilon = 1", "epsilon = 3")))
    with serving(create_app(collection)) as address:
        result = run_simulate(tmp_path, address)
        outcome = simulate(address, "habits", [(0,), (1,)], epsilon=1.0)
    assert result.exit_code == 2
    assert "privacy-refused" not in result.stderr
    assert re.search(r"5 were told: .*3.*expected", result.stderr)
    assert (list(outcome.refused.values()), outcome.arrived) == ([2], 0)
    assert collection.tally("habits").total == 0


def test_a_file_without_a_token_is_refused(tmp_path: Path, nowhere: str) -> None:
    """Bytes that are no text, nothing, two lines, JSON without a token."""
    path = tmp_path / "token"
    for content in (b"\xff\xfe", b" \n", b"one\ntwo", "tök€n".encode(), b'{"tok": 1}', b"{"):
        path.write_bytes(content)
        result = run_merge(tmp_path, nowhere, "--token-file", str(path))
        assert "there is no token in this file" in said(result)
        with pytest.raises(RequestError):
            token_in(content)
    assert token_in(b" abc\n") == token_in(b'{"token":"abc","days":1}') == "abc"


def test_tallies_of_one_server_merge_into_the_survey_they_are_of(tmp_path: Path) -> None:
    """The command sends, sends again, and tells what the server thinks of another survey's."""
    collection, other = Collection(MemoryStore()), SURVEY.replace("habits", "customs")
    collection.present(Survey.parse(SURVEY))
    collection.present(Survey.parse(other))
    token = tmp_path / "token"
    token.write_text(issue_token(collection.store, "merge", now=collection.now()))
    with serving(create_app(collection)) as address:
        for end, status in (("", "accepted"), ("/", "repeated")):
            into = f"{address}/v1/surveys/habits{end}"
            result = run_merge(tmp_path, into, "--token-file", str(token))
            assert result.exit_code == 0, result.stderr
            assert f"tally.json: {status}" in result.stderr
        into = f"{address}/v1/surveys/customs"
        wrong = said(run_merge(tmp_path, into, "--token-file", str(token)))
    assert "the tally is of another survey (given: 'habits'); expected one of 'customs'" in wrong
