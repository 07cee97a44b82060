"""Clusters merge as published, dependences are the textbook's, learning costs what it says."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.bulk.keystream import unsafe_seeded
from deniable.cli import main
from deniable.errors import DesignError, EstimationError
from deniable.planning.clusters import cluster
from deniable.planning.dependence import correlation, cramers_v
from deniable.planning.learning import (
    learn_by_randomized_pairs,
    learn_by_secure_sum,
    learn_from_estimates,
    learn_from_reports,
)
from deniable.planning.rehearsal import rehearse
from deniable.protocol import Tally, design_for
from deniable.schema import Attribute, Privacy, Schema, Survey
from deniable.sharing import Aggregator, Sheet, combine, kind_of, shares_for

if TYPE_CHECKING:
    from pathlib import Path

    from deniable.sharing.shares import Vector

SIZES = (2, 3, 2, 2)
NOMINAL = (False,) * 4


def answers_of(count: int, seed: int = 0) -> np.ndarray:
    """Draw answers: attributes 0 and 2 all but the same, 1 and 3 a little alike."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 2, count), rng.integers(0, 3, count)
    third = np.where(rng.random(count) < 0.9, first, 1 - first)
    fourth = np.where(rng.random(count) < 0.4, second // 2, rng.integers(0, 2, count))
    return np.stack([first, second, third, fourth], axis=1)


def independent(count: int, epsilon: float = 12.0) -> Tally:
    """Rehearse the first stage: every attribute by itself, the view's groups together."""
    attributes = tuple(
        Attribute.nominal(f"q{place}", [f"c{cell}" for cell in range(size)])
        for place, size in enumerate(SIZES)
    )
    options = {"channel": "k-ary"}
    survey = Survey("first", Schema(attributes), Privacy(epsilon, "independent", options))
    answers = answers_of(count)
    return rehearse(design_for(survey), answers, stream=unsafe_seeded(2, 0), joint=True)


def test_dependences_are_those_of_the_textbook() -> None:
    """|r| as NumPy has it, V as SciPy has it, both for tables with an empty row too."""
    stats = pytest.importorskip("scipy.stats")
    counts = np.array([[10, 4, 6], [3, 8, 9], [0, 0, 0], [5, 1, 7]])
    expected = stats.contingency.association(counts[[0, 1, 3]], method="cramer")
    assert cramers_v(counts / counts.sum()) == pytest.approx(expected)
    rows, columns = np.nonzero(np.ones_like(counts))
    weights = counts.reshape(-1)
    plain = np.corrcoef(np.repeat(rows, weights), np.repeat(columns, weights))[0, 1]
    assert correlation(counts.astype(float)) == pytest.approx(abs(plain))
    assert correlation(np.array([[0.4, 0.6]])) == 0.0
    assert cramers_v(np.array([[0.4, 0.6]])) == 0.0


def test_algorithm_1_merges_in_the_published_order() -> None:
    """The most dependent pair first; one that does not fit is passed over, not the end."""
    dependence = np.array(
        [
            [1.0, 0.9, 0.2, 0.1, 0.0],
            [0.9, 1.0, 0.8, 0.1, 0.0],
            [0.2, 0.8, 1.0, 0.7, 0.0],
            [0.1, 0.1, 0.7, 1.0, 0.3],
            [0.0, 0.0, 0.0, 0.3, 1.0],
        ]
    )
    sizes = (4, 4, 4, 2, 2)
    found = cluster(dependence, sizes, most_cells=16, least_dependence=0.25)
    assert found.groups == ((0, 1), (2, 3, 4))
    assert [(m.first, m.second) for m in found.merges] == [
        ((0,), (1,)),
        ((2,), (3,)),
        ((2, 3), (4,)),
    ]
    assert [merge.dependence for merge in found.merges] == [0.9, 0.7, 0.3]
    alone = cluster(dependence, sizes, most_cells=16, least_dependence=0.95)
    assert alone.groups == ((0,), (1,), (2,), (3,), (4,))
    whole = cluster(dependence, sizes, most_cells=10_000, least_dependence=0.0)
    assert whole.groups == ((0, 1, 2, 3, 4),)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(2, 9), min_size=1, max_size=7), st.integers(9, 200), st.integers(0, 99))
def test_clusters_are_a_partition_that_fits_and_could_not_grow(
    sizes: list[int], most: int, seed: int
) -> None:
    """Disjoint, complete, within T_v; no two clusters left that fit and depend enough."""
    half = np.triu(np.random.default_rng(seed).random((len(sizes),) * 2), 1)
    dependence = half + half.T
    found = cluster(dependence, sizes, most_cells=most, least_dependence=0.4).groups
    assert sorted(a for group in found for a in group) == list(range(len(sizes)))
    cells = [math.prod(sizes[a] for a in group) for group in found]
    assert max(cells) <= max(most, *sizes)
    for one in range(len(found)):
        for two in range(one + 1, len(found)):
            fits = cells[one] * cells[two] <= most
            assert not (fits and dependence[np.ix_(found[one], found[two])].max() >= 0.4)


def test_a_matrix_that_does_not_fit_is_refused() -> None:
    """The sizes and the dependences speak of the same attributes."""
    with pytest.raises(DesignError, match="2 rows"):
        cluster(np.eye(3), (2, 2), most_cells=4, least_dependence=0.1)


def by_aggregators(sheet: Sheet, places: np.ndarray) -> Vector:
    """Add up by two aggregators."""
    both = [Aggregator(sheet.width) for _ in range(2)]
    for number, row in enumerate(places):
        for one, share in zip(both, shares_for(sheet.vector(row), 2), strict=True):
            one.accept(number.to_bytes(4, "little"), share, kind_of(sheet))
    return combine([one.total(both[0].identities) for one in both])


def test_secure_sums_teach_the_exact_dependences_and_no_epsilon_holds() -> None:
    """Way b: the matrix is that of the plain tables, with the real protocol underneath."""
    answers = answers_of(400)
    plain = learn_by_secure_sum(answers, SIZES, NOMINAL)
    shared = learn_by_secure_sum(answers, SIZES, NOMINAL, add=by_aggregators)
    assert np.array_equal(plain.dependence, shared.dependence)
    assert math.isinf(plain.epsilon)
    table = np.zeros((2, 2))
    np.add.at(table, (answers[:, 0], answers[:, 2]), 1)
    assert plain.dependence[0, 2] == pytest.approx(cramers_v(table))


def test_randomized_pairs_teach_the_dependences_at_the_cost_of_all_pairs() -> None:
    """Way c: near the exact matrix; six pairs cost six times what the source counts."""
    answers = answers_of(20_000)
    exact = learn_by_secure_sum(answers, SIZES, NOMINAL).dependence
    found = learn_by_randomized_pairs(
        answers, SIZES, NOMINAL, epsilon=2.0, stream=unsafe_seeded(1, 0)
    )
    assert np.abs(found.dependence - exact).max() < 0.06
    assert found.epsilon == pytest.approx(12.0, abs=1e-5)
    assert found.epsilon_of_sums == pytest.approx(2.0, abs=1e-5)
    raw = learn_by_randomized_pairs(
        answers, SIZES, NOMINAL, epsilon=0.05, stream=unsafe_seeded(1, 0)
    )
    assert np.abs(raw.dependence - exact).max() > 0.06  # hardly any truth left: it would show


def test_randomized_attributes_teach_weaker_dependences_in_the_same_order() -> None:
    """Way a: reports depend less than answers (proposition 1); estimates do not."""
    answers = answers_of(20_000)
    exact = learn_by_secure_sum(answers, SIZES, NOMINAL).dependence
    tally = independent(20_000)
    reported = learn_from_reports(tally, NOMINAL)
    estimated = learn_from_estimates(tally, NOMINAL, rng=np.random.default_rng(0))
    assert reported.epsilon == estimated.epsilon == pytest.approx(12.0, abs=1e-5)
    # For two binary attributes V = |r|, and the covariance falls by p·p while margins are even.
    truth = (math.e**3 - 1) / (math.e**3 + 1)
    assert reported.dependence[0, 2] == pytest.approx(exact[0, 2] * truth**2, abs=0.03)
    assert estimated.dependence[0, 2] == pytest.approx(exact[0, 2], abs=0.03)
    assert reported.dependence[0, 2] > reported.dependence[1, 3] > reported.dependence[0, 1]


def test_ordinal_attributes_are_measured_by_correlation() -> None:
    """|r| where both are ordinal, V where one is not."""
    answers = answers_of(500)
    found = learn_by_secure_sum(answers, SIZES, (False, True, False, True)).dependence
    assert found[1, 3] == pytest.approx(abs(np.corrcoef(answers[:, 1], answers[:, 3])[0, 1]))
    assert found[0, 2] == learn_by_secure_sum(answers, SIZES, NOMINAL).dependence[0, 2]


def test_reports_that_show_no_pairs_are_refused() -> None:
    """A tally of single groups does not know who reported what together."""
    tally = independent(100)
    parts = tally.design
    alone = rehearse(parts, answers_of(100), stream=unsafe_seeded(2, 0))
    with pytest.raises(EstimationError, match="kept together"):
        learn_from_reports(alone, NOMINAL)


def test_the_command_prints_clusters_for_the_survey_of_the_second_stage(tmp_path: Path) -> None:
    """``deniable clusters`` adds up both stages and writes the line that the survey takes."""
    file = tmp_path / "first.json"
    file.write_bytes(independent(5_000).to_bytes())
    done = CliRunner().invoke(
        main, ["clusters", str(file), "--max-cells", "6", "--epsilon", "2", "--as-published"]
    )
    assert done.exit_code == 0, done.output
    line = done.output.splitlines()[-1]
    assert line.startswith('clusters = [["q0", "q2"], ["q1"')
    assert "ε of both stages" in done.output
    assert "14.000" in done.output
    assert max(map(len, done.output.splitlines())) <= 80


def test_the_least_dependence_is_a_number() -> None:
    """Everything compares false with nan: it would merge whatever fits."""
    with pytest.raises(DesignError, match="from 0 to 1"):
        cluster(np.eye(2), (2, 2), most_cells=4, least_dependence=math.nan)


FIRST = """
deniable = 1
name = "first"

[privacy]
epsilon = 2
design = "independent"
channel = "k-ary"
repeats = 3
level = "attribute"

[[pages]]
elements = [
  { type = "boolean", name = "q0" },
  { type = "radiogroup", name = "q1", choices = ["a", "b", "c"] },
  { type = "boolean", name = "q2" },
  { type = "boolean", name = "q3" },
]
"""


@pytest.fixture
def first(tmp_path: Path) -> tuple[Path, Path]:
    """Save a first stage that may be answered three times, and rehearse it."""
    survey, reports = tmp_path / "first.toml", tmp_path / "first.json"
    survey.write_text(FIRST)
    design = design_for(Survey.load(survey))
    tally = rehearse(design, answers_of(3_000), stream=unsafe_seeded(4, 0), joint=True)
    reports.write_bytes(tally.to_bytes())
    return survey, reports


def clusters(*words: object) -> tuple[int, str]:
    """Run the command; return how it ended and what it said, white space evened."""
    done = CliRunner().invoke(main, ["clusters", *map(str, words)])
    return done.exit_code, " ".join(done.output.split())


def test_epsilon_counts_every_submission_and_the_second_survey_means_it_alike(
    first: tuple[Path, Path], tmp_path: Path
) -> None:
    """Four attributes at 2 each, three times: 24; then two clusters and one alone, three times."""
    survey, reports = first
    second = tmp_path / "second.toml"
    words = [reports, "--survey", survey, "--max-cells", 6, "--least-dependence", 0.05]
    code, printed = clusters(*words, "--epsilon", 1, "-o", second)
    assert code == 0, printed
    written = Survey.load(second)
    assert (written.privacy.repeats, written.privacy.level) == (3, "attribute")
    assert written.privacy.options["channel"] == "k-ary"
    assert written.privacy.epsilon == 1.0
    assert {channel.kind for channel in design_for(written).channels[0]} == {"k-ary"}
    groups = len(design_for(written).views[0].groups)
    assert groups < 4
    assert "ε spent 24.000 by one who answers 3 times" in printed
    assert f"ε of both stages {24 + 3 * groups}.000" in printed
    code, printed = clusters(reports, "--epsilon", 1)  # no survey: as often as in the first
    assert code == 0
    assert "ε of both stages 27.000" in printed


def test_without_an_epsilon_the_first_stage_s_is_taken_and_said(
    first: tuple[Path, Path], tmp_path: Path
) -> None:
    """It means the same in both files."""
    survey, reports = first
    second = tmp_path / "second.toml"
    code, printed = clusters(reports, "--survey", survey, "--least-dependence", 1, "-o", second)
    assert code == 0, printed
    assert "the second stage takes the first's, 2.000 for each attribute." in printed
    assert "ε of both stages 48.000" in printed
    written = Survey.load(second)
    assert written.privacy == Survey.load(survey).privacy  # nothing was merged
    assert written.name == "first-2"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--epsilon", "0"], "--epsilon is no level of privacy (given: 0.0)"),
        (["--epsilon", "-1"], "--epsilon is no level of privacy"),
        (["--epsilon", "nan"], "--epsilon is no level of privacy"),
        (["--epsilon", "inf"], "--epsilon is no level of privacy"),
        (["--epsilon", "1e-12"], "--epsilon is no level of privacy"),
        (["--least-dependence", "nan"], "give one from 0 to 1"),
        (["--pair-epsilon", "2"], "--pair-epsilon is for shared pairs"),
    ],
)
def test_what_no_stage_can_have_is_refused(
    words: list[str], sentence: str, first: tuple[Path, Path], tmp_path: Path
) -> None:
    """Before anything is read, asked or written."""
    survey, reports = first
    second = tmp_path / "second.toml"
    code, printed = clusters(reports, "--survey", survey, "-o", second, *words)
    assert code == 2
    assert sentence in printed
    assert not second.exists()
