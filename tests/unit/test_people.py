"""Whose answers a simulation uses: a file's, a network's, a made-up population's."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from deniable.cli import main
from deniable.cli.people import answers_of
from deniable.collection import Collection, MemoryStore, create_app, serving
from deniable.errors import DataError
from deniable.experiments.network import parse_network, read_network
from deniable.schema import Survey

EXAMPLES = Path(__file__).parents[2] / "examples"
SURVEY = """
deniable = 1
name = "habits"
[privacy]
epsilon = 2
[[pages]]
[[pages.elements]]
type = "boolean"
name = "smokes"
[[pages.elements]]
type = "radiogroup"
name = "coughs"
choices = ["never", "now and then", "always"]
"""
# Who smokes always coughs, who does not never does; "town" is asked by nobody.
NETWORK = """
network certain { }
variable town { type discrete [ 2 ] { here, there }; }
variable smokes { type discrete [ 2 ] { yes, no }; }
variable coughs { type discrete [ 3 ] { always, now_and_then, never }; }
probability ( town ) { table 0.5, 0.5; }
probability ( smokes | town ) { (here) 1.0, 0.0; (there) 0.0, 1.0; }
probability ( coughs | smokes ) { (yes) 1, 0, 0; // as a comment says
(no) 0, 0, 1; }
"""


def drawn(folder: Path, network: str, people: int = 200) -> list[tuple[int, ...]]:
    """Draw people from a network for the survey."""
    path = folder / "habits.bif"
    path.write_text(network)
    survey = Survey.parse(SURVEY)
    rng = np.random.default_rng(1)
    return [tuple(cells) for cells in answers_of(survey, people, network=path, rng=rng)]


def test_people_of_a_network_hang_together_as_it_says(tmp_path: Path) -> None:
    """Values are matched by name whatever their order; what the survey does not ask is left out."""
    found = drawn(tmp_path, NETWORK)
    assert len(found) == 200
    assert set(found) == {(1, 2), (0, 0)}


def test_a_network_that_does_not_fit_the_survey_is_refused(tmp_path: Path) -> None:
    """A missing variable and a value that is no category are named; so are two sources at once."""
    with pytest.raises(DataError, match=r"no variable for an attribute.*coughs"):
        drawn(tmp_path, NETWORK.replace("coughs", "sneezes"))
    with pytest.raises(DataError, match=r"no category of 'coughs'.*daily.*always"):
        drawn(tmp_path, NETWORK.replace("always", "daily"))
    path, rng = tmp_path / "habits.bif", np.random.default_rng(1)
    with pytest.raises(DataError, match="one place only"):
        answers_of(Survey.parse(SURVEY), 5, data=path, network=path, rng=rng)


@pytest.mark.parametrize(
    ("said", "instead", "problem"),
    [
        ("(no) 0, 0, 1;", "", "do not sum to 1"),
        ("(no) 0, 0, 1;", "(no) 0, 0, 2;", "do not sum to 1"),
        ("(no) 0, 0, 1;", "(no) 0, -1, 2;", "do not sum to 1"),
        ("(no) 0, 0, 1;", "(no) 0, 1;", "does not fit"),
        ("(no) 0, 0, 1;", "(maybe) 0, 0, 1;", "does not fit"),
        ("(no) 0, 0, 1;", "(no, here) 0, 0, 1;", "does not fit"),
        ("(no) 0, 0, 1;", "(no) 0, 0, one;", "does not fit"),
        ("probability ( town ) { table 0.5, 0.5; }", "", "no Bayesian network"),
        ("( coughs | smokes )", "( coughs | snores )", "speaks of an attribute"),
    ],
)
def test_a_broken_network_is_refused(said: str, instead: str, problem: str) -> None:
    """What would silently draw everybody alike is an error instead."""
    with pytest.raises(DataError, match=problem):
        parse_network(NETWORK.replace(said, instead))


def test_the_example_network_fits_the_example_survey() -> None:
    """Every attribute has its variable, and every value its category, binned numbers too."""
    survey = Survey.load(EXAMPLES / "health.toml")
    rng = np.random.default_rng(1)
    path = EXAMPLES / "health.bif"
    found = np.array(list(answers_of(survey, 3_000, network=path, rng=rng)))
    network = read_network(path)
    assert network.sizes == survey.schema.sizes
    assert [len(set(column)) for column in found.T] == list(survey.schema.sizes)


def test_simulated_people_answer_over_http(tmp_path: Path) -> None:
    """From a network or a file: every one arrives, once; a stranger's survey is refused."""
    survey = Survey.parse(SURVEY)
    (tmp_path / "survey.toml").write_text(SURVEY)
    (tmp_path / "habits.bif").write_text(NETWORK)
    (tmp_path / "habits.csv").write_text("smokes,coughs\nyes,always\nno,never\n")
    collection = Collection(MemoryStore())
    collection.present(survey)
    with serving(create_app(collection)) as address:
        for source in (
            "--network=" + str(tmp_path / "habits.bif"),
            f"--data={tmp_path}/habits.csv",
        ):
            words = ["simulate", str(tmp_path / "survey.toml"), "--against", address, "--n", "40"]
            result = CliRunner().invoke(main, [*words, source])
            assert result.exit_code == 0, result.stderr
            assert re.search(r"arrived\s+40\n", result.stdout)
    assert collection.tally("habits").total == 80


def test_the_demonstration_learns_beside_the_truth() -> None:
    """Tables of single attributes and of two together, each beside what the simulation knows."""
    result = CliRunner().invoke(main, ["demo", "--once", "--port", "0", "--n", "2000"])
    assert result.exit_code == 0, result.stderr
    assert "2,000 in" in result.stdout
    assert re.search(r"drugs\s+cheated\s+learned\s+95 % interval\s+truth", result.stdout)
    assert result.stderr.count("intervals hold the truth") == 2
    lines = result.stdout.splitlines()
    assert max(len(line) for line in lines if "http" not in line) <= 80


def test_a_demonstration_with_hardly_anybody_says_so() -> None:
    """One respondent: no table, and a sentence instead of it."""
    result = CliRunner().invoke(main, ["demo", "--once", "--port", "0", "--n", "1"])
    assert result.exit_code == 0, result.stderr
    assert "Too few reports" in result.stderr
    assert "No joint table" in result.stderr
