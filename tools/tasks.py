"""The tasks behind ``./run``: what each does, in which order, and how long it took.

Standard library only, so that ``./run help`` works before anything is installed.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).resolve().parent.parent
BROWSER = ROOT / "clients" / "browser"
BENCHMARKS = ROOT / "benchmarks"
SYSTEM_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
SPHINX = (
    *("sphinx-build", "--fail-on-warning", "--keep-going", "--fresh-env", "--quiet"),
    *("--builder", "html"),
    *("--doctree-dir", "docs/_build/doctrees", "docs", "docs/_build/html"),
)
CHECKS: dict[str, tuple[str, ...]] = {
    "lint": ("ruff", "check", "--quiet"),
    "compare the format": ("ruff", "format", "--check", "--quiet"),
    "check the types": ("mypy",),
    "check who imports whom": ("lint-imports", "--no-logo"),
    "check the browser client's types": (
        *("clients/browser/node_modules/.bin/tsc", "--project", "clients/browser"),
    ),
    "build the documentation": SPHINX,
}


class TaskFailedError(Exception):
    """A step of a task did not end well; its own words are already on the screen."""


def say(sentence: str) -> None:
    """Tell the person what happens, on stderr, so that stdout stays the task's own."""
    print(f"run: {sentence}", file=sys.stderr, flush=True)


def step(sentence: str, *command: str | Path, cwd: Path = ROOT) -> None:
    """Do one command of the set-up environment and say how long it took."""
    say(f"{sentence} …")
    began = time.monotonic()
    code = subprocess.run([str(word) for word in command], cwd=cwd, check=False).returncode
    took = f"{time.monotonic() - began:.1f} s"
    if code:
        message = f"failed after {took}: {sentence} (exit code {code})"
        raise TaskFailedError(message)
    say(f"done in {took}: {sentence}")


@contextlib.contextmanager
def every_step() -> Iterator[Callable[..., None]]:
    """Offer a ``step`` that goes on after a failure, and fail at the end with all of them."""
    failures: list[str] = []

    def attempt(sentence: str, *command: str | Path, cwd: Path = ROOT) -> None:
        try:
            step(sentence, *command, cwd=cwd)
        except TaskFailedError as failure:
            say(str(failure))
            failures.append(sentence)

    yield attempt
    if failures:
        message = f"{len(failures)} of the steps failed: {'; '.join(failures)}"
        raise TaskFailedError(message)


def demo(arguments: Sequence[str]) -> None:
    """Randomize a population; print its recovered tables beside the truth."""
    os.execvp("deniable", ["deniable", "demo", *arguments])  # noqa: S606 -- our own program


def test(arguments: Sequence[str]) -> None:
    """Run the tests; what follows the word goes to pytest.

    ./run test                       all but the long proofs (./run prove)
    ./run test tests/unit -k coin    a few

    Brings Debian's Chromium if it is missing and the user is root. A test that could
    not run is listed with its reason at the end; with CI=true it fails the run.
    """
    chosen = [word for word in arguments if word.startswith(("src/", "tests/"))]
    if not chosen or any("e2e" in word for word in chosen):
        bring_chromium()
    # Two processes pay for their start when there is much to do.
    workers = ["-n2", "--dist=worksteal"] if not arguments else []
    pytest("run the tests", *workers, *arguments)


def pytest(sentence: str, *arguments: str) -> None:
    """Run pytest, alike on every machine: output waits in a pipe until it is flushed."""
    os.environ.pop("PYTHONUNBUFFERED", None)
    step(sentence, "python", "-m", "pytest", *arguments)


def check(arguments: Sequence[str]) -> None:
    """Judge the text: lint, format, types, who imports whom, documentation."""
    del arguments
    bring_node_modules()
    with every_step() as attempt:
        for sentence, command in CHECKS.items():
            attempt(sentence, *command)


def bench(arguments: Sequence[str]) -> None:
    """Run benchmarks/NAME.py; without a name, list what can be measured.

    Runs in .venv-peers, where the peers are installed beside this package, so that
    both are measured in one run. What follows the name goes to the benchmark.
    """
    names = sorted(path.stem for path in BENCHMARKS.glob("[a-z]*.py"))
    if not arguments:
        print("\n".join(names) if names else "there is no benchmark yet")
        return
    name, *rest = arguments
    if name not in names:
        message = f"there is no benchmark {name!r}; there are {', '.join(names) or 'none'}"
        raise TaskFailedError(message)
    step(f"measure {name}", "python", BENCHMARKS / f"{name}.py", *rest)


def prove(arguments: Sequence[str]) -> None:
    """Run the long proofs too; one sets up a fresh clone and tests it.

    They are the tests marked ``prove``; hypothesis tries more examples meanwhile.
    """
    os.environ["HYPOTHESIS_PROFILE"] = "prove"
    bring_chromium()
    unhurried = ("-o", "faulthandler_timeout=0")
    pytest("prove", "-m", "prove or not prove", *unhurried, *arguments)


def docs(arguments: Sequence[str]) -> None:
    """Build the documentation into docs/_build/html; a warning is an error."""
    step("build the documentation", *SPHINX, *arguments)
    say("open docs/_build/html/index.html")


def lock(arguments: Sequence[str]) -> None:
    """Resolve pyproject.toml into locks/: hashes, no addresses.

    ./run lock                    keep every version that still fits
    ./run lock --upgrade          take the newest of all
    ./run lock -P numpy           take the newest of one
    """
    import tomllib  # noqa: PLC0415 -- ./run help should work on an older Python too

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    resolve("dev", "pyproject.toml", "--extra", "dev", *arguments)
    same = ["--constraints", "locks/dev.txt", *arguments]
    resolve("core", "pyproject.toml", *same)
    for extra in sorted(set(extras) - {"dev"}):
        resolve(extra, "pyproject.toml", "--extra", extra, *same)
    for group in project["dependency-groups"]:
        resolve(group, "--group", group, *arguments)


def resolve(name: str, *source: str) -> None:
    """Write one file of locks/."""
    step(
        f"resolve locks/{name}.txt",
        ROOT / ".run" / "uv" / "bin" / "uv",
        *("pip", "compile", "--quiet", "--universal", "--python-version", "3.11"),
        *("--generate-hashes", "--custom-compile-command", "./run lock"),
        *("--output-file", f"locks/{name}.txt", *source),
    )


def bring_chromium() -> None:
    """Install Debian's Chromium for the browser tests, if that is needed and possible."""
    if any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        return
    if shutil.which("apt-get") and os.geteuid() == 0:
        os.environ["DEBIAN_FRONTEND"] = "noninteractive"
        step("fetch Debian's package lists", "apt-get", "update", "-q=2")
        step("install Chromium", "apt-get", "install", "-qq", "--no-install-recommends", "chromium")
    else:
        say("Chromium is missing, so the browser tests cannot run; install Debian's chromium")


def bring_node_modules() -> None:
    """Install what clients/browser/package-lock.json names, once per lock."""
    if SYSTEM_CERTIFICATES.exists():  # Node trusts its own list only, unless it is told
        os.environ.setdefault("NODE_EXTRA_CA_CERTS", str(SYSTEM_CERTIFICATES))
    lock_file = BROWSER / "package-lock.json"
    stamp = BROWSER / "node_modules" / ".lock"
    if not stamp.exists() or stamp.read_bytes() != lock_file.read_bytes():
        step("install the browser client's tools", "npm", "ci", "--ignore-scripts", cwd=BROWSER)
        shutil.copyfile(lock_file, stamp)


def help_(arguments: Sequence[str]) -> None:
    """Explain the tasks; ./run help TASK explains one."""
    for name in arguments:
        print(f"./run {name}\n\n{_explanation(name)}")
    if not arguments:
        print("./run TASK [ARGUMENTS]\n")
        for name in (*TASKS, *BUILT_IN):
            print(f"  {name:8} {_explanation(name).partition(chr(10))[0]}")


def _explanation(name: str) -> str:
    if name in BUILT_IN:
        return BUILT_IN[name]
    if name in TASKS:
        return inspect.getdoc(TASKS[name]) or ""
    raise TaskFailedError(_unknown(name))


def _unknown(name: str) -> str:
    return f"there is no task {name!r}; there are {', '.join((*TASKS, *BUILT_IN))}"


TASKS: dict[str, Callable[[Sequence[str]], None]] = {
    "demo": demo,
    "test": test,
    "check": check,
    "bench": bench,
    "prove": prove,
    "docs": docs,
    "lock": lock,
    "help": help_,
}

# What the shell script does itself.
BUILT_IN = {
    "python": "Run the Python of the set-up environment.",
    "deniable": "Run this checkout's command line.",
    "clean": "Remove what ./run laid: .venv, .venv-peers and .run.",
}


def main(words: Sequence[str]) -> int:
    """Do the task named by the first word."""
    name, *arguments = words or ["help"]
    if name not in TASKS:
        say(_unknown(name))
        return 2
    try:
        TASKS[name](arguments)
    except TaskFailedError as failure:
        say(str(failure))
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
