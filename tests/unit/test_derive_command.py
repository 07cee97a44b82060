"""``deniable derive``: three outputs, and a sentence where something cannot be derived."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from deniable import bulk
from deniable.cli import main
from deniable.cli.derive import number
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay a file of reports of three attributes, two of them associated."""
    rng = np.random.default_rng(5)
    smokes = rng.integers(0, 2, 6000)
    coughs = np.where(rng.random(6000) < 0.7, smokes, rng.integers(0, 2, 6000))
    ages = rng.integers(0, 3, 6000)
    yes = np.array(["no", "yes"])
    old = np.array(["young", "middle", "old"])
    answers = pa.table({"smokes": yes[smokes], "coughs": yes[coughs], "age": old[ages]})
    schema = Schema(
        (
            Attribute.nominal("smokes", ["no", "yes"]),
            Attribute.nominal("coughs", ["no", "yes"]),
            Attribute.ordinal("age", ["young", "middle", "old"]),
        )
    )
    survey = Survey("demo", schema, Privacy(6.0, "independent"))
    path = tmp_path_factory.mktemp("derive") / "reports.parquet"
    pq.write_table(bulk.randomize(answers, survey, unsafe_seed=3), path)
    return path


def run(*words: object) -> tuple[int, str, str]:
    """Run ``deniable derive``."""
    done = CliRunner().invoke(main, ["derive", *map(str, words)])
    return done.exit_code, done.stdout, done.stderr


def test_every_pair_is_measured_in_eighty_columns(reports: Path) -> None:
    """Without tables all pairs are printed, no line too wide, and the way is said."""
    code, out, _ = run(reports)
    assert code == 0
    assert [line for line in out.splitlines() if len(line) > 80] == []
    assert out.count("people") == 3
    assert "delta" in out
    assert "bootstrap" in out


def test_csv_and_json_tell_the_same(reports: Path) -> None:
    """Both forms have a row for each measure, with the same numbers."""
    words = (reports, "--tables", "smokes,coughs", "--measures", "odds-ratio,entropy")
    rows = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv")[1])))
    told = json.loads(run(*words, "--format", "json")[1])
    assert [row["measure"] for row in rows] == [one["measure"] for one in told]
    assert [float(row["low"]) for row in rows] == pytest.approx([one["low"] for one in told])
    assert told[0]["by"] == "delta"
    assert 12 < told[0]["estimate"] < 80  # the odds ratio of the answers is 32


def test_what_cannot_be_derived_is_refused_and_the_rest_printed(reports: Path) -> None:
    """One sentence on stderr, the rest on stdout, exit code 2."""
    code, out, err = run(reports, "--tables", "smokes,age", "--measures", "odds-ratio,gamma")
    assert code == 2
    assert "refused: odds-ratio of smokes,age: which answers of 'age'" in err
    assert "gamma" in out


def test_a_table_that_cannot_be_estimated_is_refused_once(reports: Path) -> None:
    """However many measures were asked of it."""
    words = ("--tables", "smokes,sex", "--tables", "smokes,age", "--measures", "gamma,entropy")
    code, out, err = run(reports, *words)
    assert code == 2
    assert err.count("refused") == 1
    assert "smokes × age" in out


def test_an_order_that_nobody_declared_is_said(tmp_path: Path) -> None:
    """A measure of ordered categories says in which order it takes nominal ones; V does not."""
    schema = Schema(
        (
            Attribute.nominal("home", ["rent", "own", "none"]),
            Attribute.ordinal("age", ["young", "middle", "old"]),
        )
    )
    rng = np.random.default_rng(6)
    home, age = (rng.integers(0, 3, 3000) for _ in range(2))
    answers = pa.table(
        {
            "home": np.array(["rent", "own", "none"])[home],
            "age": np.array(["young", "middle", "old"])[age],
        }
    )
    survey = Survey("demo", schema, Privacy(6.0, "independent"))
    path = tmp_path / "reports.parquet"
    pq.write_table(bulk.randomize(answers, survey, unsafe_seed=4), path)
    said = "home is nominal; gamma takes it in the order rent, own, none."
    assert said in run(path, "--measures", "gamma")[1].replace("\n", " ")
    assert "nominal" not in run(path, "--measures", "cramers-v")[1]


def test_answers_are_chosen_by_name(reports: Path) -> None:
    """An answer may be compared with all others."""
    words = ("--tables", "smokes,age", "--measures", "odds-ratio", "--of", "age=old")
    code, out, _ = run(reports, *words)
    assert code == 0
    assert "age: old compared with all others." in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--measures", "cramers-w"), "no measure called 'cramers-w'"),
        (("--of", "smokes"), "--of names an attribute"),
        (("--tables", "smokes,sex"), "no attribute 'sex'"),
    ],
)
def test_a_wrong_word_gets_a_sentence(reports: Path, words: tuple[str, ...], sentence: str) -> None:
    """No traceback."""
    code, _, err = run(reports, *words)
    assert code == 2
    assert sentence in err
    assert "Traceback" not in err


def test_the_list_names_every_measure() -> None:
    """``--list`` needs a file's name only."""
    code, out, _ = run("none.parquet", "--list")
    assert code == 0
    assert "kendall-tau-b" in out


def test_numbers_are_short() -> None:
    """Infinity and minus are signs a person reads."""
    assert number(-0.5) == "−0.5000"
    assert number(-0.00001) == "0.0000"
