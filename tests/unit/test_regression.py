"""Regression as a person meets it: terms, references, sentences, records, the command."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

from deniable import bulk, counting
from deniable.channels import k_ary, matrix
from deniable.cli import main
from deniable.errors import DataError, EstimationError
from deniable.estimation import Experiment, evidence_from_reports
from deniable.estimation.study import Study
from deniable.inference import regress
from deniable.inference.regression.formula import terms_of
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from pathlib import Path

    from deniable.estimation import Evidence

TRUTH = np.array(
    [[[0.20, 0.15, 0.10], [0.10, 0.05, 0.05]], [[0.05, 0.05, 0.05], [0.05, 0.05, 0.1]]]
)
APART = (Experiment(8000, (k_ary(2.0, 2), k_ary(2.0, 2), k_ary(2.0, 3)), ((0,), (1,), (2,))),)
NAMES = {"smokes": ["no", "yes"], "sex": ["f", "m"], "age": ["young", "middle", "old"]}


def evidence() -> Evidence:
    """Return reports on smoking, sex and age."""
    return Study(("smokes", "sex", "age"), TRUTH, APART).draw(np.random.default_rng(1))


def test_terms_are_read_as_people_write_them() -> None:
    """A star stands for both and their interaction; nothing is taken twice."""
    assert terms_of(["sex", "sex*age"]) == (("sex",), ("age",), ("sex", "age"))
    with pytest.raises(EstimationError, match="no name"):
        terms_of(["sex:"])


def test_labels_name_what_is_compared() -> None:
    """Every category but the reference has a coefficient, and interactions have products."""
    found = regress(
        evidence(), "smokes", ["sex*age"], categories=NAMES, by="wald", reference={"age": "old"}
    )
    assert [one.label for one in found.coefficients] == [
        "(intercept)",
        "sex=m",
        "age=young",
        "age=middle",
        "sex=m:age=young",
        "sex=m:age=middle",
    ]
    assert {one.category for one in found.coefficients} == {"yes"}
    assert [test.freedom for test in found.term_tests()] == [2]


def test_a_saturated_regression_is_the_table() -> None:
    """With all interactions the predicted chances are the table's own conditional shares."""
    reports = evidence()
    found = regress(reports, "smokes", ["sex*age"], categories=NAMES, by="wald")
    from deniable.estimation import estimate  # noqa: PLC0415 -- beside its use

    rng = np.random.default_rng(2)
    table = estimate(reports, ["smokes", "sex", "age"], rng=rng, method="maximum-likelihood")
    for sex, age in np.ndindex(2, 3):
        cell = table.estimate[:, sex, age]
        given = {"sex": NAMES["sex"][sex], "age": NAMES["age"][age]}
        assert found.predict(given)[1].value == pytest.approx(cell[1] / cell.sum(), abs=0.01)


def test_scores_make_an_attribute_a_number() -> None:
    """Places by default, or the numbers that are given; a straight line has one coefficient."""
    reports = evidence()
    places = regress(reports, "smokes", ["age"], scores={"age": ()}, by="wald")
    years = regress(reports, "smokes", ["age"], scores={"age": (20, 40, 60)}, by="wald")
    assert [one.label for one in places.coefficients] == ["(intercept)", "age"]
    assert places["age"].estimate.value == pytest.approx(20 * years["age"].estimate.value, rel=1e-4)
    assert places.likelihood == pytest.approx(years.likelihood, abs=1e-6)


def test_nested_regressions_are_compared_by_the_reports_of_both() -> None:
    """Leaving a term out keeps its attribute in the likelihood, so that the two compare."""
    reports = evidence()
    larger = regress(reports, "smokes", ["sex", "age"], by="wald")
    result = larger.against(larger.without("age"))
    assert result.freedom == 2
    assert result.hypothesis == "smokes does not depend on age given sex"
    assert result.statistic == larger.term_tests()[1].statistic
    alone = regress(reports, "smokes", ["sex"], by="wald")
    with pytest.raises(EstimationError, match="not nested"):
        larger.against(alone)
    with pytest.raises(EstimationError, match="not nested"):
        alone.against(larger)
    with pytest.raises(EstimationError, match="no term 'agee'"):
        larger.without("agee")


def test_odds_ratios_are_exponentials() -> None:
    """Of the coefficient and of both bounds, by either way."""
    reports = evidence()
    for found in (
        regress(reports, "smokes", ["sex"]),
        regress(reports, "smokes", ["sex"], by="wald"),
    ):
        one = found["sex=1"]
        low, high, _ = one.estimate.interval()
        assert one.odds_ratio.value == pytest.approx(math.exp(one.estimate.value))
        assert one.odds_ratio.interval().low == pytest.approx(math.exp(low))
        assert one.odds_ratio.interval().high == pytest.approx(math.exp(high))
        assert one.estimate.of == ("smokes", "1")


def test_a_category_in_which_nobody_is_said_to_smoke_has_no_finite_estimate() -> None:
    """Separation by noise is a sentence; the interval is open on one side only."""
    channels = [k_ary(1.0, 2), k_ary(20.0, 2)]
    sex = np.repeat([0, 1], 500)
    # Fewer of the second kind say yes than the coin alone would make them.
    smokes = np.concatenate([np.arange(500) < 250, np.arange(500) < 110]).astype(int)
    reports = evidence_from_reports(["smokes", "sex"], [2, 2], channels, [smokes, sex])
    found = regress(reports, "smokes", ["sex"])
    assert "sex=1 has no finite estimate (separation)" in found.shortage
    one = found["sex=1"].estimate
    assert one.value == -math.inf
    assert math.isnan(one.standard_error)
    low, high, _ = one.interval()
    assert low == -math.inf
    assert -10 < high < 0
    assert found["sex=1"].p_value < 0.001
    assert found["(intercept)"].estimate.standard_error < 1
    assert math.isnan(found.predict({"sex": "1"})[1].interval().low)


def test_hardly_anything_known_is_said() -> None:
    """A coefficient with a standard error above 2 is named."""
    study = Study(
        ("smokes", "sex"),
        np.array([[0.4, 0.2], [0.1, 0.3]]),
        (Experiment(300, (k_ary(0.3, 4),), ((0, 1),)),),
    )
    found = regress(study.draw(np.random.default_rng(5)), "smokes", ["sex"])
    assert found.shortage


@pytest.mark.parametrize("seed", range(3, 8))
def test_what_nobody_was_asked_together_is_refused(seed: int) -> None:
    """Margins alone do not determine a coefficient, wherever the ascent ends."""
    apart = (
        Experiment(2000, (k_ary(2.0, 2),), ((0,),)),
        Experiment(2000, (k_ary(2.0, 2),), ((1,),)),
    )
    study = Study(("smokes", "sex"), np.array([[0.4, 0.2], [0.1, 0.3]]), apart)
    with pytest.raises(EstimationError, match="do not determine the coefficient of"):
        regress(study.draw(np.random.default_rng(seed)), "smokes", ["sex"])


def test_a_predictor_that_follows_from_another_is_refused() -> None:
    """Twice the same covariate cannot be told apart."""
    reports = evidence_from_reports(["smokes"], [2], [k_ary(3.0, 2)], [np.arange(400) % 2])
    plain = pd.DataFrame({"a": np.arange(400.0) % 7, "b": 2 * (np.arange(400.0) % 7)})
    with pytest.raises(EstimationError, match="no predictor that follows"):
        regress(reports, "smokes", ["a", "b"], covariates=plain)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"outcome": "smoke"}, "no attribute 'smoke'"),
        ({"predictors": ["sex", "sexx"]}, "no attribute 'sexx'"),
        ({"predictors": ["smokes"]}, "among its own predictors"),
        ({"reference": {"age": "ancient"}}, "'age' has no such category"),
        ({"reference": {"height": "tall"}}, "'height' is not in the regression"),
        ({"scores": {"age": [1, 2]}}, "scores of 'age' do not fit"),
    ],
)
def test_a_wrong_word_is_a_sentence(words: dict[str, object], sentence: str) -> None:
    """What is wrong is said, and what would be right."""
    asked: dict[str, object] = {"outcome": "smokes", "predictors": ["sex", "age"], **words}
    with pytest.raises(EstimationError, match=sentence):
        regress(evidence(), **asked, categories=NAMES)  # type: ignore[arg-type]


def test_part_of_a_group_behind_a_matrix_is_refused() -> None:
    """A bare matrix tells the cells of its whole group apart; a part has no exact likelihood."""
    channel = matrix((np.full((8, 8), 0.05) + 0.6 * np.eye(8)).tolist())
    reports = np.random.default_rng(1).integers(0, 8, 50)
    found = evidence_from_reports(["a", "b", "c"], [2, 2, 2], [channel], [reports], [(0, 1, 2)])
    with pytest.raises(EstimationError, match="cells of their whole group"):
        regress(found, "a", ["b"])


def test_covariates_need_the_reports_themselves() -> None:
    """Counts do not know any more who is who, and rows must match."""
    plain = pd.DataFrame({"w": np.arange(100.0)})
    with pytest.raises(EstimationError, match="counted"):
        regress(evidence(), "smokes", ["w"], covariates=plain)
    one = evidence_from_reports(["smokes"], [2], [k_ary(2.0, 2)], [np.arange(90) % 2])
    with pytest.raises(EstimationError, match="100 rows of covariates for 90 reports"):
        regress(one, "smokes", ["w"], covariates=plain)
    with pytest.raises(EstimationError, match="no covariate 'v'"):
        regress(one, "smokes", ["v"], covariates=plain)
    with pytest.raises(EstimationError, match="nothing in this regression was randomized"):
        regress(one, "u", ["w"], covariates=pd.DataFrame({"w": np.zeros(90), "u": ["a", "b"] * 45}))


def test_respondents_without_a_covariate_are_left_out_and_counted() -> None:
    """Missing values of numbers and of texts leave a row out, and a note says how many."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"w": rng.normal(size=400), "sex": rng.choice(["f", "m"], 400)})
    frame.loc[3, "w"], frame.loc[5, "sex"] = np.nan, None
    reports = evidence_from_reports(["smokes"], [2], [k_ary(3.0, 2)], [rng.integers(0, 2, 400)])
    found = regress(reports, "smokes", ["w", "sex"], covariates=frame, by="wald")
    assert found.people == 398
    assert found.notes == ("2 respondents without all covariates are left out",)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay a file of reports in the order of the answers, and one of covariates."""
    rng = np.random.default_rng(6)
    count = 6000
    sex, income = rng.integers(0, 2, count), rng.normal(size=count)
    odds = np.exp(-0.5 + 1.2 * sex + 0.8 * income)
    smokes = (rng.random(count) < odds / (1 + odds)).astype(int)
    schema = Schema(
        (Attribute.nominal("smokes", ["no", "yes"]), Attribute.nominal("sex", ["f", "m"]))
    )
    answers = pa.table(
        {"smokes": np.array(["no", "yes"])[smokes], "sex": np.array(["f", "m"])[sex]}
    )
    place = tmp_path_factory.mktemp("regress")
    pyarrow.csv.write_csv(answers, place / "answers.csv")
    for design in ("independent", "ask-one"):
        bulk.randomize_file(
            place / "answers.csv",
            place / f"{design}.parquet",
            Survey("demo", schema, Privacy(4.0, design)),
            order="kept",
            unsafe_seed=3,
        )
    pyarrow.csv.write_csv(
        pa.table({"income": income, "home": np.where(income > 0, "own", "rent")}),
        place / "plain.csv",
    )
    return place


def run(*words: object) -> tuple[int, str, str]:
    """Run ``deniable regress``."""
    done = CliRunner().invoke(main, ["regress", *map(str, words)])
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize("design", ["independent", "ask-one"])
def test_the_command_prints_eighty_columns(files: Path, design: str) -> None:
    """Coefficients, tests of terms and predictions, no line too wide."""
    words = ("--outcome", "smokes", "--predictors", "sex", "--predict", "sex=m")
    code, out, err = run(files / f"{design}.parquet", *words)
    assert (code, err) == (0, "")
    assert [line for line in out.splitlines() if len(line) > 80] == []
    assert "smokes: yes rather than no, 6,000 people" in out
    assert "smokes does not depend on sex" in out
    assert "P(smokes = yes)" in out


@pytest.mark.parametrize("design", ["independent", "ask-one"])
def test_records_keep_their_rows(files: Path, design: str) -> None:
    """Beside covariates the coefficients are the truth's; with rows out of order they are not."""
    path = files / f"{design}.parquet"
    words = ("--outcome", "smokes", "--predictors", "sex,income", "--covariates")
    code, out, _ = run(path, *words, files / "plain.csv", "--format", "json", "--by", "wald")
    assert code == 0
    told = {one["coefficient"]: one for one in json.loads(out)["coefficients"]}
    assert abs(told["income"]["estimate"] - 0.8) < 6 * told["income"]["se"]
    assert told["income"]["se"] < 0.1
    plain = pyarrow.csv.read_csv(files / "plain.csv")
    turned = plain.take(np.roll(np.arange(6000), 1))
    wrong = regress(
        counting.records(path), "smokes", ["sex", "income"], covariates=turned, by="wald"
    )
    assert abs(wrong["income"].estimate.value - 0.8) > 6 * wrong["income"].estimate.standard_error


def test_csv_and_json_tell_the_same(files: Path) -> None:
    """Both forms have a row for each coefficient, with the same numbers."""
    words = (files / "independent.parquet", "--outcome", "smokes", "--predictors", "sex")
    rows = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv")[1])))
    told = json.loads(run(*words, "--format", "json")[1])
    assert [row["coefficient"] for row in rows] == [o["coefficient"] for o in told["coefficients"]]
    assert [float(row["low"]) for row in rows] == pytest.approx(
        [one["low"] for one in told["coefficients"]]
    )
    assert told["terms_tested"][0]["freedom"] == 1


def test_a_plain_outcome_on_a_randomized_predictor(files: Path) -> None:
    """An outcome that is not in the reports is looked up among the covariates."""
    words = ("--outcome", "home", "--predictors", "smokes", "--covariates", files / "plain.csv")
    code, out, _ = run(files / "independent.parquet", *words, "--reference", "home=rent")
    assert code == 0
    assert "home: own rather than rent" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--predictors", "age"), "no attribute 'age'"),
        (("--predictors", "sex", "--scores", "sex=a,b"), "not all numbers"),
        (("--predictors", "sex", "--covariates", "none.csv"), "no file none.csv"),
        (("--predictors", "sex", "--predict", "age=old"), "names every predictor once"),
    ],
)
def test_a_wrong_word_at_the_terminal(files: Path, words: tuple[str, ...], sentence: str) -> None:
    """A sentence and no traceback."""
    code, _, err = run(files / "independent.parquet", "--outcome", "smokes", *words)
    assert code == 2
    assert sentence in err
    assert "Traceback" not in err


def test_rows_without_an_order_have_no_records() -> None:
    """A lazy frame's engine groups rows; what they stood beside is not known."""
    polars = pytest.importorskip("polars")
    schema = Schema((Attribute.nominal("sick", ["no", "yes"]),))
    survey = Survey("demo", schema, Privacy(1.0, "independent"))
    reports = bulk.randomize(pa.table({"sick": ["no", "yes"]}), survey)
    from deniable.protocol.at_rest import PROVENANCE_KEY, provenance_from_bytes  # noqa: PLC0415

    about = provenance_from_bytes(reports.schema.metadata[PROVENANCE_KEY])
    frame = polars.from_arrow(reports)
    assert counting.records(frame, about=about).total == 2
    with pytest.raises(DataError, match="no order"):
        counting.records(frame.lazy(), about=about)
