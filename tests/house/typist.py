"""The typist: does what a document tells a reader to do, in the reader's folder."""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import subprocess
import sys
import threading
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tools import tasks

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT: Final = Path(__file__).parents[2]
MATERIALS: Final = Path(__file__).parent / "materials"
BLOCK: Final = re.compile(r"^```(python|sh|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAVED_AS: Final = re.compile(r"[Ss]ave this as `([^`]+)`")
# What a person does before there is anything to run.
BEFOREHAND: Final = ("git clone ", "cd ", "pip install ")
# Where a document's own server is said to be, and where those that stand elsewhere are.
AT_HOME: Final = "http://127.0.0.1:8000"
ELSEWHERE: Final = re.compile(r"https://\w+\.example")
DATABASE: Final = re.compile(r"postgresql://\S*\.example/\w+")
START_SECONDS: Final = 240.0
PATIENCE: Final = 120.0


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs: its process, its address, the widest token it printed."""

    process: subprocess.Popen[str]
    address: str
    token: str

    def stop(self) -> None:
        """Stop it as Ctrl+C would."""
        self.process.terminate()
        self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()


class Typist:
    """Types one document's blocks in order; what stands in for the reader's world is said here.

    ``http://127.0.0.1:8000`` is the server that the document told to start, at a free port; each
    ``https://….example`` is a server of its own; ``$TOKEN`` is the token of the server that is
    asked; ``postgresql://….example/…`` is a new database of a real PostgreSQL.
    """

    def __init__(self, folder: Path, new_database: Callable[[], str]) -> None:
        """Lay the reader's files into the folder."""
        shutil.copytree(MATERIALS, folder, dirs_exist_ok=True)
        shutil.copytree(ROOT / "examples", folder / "examples")
        self._folder = folder
        self._new_database = new_database
        self._served: dict[str, Served] = {}

    def type_all(self, text: str, name: str) -> None:
        """Run the blocks of a document; lay down the files that it says to save."""
        names: dict[str, Any] = {"__name__": "document"}
        last = 0
        for block in BLOCK.finditer(text):
            language, code = block.groups()
            saved = SAVED_AS.findall(text[last : block.start()])
            last = block.end()
            if language == "python":
                exec(compile(code, name, "exec"), names)  # noqa: S102 -- the project's own documents
            elif language == "sh":
                for line in code.replace("\\\n", " ").splitlines():
                    self.type_line(line)
            elif saved:
                (self._folder / saved[-1]).write_text(code, encoding="utf-8")

    def type_line(self, line: str) -> None:
        """Run one line of a shell block if it is ours; know it otherwise."""
        words = shlex.split(self._in_this_world(line), comments=True)
        if not words or line.startswith(BEFOREHAND):
            return
        if words[0] == "./run":
            words = words[1:]
            assert words[0] in {*tasks.TASKS, *tasks.BUILT_IN}, line
            if words[0] != "deniable":
                return
        if words[0] == "curl":
            self._fetch(words[1:])
            return
        assert words[0] == "deniable", f"who runs this? {line}"
        if words[1] == "serve" and "--help" not in words:
            self._serve(AT_HOME, words[1:])
            return
        if words[1] == "aggregate" and "--help" not in words:
            self._aggregate(words[1:])
            return
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=self._folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not done.returncode, f"{line}\n{done.stderr}"

    def stop(self) -> None:
        """Stop every server that was started."""
        while self._served:
            self._served.popitem()[1].stop()

    def _in_this_world(self, line: str) -> str:
        """Put what there is here for the addresses that a document names."""
        if "$TOKEN" in line or " serve " not in line:
            for place in ELSEWHERE.findall(line):
                if place not in self._served:
                    example = str(ROOT / "examples" / "health.toml")
                    store = f"{place.removeprefix('https://')}.db"
                    self._serve(place, ["serve", example, "--manage", "--store", store])
        for place, served in self._served.items():
            if place in line:
                line = line.replace(place, served.address).replace("$TOKEN", served.token)
        return DATABASE.sub(lambda _: self._new_database(), line)

    def _serve(self, place: str, words: list[str]) -> None:
        """Start a server in the background, at a free port, and wait for what it prints."""
        if place in self._served:
            self._served.pop(place).stop()
        process = subprocess.Popen(
            [sys.executable, "-m", "deniable", *words, "--port", "0"],
            cwd=self._folder,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        giving_up = threading.Timer(START_SECONDS, process.kill)
        giving_up.start()
        printed: dict[str, str] = {}
        last = "manage" if "--manage" in words else "store"
        for line in process.stdout:
            fact, value = line.split(maxsplit=1)
            printed[fact] = value.strip()
            if fact == last:
                break
        giving_up.cancel()
        if last not in printed:
            process.wait(PATIENCE)
            process.stdout.close()
        assert last in printed, f"the server did not start: {words}"
        address = printed["page"].partition("/s/")[0]
        token = printed.get("manage") or printed["results"].partition("#")[2]
        self._served[place] = Served(process, address, token)

    def _aggregate(self, words: list[str]) -> None:
        """Start an aggregator in the background, at a free port instead of the one it names."""
        port = words.index("--port") + 1
        place = f"http://127.0.0.1:{words[port]}"
        words[port] = "0"
        process = subprocess.Popen(
            [sys.executable, "-m", "deniable", *words],
            cwd=self._folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert process.stdout is not None
        giving_up = threading.Timer(START_SECONDS, process.kill)
        giving_up.start()
        said = process.stdout.readline()
        giving_up.cancel()
        found = re.search(r"http://[\d.:]+\d", said)
        assert found is not None, f"the aggregator did not start: {said}"
        self._served[place] = Served(process, found.group(), "")

    def _fetch(self, words: list[str]) -> None:
        """Do what curl would; a machine without curl must be able to test this too."""
        parser = argparse.ArgumentParser("curl", exit_on_error=False)
        parser.add_argument("-X", dest="method", default="GET")
        parser.add_argument("-H", dest="headers", action="append", default=[])
        parser.add_argument("-o", dest="output")
        parser.add_argument("--data-binary", dest="data")
        parser.add_argument("url")
        given = parser.parse_args(words)
        known = tuple(served.address for served in self._served.values())
        assert given.url.startswith(known), f"nobody answers at {given.url}"
        body = None
        if given.data:
            assert given.data.startswith("@"), "the body should come from a file"
            body = (self._folder / given.data[1:]).read_bytes()
        headers = dict(header.split(": ", 1) for header in given.headers)
        request = urllib.request.Request(given.url, body, headers, method=given.method)  # noqa: S310
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 -- HTTP, see above
            found = answer.read()
        if given.output:
            (self._folder / given.output).write_bytes(found)
