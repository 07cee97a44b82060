"""``deniable test``: one hypothesis, all pairs, and a sentence where there is too little data."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from deniable import bulk, counting
from deniable.cli import main
from deniable.cli.test_text import matrix_lines
from deniable.inference import PairTests, TestResult, independence_test
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from pathlib import Path

YES = np.array(["no", "yes"])


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay a file of reports of three attributes, two of them associated."""
    return laid(tmp_path_factory.mktemp("test") / "reports.parquet", 6000, 5)


def laid(path: Path, people: int, seed: int) -> Path:
    """Write a file of reports."""
    rng = np.random.default_rng(seed)
    smokes = rng.integers(0, 2, people)
    coughs = np.where(rng.random(people) < 0.7, smokes, rng.integers(0, 2, people))
    ages = rng.integers(0, 3, people)
    old = np.array(["young", "middle", "old"])
    answers = pa.table({"smokes": YES[smokes], "coughs": YES[coughs], "age": old[ages]})
    schema = Schema(
        (
            Attribute.nominal("smokes", ["no", "yes"]),
            Attribute.nominal("coughs", ["no", "yes"]),
            Attribute.ordinal("age", ["young", "middle", "old"]),
        )
    )
    survey = Survey("demo", schema, Privacy(6.0, "independent"))
    pq.write_table(bulk.randomize(answers, survey, unsafe_seed=seed), path)
    return path


def run(*words: object) -> tuple[int, str, str]:
    """Run ``deniable test``."""
    done = CliRunner().invoke(main, ["test", *map(str, words)])
    return done.exit_code, done.stdout, done.stderr


def test_a_pair_is_tested_and_the_result_said(reports: Path) -> None:
    """The command prints the p-value that Python gives, and what it means."""
    code, out, _ = run(reports, "--attributes", "smokes,coughs")
    assert code == 0
    assert "smokes and coughs are independent" in out
    assert "Rejected at the level .05" in out
    told = json.loads(run(reports, "--attributes", "smokes,coughs", "--format", "json")[1])
    source = counting.count(reports, joint=True)
    rng = np.random.default_rng(0)
    assert told["p_value"] == independence_test(source, ["smokes", "coughs"], rng=rng).p_value
    assert told["too_little_data"] is None


def test_independence_given_another_attribute_is_a_question_of_its_own(reports: Path) -> None:
    """``--given`` doubles or triples the degrees of freedom."""
    words = (reports, "--attributes", "smokes,coughs", "--given", "age", "--format", "json")
    told = json.loads(run(*words)[1])
    assert told["hypothesis"] == "smokes and coughs are independent given age"
    assert told["freedom"] == 3


def test_all_pairs_fit_eighty_columns(reports: Path) -> None:
    """The matrix has a sign for each pair, and the associated one is listed."""
    code, out, _ = run(reports, "--all-pairs")
    assert code == 0
    assert "2 coughs ■" in out
    assert "smokes × coughs" in out
    assert [line for line in out.splitlines() if len(line) > 80] == []


def test_shares_are_fitted_from_words_or_a_file(reports: Path, tmp_path: Path) -> None:
    """Numbers with commas and a CSV file say the same hypothesis; names need the survey's words."""
    code, out, _ = run(reports, "--attributes", "age", "--fit", "0.2,0.3,0.5")
    assert code == 0
    assert "age follows the shares given" in out
    path = tmp_path / "census.csv"
    path.write_text("age,share\nold,0.5\nyoung,0.2\nmiddle,0.3\n", encoding="utf-8")
    assert run(reports, "--attributes", "age", "--fit", path)[1] == out
    path.write_text("age,share\nold,0.5\nyoung,0.5\n", encoding="utf-8")
    code, _, err = run(reports, "--attributes", "age", "--fit", path)
    assert code == 2
    assert "leaves cells out" in err


def test_two_groups_are_compared(reports: Path, tmp_path: Path) -> None:
    """People drawn alike are not told apart."""
    others = laid(tmp_path / "others.parquet", 5000, 6)
    words = (reports, "--attributes", "smokes,coughs", "--groups", others, "--format", "json")
    told = json.loads(run(*words)[1])
    assert told["people"] == 11_000
    assert told["p_value"] > 1e-6


def test_too_little_data_is_said_and_no_p_value_printed(tmp_path: Path) -> None:
    """Twelve people are refused with the reason, and the exit code tells a script."""
    few = laid(tmp_path / "few.parquet", 12, 7)
    code, out, _ = run(few, "--attributes", "smokes,age")
    assert code == 2
    assert "Too little data: 12 respondents for 6 cells" in " ".join(out.split())
    assert (
        json.loads(run(few, "--attributes", "smokes,age", "--format", "json")[1])["p_value"] is None
    )
    assert "? 2 of the pairs: 12 respondents for 6 cells" in run(few)[1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--attributes", "smokes,sex"), "no attribute 'sex'"),
        (("--attributes", "smokes,age", "--method", "scores"), "no test called 'scores'"),
        (("--method", "scores"), "no test called 'scores'"),
        (("--attributes", "smokes,age", "--method", "laplace"), "trusted party"),
        (("--attributes", "smokes"), "between at least two attributes"),
        (("--attributes", "smokes", "--fit", "a,b"), "numbers with commas"),
        (("--fit", "0.5,0.5"), "--fit needs to know of which attributes"),
        (("--attributes", "smokes,age", "--given", "coughs", "--all-pairs"), "different questions"),
        (("--fdr", "5"), "--fdr is a share"),
    ],
)
def test_a_wrong_word_gets_a_sentence(reports: Path, words: tuple[str, ...], sentence: str) -> None:
    """No traceback."""
    code, _, err = run(reports, *words)
    assert code == 2
    assert sentence in err
    assert "Traceback" not in err


def test_the_list_names_every_test() -> None:
    """``--list`` needs no file."""
    code, out, _ = run("--list")
    assert code == 0
    assert "monte-carlo" in out
    assert "mc-indep" in out


@pytest.mark.parametrize("count", [2, 9, 40, 120])
def test_the_matrix_fits_eighty_columns_whatever_the_number_of_attributes(count: int) -> None:
    """Every pair has its sign once; too many columns go to further panels."""
    names = tuple(f"an attribute with a long name {place}" for place in range(count))
    pairs = [(one, two) for place, two in enumerate(names) for one in names[:place]]
    sure = TestResult("x", "score", 50.0, 1, 1e-12, 100)
    results = dict.fromkeys(pairs[1:], sure)
    lines = list(matrix_lines(PairTests(names, results, {pairs[0]: "nobody was asked"}), 0.05))
    assert max(map(len, lines)) <= 80
    body = "\n".join(lines[:-1])
    assert body.count("■") == len(pairs) - 1
    assert body.count("?") == 1
