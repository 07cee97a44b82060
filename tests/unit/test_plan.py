"""A plan as its user meets it: what it recommends, answers, refuses and prints."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from deniable.cli import main
from deniable.collection.forecast import forecast
from deniable.errors import DataError, DeniableError, EstimationError
from deniable.estimation.methods.hybrid import thresholds
from deniable.planning import plan, prior_of, read_prior
from deniable.planning.inverse import epsilon_for
from deniable.planning.published import independent_bound, relative_error, rounding_bound
from deniable.planning.telling import bounds_of, lies_of, told
from deniable.protocol import design_for
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from pathlib import Path


def survey(privacy: Privacy, sizes: tuple[int, ...] = (2, 3, 4, 2)) -> Survey:
    """Return a survey of attributes of the given sizes."""
    attributes = tuple(
        Attribute.nominal(f"q{place}", [f"c{cell}" for cell in range(size)])
        for place, size in enumerate(sizes)
    )
    return Survey("example", Schema(attributes), privacy)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write a survey file."""
    path = tmp_path / "survey.toml"
    survey(Privacy(2.0)).dump(path)
    return path


def run(*words: object) -> str:
    """Run ``deniable plan`` and return what it prints."""
    done = CliRunner().invoke(main, ["plan", *map(str, words)])
    assert done.exit_code == 0, done.output
    return done.output


def test_one_random_group_is_recommended_for_pairs() -> None:
    """At a record-level ε, one pair for each respondent beats a whole view and RR-Independent."""
    made = plan(survey(Privacy(1.0), (2, 3) * 5), 20_000)
    assert made.recommended.label.startswith("ask-one")
    assert made.recommended.worth(1) > made.option("views k=2").worth(1)
    assert "times as many people" in made.recommendation.reasons[0]
    assert "views" in made.recommendation.reasons[1]


def test_for_the_whole_joint_pairs_and_triples_count_alike() -> None:
    """Groups grow with ε: neither the best for pairs alone nor the best for triples alone."""
    asked = survey(Privacy(4.0, "independent"), (9, 16, 7, 15, 6, 5, 2, 2))
    best = {
        epsilon: plan(asked, 30_000, epsilon=epsilon, whole_joint=True).recommended
        for epsilon in (4.0, 8.0)
    }
    assert best[4.0].label == "ask-one k=3"
    assert best[8.0].label == "ask-one k=4"
    triples = [list(table.names) for table in best[4.0].tables if len(table.names) == 3]
    assert plan(asked, 30_000).recommended.label == "ask-one k=2"
    assert plan(asked, 30_000, tables=triples).recommended.label == "ask-one k=4"
    worth = [
        plan(asked, 30_000, tables=tables).option("ask-one k=3").worth(1)
        for tables in (triples, ())
    ]
    assert best[4.0].worth(1) == pytest.approx(math.sqrt(math.prod(worth)))


def test_a_plan_is_for_every_table_or_for_some(file: Path) -> None:
    """Asking for both is a mistake; of two attributes their pair is every table."""
    with pytest.raises(EstimationError, match="every table, or for some"):
        plan(survey(Privacy(1.0)), 100, tables=[["q0"]], whole_joint=True)
    two = plan(survey(Privacy(1.0), (2, 3)), 100, whole_joint=True)
    assert [table.names for table in two.recommended.tables] == [("q0", "q1")]
    assert "10 tables" in run(file, "--people", 2000, "--whole-joint")


def test_a_whole_view_is_recommended_when_epsilon_is_large() -> None:
    """From some ε on it is better to ask everybody everything."""
    best = plan(survey(Privacy(16.0)), 20_000).recommended
    assert all(len(table.glimpses) and table.share == 1 for table in best.tables)


def test_per_attribute_the_whole_view_is_recommended() -> None:
    """Where ε protects each answer by itself, asking more costs no more of it."""
    made = plan(survey(Privacy(1.0, level="attribute")), 20_000)
    assert made.recommended.label == "independent"
    assert made.option("independent").answer == pytest.approx(4.0, abs=1e-6)


def test_tables_named_become_groups_and_the_rest_is_mentioned() -> None:
    """Two tables of four attributes: ask-one by table; an attribute of no table is named."""
    made = plan(survey(Privacy(1.0)), 20_000, tables=[["q0", "q1"], ["q0", "q2"]])
    best = made.recommended
    assert best.label == "ask-one by table"
    assert sorted(map(str, best.survey.privacy.options["groups"])) == [  # type: ignore[call-overload]
        "('q0', 'q1')",
        "('q0', 'q2')",
        "('q3',)",
    ]
    assert any(reason.startswith("q3:") for reason in made.recommendation.reasons)


def test_a_classic_design_is_labelled_and_never_recommended() -> None:
    """The survey's own rrba is compared first, and another is recommended."""
    made = plan(survey(Privacy(2.0, "rrba")), 20_000)
    assert made.options[0].is_classic
    assert not made.recommended.is_classic
    assert any("classic" in reason for reason in made.recommendation.reasons)


def test_a_two_stage_design_is_compared_where_a_test_is_wanted() -> None:
    """It is one more candidate for a power, not for tables; it wins at a small ε, and says why."""
    rng = np.random.default_rng(1)
    pair = Survey("pair", Schema(survey(Privacy(0.5)).schema.attributes[:2]), Privacy(0.5))
    plain = plan(pair, 20_000, rng=rng)
    assert not [option for option in plain.options if option.in_stages]
    made = plan(pair, association=0.1, power=0.8, rng=rng)
    assert made.recommended.in_stages
    first = made.recommended.design.rule.block_size
    assert first == pytest.approx(0.15 * made.goal.people, rel=0.15)
    assert any(f"{first:,} people tell the margins" in one for one in made.recommendation.reasons)
    assert told(made)["channels"].keys() == {"staircase"}
    given = plan(pair, made.goal.people, association=0.1, rng=rng)
    assert any("If tests are all that counts" in one for one in given.recommendation.reasons)


def test_the_design_of_a_two_stage_survey_is_shown_with_its_own_figures(tmp_path: Path) -> None:
    """``deniable design`` and the dry run foresee both stages: less sure than one stage alone."""
    asked = survey(Privacy(2.0, "two-stage", {"block_size": 500}))
    path = tmp_path / "stages.toml"
    asked.dump(path)
    done = CliRunner().invoke(main, ["design", str(path), "--people", "3000"])
    assert done.exit_code == 0, done.output
    assert done.stdout.split()[:2] == ["design", "two-stage,"]
    assert "two-stage *" in done.stdout
    staged = forecast(asked, people=3_000)["tables"]
    single = forecast(survey(Privacy(2.0)), people=3_000)["tables"]
    assert isinstance(staged, list)
    assert isinstance(single, list)
    assert [one["attributes"] for one in staged] == [one["attributes"] for one in single]
    assert staged[0]["half_width"] > single[0]["half_width"]


def test_max_cells_are_kept_in_every_option() -> None:
    """An option of the survey that bounds its groups bounds those of the others that know it."""
    made = plan(survey(Privacy(1.0, "ask-one", {"k": 2, "max_cells": 8})), 20_000)
    for option in made.options:
        if "k" in option.survey.privacy.options and not option.is_classic:
            assert option.coverage.cells[1] <= 8
    assert made.option("ask-one k=2").coverage.met == 5  # 3 × 4 cells do not fit together


def test_the_level_of_each_kind_is_told() -> None:
    """Per answer, per respondent with repeats, and per attribute, rounded up."""
    made = plan(survey(Privacy(2.0, "independent", repeats=3)), 1000)
    found = next(one for one in told(made)["options"] if one["label"] == "independent")
    assert found["epsilon"] == {"answer": "2.000", "respondent": "6.000", "attribute": "0.500"}


def test_what_is_wanted_is_answered_both_ways_round() -> None:
    """The people for a width at ε, and the ε for those people, meet."""
    made = plan(survey(Privacy(1.0)), width=0.1)
    again = plan(made.survey, made.goal.people, width=0.1)
    epsilon = epsilon_for(again.recommended, again.goal)
    assert epsilon == pytest.approx(1.0, abs=0.0011)
    below = plan(survey(Privacy(epsilon - 0.002)), width=0.1)
    assert below.goal.people > made.goal.people


def test_a_width_out_of_reach_is_a_sentence() -> None:
    """Too few people even if nobody lied: how many it would take is said."""
    made = plan(survey(Privacy(1.0)), 100, width=0.01)
    with pytest.raises(EstimationError, match="even at ε = 44; expected at least"):
        epsilon_for(made.recommended, made.goal)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"people": 0}, "number of people must be at least 1"),
        ({"people": 1000, "epsilon": -1.0}, "epsilon is not a finite number above 0"),
        ({"people": 1000, "epsilon": 0.0}, "epsilon is not a finite number above 0"),
        ({"people": 1000, "tables": [["q0", "q9"]]}, "no attribute 'q9'; expected one of 'q0'"),
        ({"people": 1000, "tables": [["q0", "q0"]]}, "none twice"),
        ({"people": 1000, "width": 2.0}, "width of an interval must be above 0 and below 1"),
        ({"people": 1000, "power": 0.8}, "an association too"),
        ({"people": 1000, "power": 0.04, "association": 0.1}, "above the level of the test"),
        ({"people": 1000, "association": 1.5}, r"association \(Cramér's V\) must be"),
        ({}, "how many will answer"),
    ],
)
def test_what_makes_no_sense_is_a_sentence(words: dict[str, object], sentence: str) -> None:
    """Each wrong wish is refused, saying what would have been right."""
    with pytest.raises(DeniableError, match=sentence):
        plan(survey(Privacy(1.0)), **words)  # type: ignore[arg-type]


def test_larger_groups_are_compared_where_epsilon_has_room_for_their_cells() -> None:
    """Six two-way answers at ε = 4: groups of five; at ε = 1 nothing above four is looked at."""
    made = plan(survey(Privacy(4.0), (2,) * 6), 10_000)
    assert made.recommended.label == "ask-one k=5"
    assert made.recommended.worth(1) > 1.05 * made.option("ask-one k=4").worth(1)
    gentle = plan(survey(Privacy(1.0), (2,) * 6), 10_000)
    assert not [option for option in gentle.options if option.label == "ask-one k=5"]


def test_a_test_that_would_say_too_little_data_has_no_power() -> None:
    """Below 15 plain answers' worth the power is 0, and the people needed are at least as many."""
    made = plan(survey(Privacy(1.0), (5, 5)), 1_000, association=0.9, power=0.1)
    option = made.option("ask-one")
    (table,) = option.pairs
    assert table.worth(1_000) < 15
    assert option.power(table, 1_000, 0.9, 0.05) == 0
    needed = option.people_for_power(0.1, 0.9, 0.05)
    assert table.worth(needed) >= 15 - 1e-9
    assert option.power(table, math.ceil(needed), 0.9, 0.05) > 0.1


def test_one_liar_moves_a_cell_by_one_over_n_p() -> None:
    """Under two coins in one group of everybody: 1/(n·p), and a share f by f/p."""
    asked = survey(Privacy(1.0, "joint", {"channel": "k-ary"}), (2, 3))
    made = plan(asked, 10_000)
    option = made.options[0]
    (channel,) = option.design.channels[0]
    truth = channel.head / 2**32  # type: ignore[attr-defined]
    lies = lies_of(option, 10_000)
    assert lies.one == pytest.approx(1 / (10_000 * truth))
    assert lies.chosen == pytest.approx(0.01 / truth)
    assert lies.drawn == pytest.approx(0.01 / truth)


def test_the_published_bounds_are_those_of_the_papers() -> None:
    """n* of Kikuchi's Appendix C is Theorem 6 over Theorem 5; Domingo's √B is eq. 6 at n = r."""
    limit = thresholds(16, 2, 2.0, 32_561)
    ratio = rounding_bound((16, 16), 2.0, 32_561) / independent_bound((16, 16)) * 32_561
    assert ratio == pytest.approx(limit.people)
    assert relative_error(1000, 1000) == pytest.approx(4.056 * math.sqrt(999 / 1000), rel=1e-3)
    made = plan(survey(Privacy(2.0)), 20_000)
    sources = [one.source for one in bounds_of(made, made.recommended.tables[0])]
    assert sources == ["Domingo eq. 5", "Domingo eq. 6", "Kikuchi Th. 5", "Kikuchi Th. 6"]


def test_a_prior_is_read_from_each_of_its_forms(tmp_path: Path) -> None:
    """JSON of margins, CSV of a joint guess, and what ``deniable estimate`` writes, agree."""
    schema = survey(Privacy(1.0)).schema
    texts = {
        "a.json": '{"q0": [1, 3], "q1": {"c0": 2, "c2": 2}}',
        "b.csv": "q0,q1,count\nc0,c0,1\nc0,c2,1\nc1,c0,3\nc1,c2,3\n",
        "c.csv": "table,cell,estimate\nq0,c0,0.25\nq0,c1,0.75\nq1,c0,0.5\nq1,c1,-0.01\nq1,c2,0.5\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        found = read_prior(tmp_path / name, schema).truth(("q1", "q0"), (3, 2))
        assert found.tolist() == [[0.125, 0.375], [0.0, 0.0], [0.125, 0.375]]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"q7": [1, 1]}', "'q7' that the survey does not ask; expected one of 'q0'"),
        ('{"q0": [1, 1, 1]}', "does not fit"),
        ('{"q0": {"c7": 1}}', "no category 'c7'"),
        ('{"q0": "much"}', "no list of shares"),
        ("[1]", "no attributes"),
        ("{", "not JSON"),
    ],
)
def test_a_wrong_prior_is_a_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    """What does not fit the survey is named, with what would."""
    path = tmp_path / "prior.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=sentence):
        read_prior(path, survey(Privacy(1.0)).schema)


def test_an_attribute_in_two_tables_of_a_prior_is_refused() -> None:
    """Tables of a prior do not overlap, so that they make one distribution."""
    with pytest.raises(DataError, match="in two tables"):
        prior_of({("q0", "q1"): np.ones((2, 3)), "q0": [1, 1]}, survey(Privacy(1.0)).schema)


def test_a_joint_guess_gives_the_power_of_its_own_departure() -> None:
    """With a prior of a whole table each table tells the power against that very truth."""
    asked = survey(Privacy(3.0), (2, 2, 2))
    guess = prior_of({("q0", "q1"): [[0.4, 0.1], [0.1, 0.4]]}, asked.schema)
    made = plan(asked, 5000, prior=guess)
    powers = {tuple(t["attributes"]): t["power_of_prior"] for t in told(made)["tables"]}
    assert powers["q0", "q1"] > 0.99
    assert powers["q0", "q2"] == pytest.approx(0.05, abs=1e-6)


def test_the_command_prints_within_80_columns(file: Path) -> None:
    """Every part of the text fits, and the words that matter are there."""
    text = run(
        *(file, "--people", 20000, "--epsilon", 1, "--association", 0.1, "--power", 0.8),
        *("--width", 0.05, "--check", 10),
    )
    assert max(map(len, text.splitlines())) <= 80
    for word in ("→ ask-one", "n needed", "ε needed", "one liar", "Kikuchi Th. 6", "foreseen"):
        assert word in text


def test_the_command_prints_csv_and_json(file: Path) -> None:
    """CSV has a row for each design and table; JSON is the whole plan."""
    rows = list(csv.DictReader(io.StringIO(run(file, "--people", 5000, "--format", "csv"))))
    assert {row["design"] for row in rows} >= {"ask-one", "independent", "rrba k=2"}
    assert sum(row["recommended"] == "1" for row in rows) == 6
    found = json.loads(run(file, "--people", 5000, "--format", "json"))
    assert found["recommended"] == "ask-one k=3"
    assert len(found["tables"]) == 6
    assert set(found["channels"]) == {"k-ary", "subset", "best"}


def test_the_survey_written_has_the_design_recommended(file: Path, tmp_path: Path) -> None:
    """``-o`` writes a survey file that can be served, with the plan's design and level."""
    out = tmp_path / "planned.toml"
    run(file, "--people", 5000, "--epsilon", 1.5, "--tables", "q0,q1,q2", "-o", out)
    written = Survey.load(out)
    assert written.privacy.epsilon == 1.5
    again = CliRunner().invoke(main, ["plan", str(file), "--people", "50", "-o", str(out)])
    assert again.exit_code == 2
    assert "--replace" in again.output
    assert Survey.load(out) == written
    assert dict(written.privacy.options)["groups"]
    assert design_for(written).protocol == "ask-one"


def test_another_design_can_be_looked_at(file: Path, tmp_path: Path) -> None:
    """``--design`` shows and writes another one of the list; a wrong name gets the nearest."""
    out = tmp_path / "planned.toml"
    run(file, "--people", 5000, "--design", "independent", "-o", out)
    assert Survey.load(out).privacy.design == "independent"
    done = CliRunner().invoke(main, ["plan", str(file), "--people", "50", "--design", "indpendent"])
    assert done.exit_code == 2
    assert "'independent'" in done.output


def test_tables_of_a_kind_are_foreseen_once() -> None:
    """What is said of all tables is what each of them says by itself, with a prior or without."""
    sizes = (2, 3, 2, 3, 2)
    asked = survey(Privacy(1.0), sizes)
    prior = prior_of({"q0": [0.9, 0.1], "q3": [0.6, 0.3, 0.1]}, asked.schema)
    for guess in (None, prior):
        made = plan(asked, 3_000, prior=guess, association=0.2, power=0.8)
        for option in made.options:
            tables = option.tables
            assert sum(number for _, number in option.kinds) == len(tables)
            if guess is None and option.label == "ask-one":
                assert len(option.kinds) == 4  # 2 × 2, 2 × 3, 3 × 2 and 3 × 3 cells
            if any(not table.glimpses for table in tables):
                continue
            error = sum(table.error(3_000) for table in tables) / len(tables)
            assert option.error(3_000) == pytest.approx(error)
            assert option.worst_error(3_000) == max(table.error(3_000) for table in tables)
            assert option.least_worth(3_000) == min(table.worth(3_000) for table in tables)
            worth = len(tables) / sum(1 / table.worth(3_000) for table in tables)
            assert option.worth(3_000) == pytest.approx(worth)
            power = min(option.power(table, 3_000, 0.2, 0.05) for table in option.pairs)
            assert option.least_power(3_000, 0.2, 0.05) == pytest.approx(power)
