"""The commands that check, infer and import survey files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from deniable.cli import main
from deniable.schema import Survey

EXAMPLES = Path(__file__).parents[2] / "examples"


def deniable(*words: object) -> Result:
    """Run one command."""
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.name)
def test_validate_says_what_is_asked_and_promised(path: Path) -> None:
    """The promise, the design and every attribute are printed, 80 columns wide."""
    result = deniable("validate", path)
    survey = Survey.load(path)
    assert result.exit_code == 0, result.stderr
    assert f"epsilon {survey.privacy.epsilon:g} for all answers of a respondent" in result.stdout
    assert re.search(r"^ε per answer +at most \d+\.\d{3}$", result.stdout, re.MULTILINE)
    assert re.search(r"^ε per attribute +at most \d+\.\d{3}$", result.stdout, re.MULTILINE)
    assert all(name in result.stdout for name in survey.schema.names)
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert result.stderr == ""


def test_validate_prints_the_whole_survey_as_json() -> None:
    """What is printed is again a survey file, and the same one."""
    result = deniable("validate", EXAMPLES / "health.toml", "--json")
    assert Survey.from_dict(json.loads(result.stdout)) == Survey.load(EXAMPLES / "health.toml")


def test_validate_lists_faults_and_notes_gaps(tmp_path: Path) -> None:
    """A fault ends the command with 2 and one sentence; a missing translation is a note."""
    text = (EXAMPLES / "minimal.toml").read_text("utf-8")
    (tmp_path / "bad.toml").write_text(text.replace("ordered", "orderd"))
    result = deniable("validate", tmp_path / "bad.toml")
    assert result.exit_code == 2
    assert "pages[0].elements[1]: unknown key 'orderd'; did you mean 'ordered'?" in result.stderr
    (tmp_path / "gap.toml").write_text('locales = ["en", "de"]\n' + text)
    assert (
        "not translated: the survey's title (de)"
        in deniable("validate", tmp_path / "gap.toml").stderr
    )


def test_validate_refuses_a_design_that_cannot_be_had(tmp_path: Path) -> None:
    """A group with more cells than a channel can hold is a fault before anyone is asked."""
    scales = "".join(
        f'[[pages.elements]]\ntype = "rating"\nname = "q{n}"\nrateMax = 1000\n' for n in range(5)
    )
    head = 'deniable = 1\nname = "s"\n[privacy]\nepsilon = 1\ndesign = "joint"\n[[pages]]\n'
    (tmp_path / "wide.toml").write_text(head + scales)
    result = deniable("validate", tmp_path / "wide.toml")
    assert result.exit_code == 2
    assert "too many cells" in result.stderr


def test_infer_reads_csv_and_parquet_alike(tmp_path: Path) -> None:
    """Both files give the same survey; what was read off the data is noted on stderr."""
    rows = {"sex": ["f", "m", None, "NA"], "age": [20, 30, 64, 41]}
    (tmp_path / "my data.csv").write_text("sex,age\nf,20\nm,30\n,64\nNA,41\n")
    pq.write_table(pa.table(rows), tmp_path / "my data.parquet")
    for name in ("my data.csv", "my data.parquet"):
        out = ("-o", tmp_path / "s.toml", "--replace")
        options = ("--bins", "age=18,30,65", "--epsilon", 0.5, *out)
        result = deniable("schema", "infer", tmp_path / name, *options)
        assert result.exit_code == 0, result.stderr
        assert "sex were read off" in result.stderr.replace("domains of ", "")
        survey = Survey.load(tmp_path / "s.toml")
        assert (survey.name, survey.privacy.epsilon) == ("my-data", 0.5)
        assert survey.schema["sex"].cell_names == ("NA", "f", "m", "missing")
        assert survey.schema["age"].edges == (18, 30, 65)


def test_infer_without_output_prints_a_survey_file(tmp_path: Path) -> None:
    """Stdout holds the file and nothing else."""
    (tmp_path / "d.csv").write_text("a,b\nx,1\ny,2\n")
    result = deniable("schema", "infer", tmp_path / "d.csv", "--columns", "a")
    assert Survey.parse(result.stdout).schema.names == ("a",)


def test_infer_takes_the_answers_that_randomize_takes(tmp_path: Path) -> None:
    """A line break within quotes is part of an answer, for both commands."""
    lines = ['"two\nlines",x' if row % 2 else "one,y" for row in range(300_000)]
    (tmp_path / "d.csv").write_text("\n".join(["a,b", *lines]) + "\n")
    told = deniable("schema", "infer", tmp_path / "d.csv").stderr
    assert "'a': the name of a category contains characters that cannot be printed" in told
    assert "cannot be read" not in told


@pytest.mark.parametrize(
    "rows",
    ["yes,1.0,x\nno,2.0,y\nyes,,x\n", "yes,1,x\nno,2.00,y\n", "TRUE,1,FALSE\nFALSE,2,TRUE\n"],
)
def test_randomize_takes_the_file_that_a_survey_was_inferred_from(
    tmp_path: Path, rows: str
) -> None:
    """Numbers as pandas writes them beside a gap are whole ones; Excel shouts its truths."""
    (tmp_path / "f.csv").write_text("a,b,c\n" + rows)
    survey = tmp_path / "s.toml"
    assert deniable("schema", "infer", tmp_path / "f.csv", "-o", survey).exit_code == 0
    assert Survey.load(survey).schema["b"].cell_names[:2] == ("1", "2")
    words = ("randomize", tmp_path / "f.csv", "--survey", survey, "-o", tmp_path / "r.csv")
    result = deniable(*words)
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("infer", "absent.csv"), "there is no file absent.csv"),
        (("infer", "broken.parquet"), "read as parquet; expected a whole Parquet file"),
        (("infer", "twice.csv"), "column 'a' is there more than once"),
        (("infer", "latin.csv"), "latin.csv cannot be read as csv; expected a whole file in UTF-8"),
        (("infer", "d.txt"), "does not say what kind of file it is"),
        (("infer", "d.csv", "--bins", "a=x"), "not of the form age=18,30,65"),
        (("infer", "d.csv", "--columns", "z"), "lack the column 'z'"),
        (("infer", "d.csv", "--epsilon", "0"), "epsilon"),
        (("import", "d.csv"), "one .json, one .xlsx, or two .csv files"),
        (("import", "broken.json"), "is not JSON"),
        (("import", "latin.json"), "is not UTF-8"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], told: str
) -> None:
    """Whatever is wrong, nothing is written and the exit code is 2."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("a,b\nx,1\ny,2\n")
    Path("broken.parquet").write_text("no")
    Path("broken.json").write_text("{")
    Path("d.txt").write_text("a,b\nx,1\ny,2\n")
    Path("twice.csv").write_text("a,b,a\nx,1,y\ny,2,x\n")
    Path("latin.csv").write_bytes(b"a,b\nx,\xe9\ny,2\n")
    Path("latin.json").write_bytes(b'{"title": "\xe9"}')
    result = deniable("schema", *words, "-o", "out.toml")
    assert result.exit_code == 2
    assert told in result.stderr
    assert not Path("out.toml").exists()


@pytest.mark.parametrize("words", [("infer", "d.csv"), ("import", "f.json")])
def test_a_survey_file_is_written_where_its_name_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, str]
) -> None:
    """Other endings are refused, and what is there stays unless it may be replaced."""
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("a,b\nx,1\ny,2\n")
    Path("f.json").write_text('{"elements": [{"type": "boolean", "name": "a"}]}')
    for name in ("s.yaml", "s", "s.toml.bak"):
        result = deniable("schema", *words, "-o", name)
        assert result.exit_code == 2
        assert f"the name of {name} does not say" in result.stderr
        assert ".toml or .json" in result.stderr
        assert not Path(name).exists()
    Path("s.toml").write_text("corrected by hand")
    result = deniable("schema", *words, "-o", "s.toml")
    assert result.exit_code == 2
    assert "s.toml is there already; expected another name, or --replace" in result.stderr
    assert Path("s.toml").read_text() == "corrected by hand"
    assert deniable("schema", *words, "-o", "s.toml", "--replace").exit_code == 0
    assert Survey.load("s.toml").schema.names[0] == "a"
    assert deniable("schema", *words, "-o", "s.json").exit_code == 0
    assert json.loads(Path("s.json").read_text())["name"]


def test_import_reads_surveyjs_and_xlsform(tmp_path: Path) -> None:
    """Each form becomes a survey file, and each omission a line on stderr."""
    elements = [{"type": "boolean", "name": "a"}, {"type": "comment", "name": "b"}]
    (tmp_path / "form.json").write_text(json.dumps({"elements": elements}))
    (tmp_path / "survey.csv").write_text("type,name,label\nselect_one yn,a,A?\ntext,b,B?\n")
    (tmp_path / "choices.csv").write_text("list_name,name,label\nyn,yes,Yes\nyn,no,No\n")
    for forms in (["form.json"], ["survey.csv", "choices.csv"]):
        paths = [tmp_path / form for form in forms]
        result = deniable("schema", "import", *paths, "--name", "mine", "--epsilon", 2)
        assert result.exit_code == 0, result.stderr
        survey = Survey.parse(result.stdout)
        assert (survey.name, survey.schema.names) == ("mine", ("a",))
        assert "free text is not collected" in result.stderr
