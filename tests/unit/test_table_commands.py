"""The commands ``estimate`` and ``synthesize``: what they print, write and refuse."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from deniable import bulk
from deniable.cli import main
from deniable.counting import count
from deniable.estimation import estimate
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = Schema(
    (
        Attribute.nominal("sick", ["no", "yes"]),
        Attribute.nominal("arm", ["a", "b", "c"]),
        Attribute.numeric("age", [0, 30, 60, 90]),
    )
)
SURVEYS = {
    "apart": Survey("apart", SCHEMA, Privacy(9.0, "independent", {"channel": "k-ary"})),
    "pairs": Survey("pairs", SCHEMA, Privacy(4.0, "ask-one", {"k": 2})),
}
PEOPLE = 6000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with the reports of 6,000 people under two designs."""
    made = tmp_path_factory.mktemp("reports")
    rng = np.random.default_rng(4)
    arm = rng.integers(0, 3, PEOPLE)
    sick = rng.random(PEOPLE) < 0.2 + 0.3 * (arm == 2)
    age = np.where(sick, rng.integers(30, 90, PEOPLE), rng.integers(0, 90, PEOPLE))
    answers = pa.table(
        {
            "sick": np.where(sick, "yes", "no").tolist(),
            "arm": [["a", "b", "c"][place] for place in arm],
            "age": age,
        }
    )
    for name, survey in SURVEYS.items():
        survey.dump(made / f"{name}.toml")
        path = made / f"{name}.parquet"
        pa.parquet.write_table(bulk.randomize(answers, survey, unsafe_seed=1), path)
        (made / f"{name}.json").write_bytes(count(path).tally().to_bytes())
    return made


def run(*words: object) -> Result:
    """Run the command line."""
    return CliRunner().invoke(main, [str(word) for word in words])


def test_a_table_is_printed_with_its_interval_and_worth(folder: Path) -> None:
    """Eighty columns, the categories' names, and how many plain answers it is worth."""
    done = run("estimate", folder / "apart.parquet", "--tables", "sick,arm")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "sick × arm, 6,000 people, default"
    assert lines[1].split() == ["sick", "arm", "share", "95%", "interval", "worth"]
    assert [line.split()[:2] for line in lines[3:9]] == [
        [sick, arm] for sick in ("no", "yes") for arm in "abc"
    ]
    assert any(line.startswith("The table is worth") for line in lines)
    assert max(map(len, lines)) <= 80


def test_without_tables_each_attribute_gets_its_own(folder: Path) -> None:
    """Three attributes, three tables."""
    done = run("estimate", folder / "apart.parquet")
    assert [line for line in done.stdout.splitlines() if "people" in line] == [
        f"{name}, 6,000 people, default" for name in ("sick", "arm", "age")
    ]


def test_a_file_and_its_tally_give_the_same_numbers(folder: Path) -> None:
    """A tally knows no names; --survey gives them back, and the rest is the same."""
    words = ("--tables", "sick,arm", "--format", "json")
    from_file = json.loads(run("estimate", folder / "pairs.parquet", *words).stdout)
    survey = ("--survey", folder / "pairs.toml")
    from_tally = json.loads(run("estimate", folder / "pairs.json", *words, *survey).stdout)
    assert from_file == from_tally
    (table,) = from_file
    assert table["attributes"] == ["sick", "arm"]
    assert table["design"]
    assert sum(cell["estimate"] for cell in table["cells"]) == pytest.approx(1)


def test_csv_is_one_tidy_table_of_all_cells(folder: Path) -> None:
    """A row for each cell with estimate, error, bounds, people, method and design."""
    words = ("--tables", "sick", "--tables", "arm,sick", "--format", "csv", "--simultaneous")
    done = run("estimate", folder / "apart.parquet", *words)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == 2 + 6
    assert [row["table"] for row in rows] == ["sick"] * 2 + ["arm,sick"] * 6
    assert all(float(row["low"]) <= float(row["high"]) for row in rows)
    assert {row["n"] for row in rows} == {"6000"}


def test_every_estimator_is_listed_with_its_source() -> None:
    """The list has each name once, in eighty columns, and needs no file of reports."""
    done = run("estimate", "--methods")
    assert done.exit_code == 0, done.output
    names = [line.split()[0] for line in done.stdout.splitlines() if not line.startswith(" ")]
    from deniable.estimation import METHODS  # noqa: PLC0415

    assert names == list(METHODS)
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.parametrize("method", ["tree", "junction-tree", "default"])
def test_a_model_gives_tables_that_nobody_was_asked(folder: Path, method: str) -> None:
    """Under pairs a triple comes out of the model, without an interval and saying why."""
    words = ("--tables", "sick,arm,age", "--tables", "sick,arm", "--method", method)
    done = run("estimate", folder / "pairs.parquet", *words)
    assert done.exit_code == 0, done.output
    triple, pair = done.stdout.split("\nsick × arm, ")
    assert "unknown" in triple
    assert "nobody answered all these attributes together" in triple
    assert "unknown" not in pair


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("--tables", "sick,arm,age", "--method", "maximum-likelihood"),
            "a view whose groups hold sick, arm, age",
        ),
        (("--tables", "sic"), "no attribute 'sic' in the design; expected 'sick'"),
        (("--tables", "sick", "--least-worth", "1e6"), "which takes about"),
        (("--tables", ","), "at least one attribute"),
    ],
)
def test_what_the_reports_cannot_carry_is_refused(
    folder: Path, words: tuple[str, ...], sentence: str
) -> None:
    """One sentence that says what would be right, exit code 2, and the other tables printed."""
    done = run(
        "estimate", folder / "pairs.parquet", *words, "--tables", "arm", "--least-worth", "1"
    )
    if "1e6" in words:
        done = run("estimate", folder / "pairs.parquet", *words)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.output


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("estimate", "nowhere.parquet"), "there is no file nowhere.parquet"),
        (("estimate", "{}/pairs.toml"), "does not say for which design"),
        (("estimate", "{}/pairs.json", "--method", "unbiassed"), "unbiased"),
        (("estimate", "{}/pairs.json", "--level", "95"), "between 0 and 1"),
        (("synthesize", "{}/pairs.json", "-o", "x.txt"), "ending in .csv or .parquet"),
        (("synthesize", "{}/pairs.json", "-o", "{}/pairs.parquet"), "there already"),
        (("synthesize", "{}/pairs.json", "-o", "x.csv", "--attributes", "zex"), "no attribute"),
        (("synthesize", "{}/pairs.json", "-o", "x.csv", "--attributes", "arm,arm"), "twice"),
        (("synthesize", "{}/pairs.json", "-o", "x.csv", "--method", "unbiased"), "model of the"),
    ],
)
def test_bad_input_is_a_sentence(folder: Path, words: tuple[str, ...], sentence: str) -> None:
    """No trace, no table, nothing written."""
    done = run(*(word.format(folder) for word in words))
    assert done.exit_code not in {0, 70}, done.output
    assert sentence in done.stderr
    assert "Traceback" not in done.output


@pytest.mark.parametrize("design", SURVEYS)
def test_synthetic_records_fit_the_survey(folder: Path, tmp_path: Path, design: str) -> None:
    """They have its columns and answers, so that they can be randomized like a real file."""
    out = tmp_path / "people.csv"
    done = run("synthesize", folder / f"{design}.parquet", "-o", out)
    assert done.exit_code == 0, done.output
    assert f"{PEOPLE:,} synthetic records" in done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines()].count("triples") >= 1
    with out.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == PEOPLE
    assert list(rows[0]) == ["sick", "arm", "age"]
    share = np.mean([row["sick"] == "yes" for row in rows if row["arm"] == "c"])
    assert share == pytest.approx(0.5, abs=0.1)
    survey = folder / f"{design}.toml"
    again = run("randomize", out, "--survey", survey, "-o", tmp_path / "again.parquet")
    assert again.exit_code == 0, again.output


def test_synthetic_records_are_seeded_and_may_be_drawn(folder: Path, tmp_path: Path) -> None:
    """One seed makes one file; another, or drawing, another; Parquet keeps the columns."""
    made = {}
    for name, words in {
        "one": (),
        "same": (),
        "other": ("--seed", 2),
        "drawn": ("--way", "drawn"),
        "few": ("--attributes", "age,sick", "--people", 50),
    }.items():
        out = tmp_path / f"{name}.parquet"
        done = run("synthesize", folder / "apart.parquet", "-o", out, "--method", "tree", *words)
        assert done.exit_code == 0, done.output
        made[name] = pa.parquet.read_table(out)
    assert made["one"].equals(made["same"])
    assert not made["one"].equals(made["other"])
    assert not made["one"].equals(made["drawn"])
    assert made["few"].column_names == ["age", "sick"]
    assert made["few"].num_rows == 50


def test_a_tally_without_a_survey_writes_places(folder: Path, tmp_path: Path) -> None:
    """Nobody knows what the categories are called; a note says how to name them."""
    out = tmp_path / "people.csv"
    done = run("synthesize", folder / "pairs.json", "-o", out, "--method", "tree")
    assert done.exit_code == 0, done.output
    assert "--survey FILE names them" in done.stderr
    assert out.read_text(encoding="utf-8").splitlines()[1].replace(",", "").isdigit()


def test_a_file_names_its_categories_in_python_too(folder: Path) -> None:
    """What was counted remembers its survey: shares are asked for by name."""
    table = estimate(
        count(folder / "apart.parquet", joint=True),
        ["sick", "arm"],
        rng=np.random.default_rng(1),
        method="unbiased",
    )
    assert [axis.categories for axis in table.axes] == [("no", "yes"), ("a", "b", "c")]
    assert table.condition({"arm": "c"}).names == ("sick",)


def test_a_file_without_reports_is_refused(tmp_path: Path) -> None:
    """Nobody answered: a sentence and exit code 2, from a file, its tally, and synthesize."""
    nobody = pa.table({"sick": pa.array([], "string"), "arm": pa.array([], "string")})
    nobody = nobody.append_column("age", pa.array([], "int64"))
    path = tmp_path / "empty.parquet"
    pa.parquet.write_table(bulk.randomize(nobody, SURVEYS["apart"], unsafe_seed=1), path)
    (tmp_path / "empty.json").write_bytes(count(path).tally().to_bytes())
    for source in (path, tmp_path / "empty.json"):
        for words in (("estimate", source), ("synthesize", source, "-o", tmp_path / "no.csv")):
            done = run(*words)
            assert done.exit_code == 2
            assert "there is no report to estimate from" in done.stderr
    assert not (tmp_path / "no.csv").exists()


def test_a_survey_of_something_else_is_refused(folder: Path, tmp_path: Path) -> None:
    """The survey file must be the one that was asked."""
    other = Survey("other", Schema((Attribute.nominal("sick", ["no", "yes"]),)), Privacy(1.0))
    other.dump(tmp_path / "other.toml")
    done = run("estimate", folder / "apart.json", "--survey", tmp_path / "other.toml")
    assert done.exit_code == 2
    assert "the survey does not fit the design" in done.stderr


def test_separate_counts_say_how_to_count_together(folder: Path) -> None:
    """A tally that parted the groups cannot tell a pair, and names the option that keeps them."""
    words = ("--tables", "sick,arm", "--method", "unbiased")
    done = run("estimate", folder / "apart.json", *words)
    assert done.exit_code == 2
    assert "count --joint" in done.stderr


def test_synthetic_records_are_held_to_the_reports(folder: Path, tmp_path: Path) -> None:
    """The report says how many shares lie in the intervals of the reports alone."""
    words = ("--method", "maximum-likelihood", "--attributes", "sick,arm")
    done = run("synthesize", folder / "apart.parquet", "-o", tmp_path / "made.csv", *words)
    assert done.exit_code == 0, done.output
    assert "Shares within the 95% intervals of the reports alone" in done.stdout
    pairs = next(line for line in done.stdout.splitlines()[::-1] if line.startswith("pairs"))
    assert pairs.split()[2:4] == ["6", "100.0%"]
    assert max(map(len, done.stdout.splitlines()[1:])) <= 80  # the first names the file
