"""What ``deniable serve`` does before it serves."""

from __future__ import annotations

import socket
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from deniable import collection
from deniable.cli import main, serve
from deniable.collection import address_of, listen
from deniable.errors import CollectionError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SURVEY = """
deniable = 1
name = "habits"
[privacy]
epsilon = {epsilon}
{more}
[[pages]]
"""
QUESTION = """
[[pages.elements]]
type = "boolean"
name = "question-{number}"
"""
EVERYWHERE = "0.0.0.0"  # noqa: S104 -- what is said of it is tested


class Terminal:
    """A place to print to that a person watches."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def test_the_page_opens_by_itself_only_on_a_desktop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody must watch, and the machine must have windows; a server in a rack opens nothing."""
    monkeypatch.setattr(sys, "platform", "linux")
    for name in serve.DISPLAYS:
        monkeypatch.delenv(name, raising=False)
    with monkeypatch.context() as watched:
        watched.setattr(sys, "stdout", Terminal())
        assert not serve.on_a_desktop()
        watched.setenv("DISPLAY", ":0")
        assert serve.on_a_desktop()
        watched.delenv("DISPLAY")
        watched.setattr(sys, "platform", "darwin")
        assert serve.on_a_desktop()
    assert not serve.on_a_desktop()


@pytest.fixture
def busy() -> Iterator[int]:
    """Hold a port."""
    with listen("127.0.0.1", 0) as held:
        yield held.getsockname()[1]


def run(
    folder: Path, *options: str, epsilon: int = 1, more: str = "", questions: int = 1
) -> Result:
    """Serve a survey as far as that goes, into a store of the folder."""
    survey = folder / "survey.toml"
    asked = "".join(QUESTION.format(number=number) for number in range(questions))
    survey.write_text(SURVEY.format(epsilon=epsilon, more=more) + asked)
    words = ["serve", str(survey), "--store", str(folder / "reports.db"), "--no-open"]
    return CliRunner().invoke(main, [*words, *options])


def test_who_cannot_listen_publishes_nothing(tmp_path: Path, busy: int) -> None:
    """A busy port and a foreign host are refused before there is a store, each by its name."""
    refused = run(tmp_path, "--port", str(busy))
    assert refused.exit_code == 2
    assert "expected another --port" in refused.stderr
    for host in ("192.0.2.1", "no-such-host.invalid", "a..b"):
        refused = run(tmp_path, "--host", host)
        assert refused.exit_code == 2
        assert f"no such address (given: {host!r}); expected another --host" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["survey.toml"]


def test_what_cannot_be_served_leaves_no_file(tmp_path: Path) -> None:
    """Workers on SQLite, and a survey that cannot be asked."""
    refused = run(tmp_path, "--workers", "2", "--port", "0")
    assert refused.exit_code == 2
    assert "several workers need a store that they can share" in refused.stderr
    refused = run(tmp_path, "--port", "0", more='design = "joint"', questions=70)
    assert refused.exit_code == 2
    assert "a group of the design has too many cells" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["survey.toml"]


def test_a_survey_can_still_change_after_a_start_that_failed(
    tmp_path: Path, busy: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was published, so that another ε may be; then it is locked."""
    monkeypatch.setattr(collection, "serve", lambda *_, **__: None)
    assert run(tmp_path, "--port", str(busy), epsilon=1).exit_code == 2
    served = run(tmp_path, "--port", "0", epsilon=2)
    assert served.exit_code == 0, served.stderr
    assert "a published survey cannot change" in run(tmp_path, "--port", "0").stderr


def test_who_listens_everywhere_prints_a_link_that_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """0.0.0.0 is no address to call; that everybody is heard is said beside the link."""
    monkeypatch.setattr(collection, "serve", lambda *_, **__: None)
    served = run(tmp_path, "--host", EVERYWHERE, "--port", "0")
    assert served.exit_code == 0, served.stderr
    assert "http://localhost:" in served.stdout
    assert EVERYWHERE not in served.stdout
    assert "every address of this machine" in served.stderr
    alone = run(tmp_path, "--port", "0")
    assert "http://127.0.0.1:" in alone.stdout
    assert "every address" not in alone.stderr


def test_a_socket_of_either_family_has_an_address() -> None:
    """Brackets where they belong; a port that is taken is refused."""
    with listen("127.0.0.1", 0) as held:
        port = held.getsockname()[1]
        assert address_of(held) == f"http://127.0.0.1:{port}"
        with pytest.raises(CollectionError, match="another --port"):
            listen("127.0.0.1", port)
    if socket.has_ipv6:
        with listen("::1", 0) as held:
            assert address_of(held).startswith("http://[::1]:")
