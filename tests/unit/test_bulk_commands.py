"""The commands ``randomize`` and ``count``: what they print, write and refuse."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from deniable.cli import main
from deniable.cli.count import WORDS
from deniable.counting.count import REASONS
from deniable.protocol import design_for, tally_from_bytes
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from pathlib import Path

SURVEY = Survey(
    "pair",
    Schema((Attribute.nominal("sick", ["no", "yes"]), Attribute.nominal("arm", ["a", "b", "c"]))),
    Privacy(1.0, "independent", {"channel": "k-ary"}),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with a survey and answers to it."""
    SURVEY.dump(tmp_path / "survey.toml")
    rows = ["arm,sick", *(f"{'abc'[n % 3]},{'yes' if n % 5 else 'no'}" for n in range(600))]
    (tmp_path / "answers.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path


def run(*words: object) -> Result:
    """Run the command line."""
    return CliRunner().invoke(main, [str(word) for word in words])


def randomize(folder: Path, *words: object) -> Result:
    """Randomize the answers under the survey."""
    survey = ("--survey", folder / "survey.toml")
    return run("randomize", folder / "answers.csv", *survey, *words)


def test_a_file_is_randomized_counted_and_the_tally_written(folder: Path) -> None:
    """ε is printed rounded up, per answer and per attribute, and the next step is named."""
    done = randomize(folder, "-o", folder / "reports.parquet")
    assert done.exit_code == 0, done.output
    assert "600 in" in done.stdout
    assert "ε per answer     at most 1.000" in done.stdout
    assert "ε per attribute  at most 0.500" in done.stdout
    assert "deniable estimate" in done.stderr
    done = run("count", folder / "reports.parquet", "-o", folder / "tally.json")
    assert done.exit_code == 0, done.output
    assert tally_from_bytes((folder / "tally.json").read_bytes()).total == 600


def test_epsilon_may_be_given_instead_of_the_survey_s(folder: Path) -> None:
    """The level on the command line is the one that is kept."""
    done = randomize(folder, "-o", folder / "r.csv", "--epsilon", "2.5", "--ids")
    assert "ε per answer     at most 2.500" in done.stdout
    about = json.loads((folder / "r.csv.provenance.json").read_text(encoding="utf-8"))
    assert about["design"]["epsilon"] == "2.5"


def test_a_design_takes_codes(folder: Path) -> None:
    """Without a survey, answers are cells."""
    (folder / "design.json").write_bytes(design_for(SURVEY).to_bytes())
    (folder / "answers.csv").write_text("sick,arm\n0,2\n1,1\n", encoding="utf-8")
    words = ("randomize", folder / "answers.csv", "-o", folder / "r.csv")
    assert run(*words, "--design", folder / "design.json").exit_code == 0
    assert run("count", folder / "r.csv").exit_code == 0
    assert "either" in run(*words).output
    assert "own" in run(*words, "--design", folder / "design.json", "--epsilon", 2).output


def test_a_seed_must_be_asked_for_and_is_called_unsafe(folder: Path) -> None:
    """Seeded reports repeat and say so; others do not repeat."""
    for name, words in (
        ("a", ("--unsafe-seed", 1)),
        ("b", ("--unsafe-seed", 1)),
        ("c", ()),
        ("d", ()),
    ):
        done = randomize(folder, "-o", folder / f"{name}.csv", *words)
        assert ("UNSAFE" in done.stderr) == bool(words)
    a, b, c, d = ((folder / f"{name}.csv").read_bytes() for name in "abcd")
    assert a == b
    assert len({a, c, d}) == 3


def test_a_refusal_is_one_sentence_and_exit_code_2(folder: Path) -> None:
    """Nothing is written, and the answer is not shown."""
    with (folder / "answers.csv").open("a", encoding="utf-8") as file:
        file.write("none of your business,yes\n")
    before = sorted(folder.iterdir())
    done = randomize(folder, "-o", folder / "reports.parquet")
    assert done.exit_code == 2
    assert done.stderr.startswith("error: some answers")
    assert "business" not in done.output
    assert sorted(folder.iterdir()) == before


def test_what_is_no_report_is_said_by_reason(folder: Path) -> None:
    """Rows that were not counted are told, each reason in words."""
    randomize(folder, "-o", folder / "r.csv")
    with (folder / "r.csv").open("a", encoding="utf-8") as file:
        file.write("-1,0\n9,9\n,1\n0 1,2\n")
    done = run("count", folder / "r.csv")
    assert "2 rows were not counted: no coin could have led to them" in done.stderr
    assert "1 rows were not counted: they hold no report" in done.stderr
    assert "1 rows were not counted: they have too many or too few integers" in done.stderr
    assert set(WORDS) == set(REASONS)
