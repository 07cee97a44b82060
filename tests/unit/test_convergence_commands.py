"""Designs rehearse without a server, and traces tell when to stop and when not."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from deniable.cli import main
from deniable.errors import EstimationError
from deniable.planning.convergence import trace
from deniable.protocol import tally_from_bytes

if TYPE_CHECKING:
    from pathlib import Path

SURVEY = """
deniable = 1
name = "habits"

[privacy]
epsilon = 2
design = "{design}"
{more}

[[pages]]

[[pages.elements]]
type = "boolean"
name = "smokes"

[[pages.elements]]
type = "boolean"
name = "drinks"

[[pages.elements]]
type = "rating"
name = "health"
rateMax = 3
"""


def run(*words: object) -> str:
    """Run a command that succeeds; return what it prints."""
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    assert max(map(len, done.stdout.splitlines()), default=0) <= 80
    return done.stdout


def survey_in(folder: Path, design: str, more: str = "") -> Path:
    """Write a survey of three attributes."""
    path = folder / f"{design}.toml"
    path.write_text(SURVEY.format(design=design, more=more))
    return path


@pytest.mark.parametrize(
    ("design", "more"),
    [
        ("ask-one", ""),
        ("independent", 'channel = "k-ary"'),
        ("joint", ""),
        ("clusters", 'clusters = [["smokes", "drinks"]]'),
        ("views", ""),
        ("rrba", "block_size = 100"),
        ("rrba", 'rule = "classic-clients"'),
    ],
)
def test_every_protocol_rehearses_and_is_estimated(design: str, more: str, tmp_path: Path) -> None:
    """From a survey file to a table, without a server."""
    tally = tmp_path / "tally.json"
    people = 40 if "clients" in more else 2_000
    printed = run(
        "rehearse", survey_in(tmp_path, design, more), "-o", tally, "--n", people, "--joint"
    )
    assert "2.000" in printed
    assert tally_from_bytes(tally.read_bytes()).total == people
    table = run("estimate", tally, "--tables", "smokes", "--least-worth", 0)
    assert "smokes" in table


def test_a_file_s_answers_are_rehearsed_in_another_order(tmp_path: Path) -> None:
    """The rows are shuffled, so that blocks do not follow the file."""
    data = tmp_path / "answers.csv"
    rows = ["no,no,1"] * 3_000 + ["yes,yes,3"] * 3_000
    data.write_text("\n".join(["smokes,drinks,health", *rows]))
    tally = tmp_path / "tally.json"
    survey = survey_in(tmp_path, "rrba", "block_size = 1500")
    run("rehearse", survey, "-o", tally, "--data", data, "--n", 6_000)
    found = trace(tally_from_bytes(tally.read_bytes()), ["smokes", "drinks"])
    assert len(found.blocks) == 4
    # By the first block alone both kinds of people are there; 0.2 is beyond 5 of its errors.
    assert found.estimate[0][0, 0] > 0.2
    assert found.estimate[0][1, 1] > 0.2


def test_the_trace_says_when_to_stop_and_that_the_classic_rule_does_not(tmp_path: Path) -> None:
    """Both are printed, the classic one with what it loses; every cell goes to CSV."""
    tally = tmp_path / "tally.json"
    run("rehearse", survey_in(tmp_path, "rrba", "block_size = 400"), "-o", tally, "--n", 12_000)
    for interval in ("either", "normal", "log-odds"):
        printed = run("convergence", tally, "--classic-interval", interval)
        assert "stops by chance" in printed
        assert "block size" in printed
    wide = run("convergence", tally, "--table", "smokes,drinks", "--width", "0.9")
    assert "after 1 of 30 blocks" in wide
    assert "not yet" in run("convergence", tally, "--width", "0.001")
    rows = list(csv.DictReader(io.StringIO(run("convergence", tally, "--csv"))))
    found = trace(tally_from_bytes(tally.read_bytes()), ["drinks", "health"])
    assert len(rows) == found.estimate.size
    assert {float(row["epsilon"]) for row in rows} == {2.0}
    assert float(rows[0]["by_block"]) == pytest.approx(found.estimate[0][0, 0], abs=1e-6)
    assert float(rows[-1]["by_all"]) == pytest.approx(found.running[-1][-1, -1], abs=1e-6)


def test_one_block_is_no_trace_but_still_an_answer(tmp_path: Path) -> None:
    """Nothing steps, nothing stops, and the advice is there."""
    tally = tmp_path / "tally.json"
    run("rehearse", survey_in(tmp_path, "ask-one"), "-o", tally, "--n", 1_000)
    printed = run("convergence", tally)
    assert "classic rule" not in printed  # it compares a block with the one before


def test_the_number_of_people_for_a_width_is_what_it_takes(tmp_path: Path) -> None:
    """Rehearsed with as many as advised, the widest interval is as asked, within a sixth."""
    survey = survey_in(tmp_path, "ask-one", "block_size = 500")
    few, many = tmp_path / "few.json", tmp_path / "many.json"
    run("rehearse", survey, "-o", few, "--n", 6_000)
    found = trace(tally_from_bytes(few.read_bytes()), ["smokes", "drinks"])
    needed = found.people_for_width(0.06)
    run("rehearse", survey, "-o", many, "--n", 3 * needed)
    reached = trace(tally_from_bytes(many.read_bytes()), ["smokes", "drinks"]).widths()[-1]
    assert float(np.max(reached)) == pytest.approx(0.06, rel=1 / 6)
    with pytest.raises(EstimationError, match="such as"):
        found.people_for_width(2.0)
