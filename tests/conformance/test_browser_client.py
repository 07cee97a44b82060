"""The browser client in Node: the vectors, its own tests, and what its text must keep to."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "browser"
SOURCES = {path.name: path.read_text(encoding="utf-8") for path in (CLIENT / "src").glob("*.js")}
TESTS = sorted(path.name for path in (CLIENT / "test").glob("*.test.js"))
CODE = {
    name: re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", "", text, flags=re.DOTALL)
    for name, text in SOURCES.items()
}
"""The sources without their comments."""

TOUCHES_AN_ANSWER = {"answer.js", "device.js", "randomize.js"}
FORBIDDEN = {
    "Math.random": "tosses come from coin.js",
    "Date": "no time, no id made of it",
    "performance.": "as above",
    "randomUUID": "ids are drawn in coin.js",
    "eval(": "what is read is what runs",
    "import(": "as above",
    "document.": "the device has no page",
    "console.": "nothing is written down",
    "innerHTML": "the device has no page",
    "XMLHttpRequest": "submit.js uses fetch",
    "sendBeacon": "as above",
    "cookie": "respondents have none",
}


@pytest.mark.parametrize("name", TESTS)
def test_the_clients_own_tests_pass_in_node(node: str, name: str) -> None:
    """Node runs the file's tests, and all of them pass."""
    command = [node, "--test", "--test-reporter=tap", f"test/{name}"]
    run = subprocess.run(command, cwd=CLIENT, capture_output=True, text=True, check=False)
    failed = [line for line in run.stdout.splitlines() if line.lstrip().startswith("not ok")]
    assert (run.returncode, failed) == (0, []), run.stdout[-5000:] + run.stderr[-5000:]
    assert summary(run.stdout, "skipped") == summary(run.stdout, "todo") == 0
    assert summary(run.stdout, "pass") >= least(name)


def summary(output: str, what: str) -> int:
    """Return a number from the lines with which Node's runner closes."""
    found = re.search(rf"^# {what} (\d+)$", output, flags=re.MULTILINE)
    assert found is not None, output[-2000:]
    return int(found[1])


def least(name: str) -> int:
    """Return how many tests a file must run: one for each vector, if it reads them."""
    if name != "vectors.test.js":
        return 5
    files = set((ROOT / "spec" / "vectors").glob("*.json"))
    files -= {path for path in files if path.stem == "tallies"}  # nothing for a device
    return sum(len(json.loads(path.read_text(encoding="utf-8"))["cases"]) for path in files)


def test_the_client_is_small_and_brings_nothing() -> None:
    """Unminified it takes at most 30 KB compressed, and no package comes with it."""
    together = "".join(SOURCES[name] for name in sorted(SOURCES)).encode()
    assert len(gzip.compress(together)) <= 30_000
    package = json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))
    assert "dependencies" not in package
    imported = {
        path
        for text in CODE.values()
        for path in re.findall(r"""(?:from|import)\s+["']([^"']+)["']""", text)
    }
    assert imported <= {f"./{name}" for name in SOURCES}


@pytest.mark.parametrize("word", FORBIDDEN)
def test_a_forbidden_word_does_not_occur(word: str) -> None:
    """The sources, comments aside, do without what would break a promise."""
    assert [name for name, text in CODE.items() if word in text] == []


def test_there_is_one_door_to_randomness() -> None:
    """Random bytes are asked for in coin.js and nowhere else."""
    assert [name for name, text in CODE.items() if "getRandomValues" in text] == ["coin.js"]


def test_only_three_files_touch_an_answer() -> None:
    """No other file so much as imports the answer or what randomizes it."""
    touching = {
        name
        for name, text in CODE.items()
        if re.search(r"""from ["']\./(answer|randomize)\.js["']""", text)
    }
    assert touching - {"index.js"} <= TOUCHES_AN_ANSWER
    assert [n for n, text in CODE.items() if "#cells" in text] == ["answer.js"]
    assert set(CODE) >= TOUCHES_AN_ANSWER


def test_an_answer_fits_a_reviewers_hour() -> None:
    """The three files have fewer than 450 lines together, comments included."""
    assert sum(SOURCES[name].count("\n") for name in TOUCHES_AN_ANSWER) < 450


def test_every_module_says_what_it_promises() -> None:
    """A module opens with a comment; all but the index name their promises."""
    for name, text in SOURCES.items():
        opening = text.partition("*/")[0]
        assert opening.startswith("/**\n"), name
        assert name == "index.js" or "Promises" in opening, name


def test_error_codes_are_those_of_the_specification() -> None:
    """Each error of the client has a code that spec/errors.json explains."""
    known = {error["code"] for error in json.loads((ROOT / "spec/errors.json").read_text("utf-8"))}
    codes = re.findall(r'static code = "([^"]+)"', SOURCES["errors.js"])
    assert len(codes) == SOURCES["errors.js"].count("export class")
    assert set(codes) <= known


def test_the_lock_names_no_address() -> None:
    """The lock of the client's tools holds hashes and no download address."""
    lock = (CLIENT / "package-lock.json").read_text(encoding="utf-8")
    assert "://" not in lock
    assert '"integrity"' in lock
