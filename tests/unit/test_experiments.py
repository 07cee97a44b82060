"""Experiments are found by their files, say what they need, and print what was measured."""

from __future__ import annotations

import gzip
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from deniable.channels import warner
from deniable.cli import main
from deniable.errors import DataError, EstimationError
from deniable.experiments.experiment import (
    Experiment,
    Setting,
    experiment_named,
    inversions,
    summaries,
)
from deniable.experiments.imran import converge, settles
from deniable.experiments.population import read_population
from deniable.experiments.wang import randomized, reported
from deniable.experiments.wang_network import DELTA, instance, made_up, smooth_scale
from deniable.graphs import graph_of
from deniable.graphs.randomize import randomize_through
from deniable.planning.convergence import firing_probability

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [name for name, _ in summaries()]


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_names_its_source_and_has_a_sentence(name: str) -> None:
    """The list and the experiment agree; the name is the file's."""
    experiment = experiment_named(name)
    assert isinstance(experiment, Experiment)
    assert experiment.source
    assert dict(summaries())[name].endswith(".")
    assert experiment.runs > 0


def test_the_list_names_them_all() -> None:
    """``deniable experiment`` without a name lists the experiments."""
    done = CliRunner().invoke(main, ["experiment"])
    assert done.exit_code == 0
    assert "imran-convergence" in NAMES
    assert all(name in done.output for name in NAMES)


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    """A typing error gets a sentence."""
    done = CliRunner().invoke(main, ["experiment", "imran-convergense"])
    assert done.exit_code == 2
    assert "'imran-convergence'" in done.output


def test_settings_that_cannot_be_are_refused(tmp_path: Path) -> None:
    """No runs; data where none is read; none where the experiment insists."""
    plain = Experiment("Nobody", lambda _: iter(()), runs=1)
    needing = Experiment("Nobody", lambda _: iter(()), runs=1, data="a CSV file")
    lenient = Experiment("Nobody", lambda _: iter(()), runs=1, data="a file", made_up="dice")
    with pytest.raises(EstimationError, match="1 or more"):
        plain.check(Setting(0, 1, None))
    with pytest.raises(DataError, match="reads no data"):
        plain.check(Setting(1, 1, tmp_path / "some.csv"))
    with pytest.raises(DataError, match="--data, a CSV file"):
        needing.check(Setting(1, 1, None))
    lenient.check(Setting(1, 1, None))


def test_parts_of_an_experiment_draw_their_own_numbers() -> None:
    """The same place gives the same draws whatever came before; another place others."""
    setting = Setting(1, 5, None)
    first, again, other = (setting.rng(*place).random() for place in ((1, 2), (1, 2), (2, 1)))
    assert first == again != other


def test_orders_are_compared_pair_by_pair() -> None:
    """What ties in the source does not count; what ties here is no agreement."""
    assert inversions([3, 1, 1], [30, 10, 20]) == (2, 2)
    assert inversions([1, 2], [5, 5]) == (0, 1)


def test_the_rule_fires_as_often_as_the_formula_says_and_never_for_good() -> None:
    """At p = .221 in 46 % of the blocks, whatever their size; seeded, ±4 points."""
    for size in (150, 1_500):
        found = converge(0.356, size, 0.221, rng=np.random.default_rng(3), trials=100)
        assert found.calm == pytest.approx(firing_probability(0.221), abs=0.04)
        assert found.fired == 1
        assert found.stayed < 0.1
    # Without coins the width is that of a share, and the rule holds nearly always.
    honest = converge(0.356, 150, 1.0, rng=np.random.default_rng(3), trials=100)
    assert honest.calm > 0.9


def test_all_reports_with_the_last_table_run_away_for_small_p() -> None:
    """The iteration's factor is −(1 − p)/p: it settles above ½ and never below."""
    assert settles(0.3, 150, 0.7, rng=np.random.default_rng(3)) == 1
    assert settles(0.3, 150, 0.3, rng=np.random.default_rng(3)) == 0


def test_the_convergence_command_prints_both_figures_in_eighty_columns() -> None:
    """Measured beside published, with what did not come out and why."""
    done = CliRunner().invoke(main, ["experiment", "imran-convergence", "--runs", "3"])
    assert done.exit_code == 0, done.output
    assert "Figure 5" in done.stdout
    assert "Figure 6" in done.stdout
    assert "does not hold: nothing converges" in done.stdout
    assert "2Φ(√2·z·p) − 1" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    again = CliRunner().invoke(main, ["experiment", "imran-convergence", "--runs", "3"])
    assert again.stdout == done.stdout


def little_adult(folder: Path, people: int = 400) -> Path:
    """Write a file shaped as Adult's, with fewer categories and people."""
    names = ["workclass", "education", "marital-status", "occupation"]
    names += ["relationship", "race", "sex", "income"]
    rng = np.random.default_rng(4)
    sizes = (3, 4, 3, 3, 3, 2, 2, 2)
    columns = [rng.integers(0, size, people) for size in sizes]
    columns[7] = np.where(rng.random(people) < 0.8, columns[6], columns[7])
    rows = np.stack(columns, axis=1)
    rows[: max(sizes)] = np.minimum(np.arange(max(sizes))[:, None], np.array(sizes) - 1)
    path = folder / "adult.csv.gz"
    lines = [",".join(names), *(",".join(f"c{cell}" for cell in row) for row in rows.tolist())]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return path


@pytest.mark.parametrize("name", [name for name in NAMES if experiment_named(name).data])
def test_every_experiment_on_data_prints_what_was_published_beside(
    name: str, tmp_path: Path
) -> None:
    """On a little file of the same shape: 80 columns, claims judged, the same again."""
    options = ["--runs", "2"]
    if experiment_named(name).made_up is None:
        options += ["--data", str(little_adult(tmp_path))]
    done = CliRunner().invoke(main, ["experiment", name, *options])
    assert done.exit_code == 0, done.output
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "hold:" in done.stdout or "holds:" in done.stdout
    assert CliRunner().invoke(main, ["experiment", name, *options]).stdout == done.stdout


def test_wang_s_matrices_are_judged_without_data() -> None:
    """Results 1–4 come out; theorem 4 and the praise of k-ary for everything do not."""
    done = CliRunner().invoke(main, ["experiment", "wang-matrices", "--runs", "3"])
    assert done.exit_code == 0, done.output
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "holds: the diagonal of rounded Laplace is smaller" in done.stdout
    assert "holds: theorem 2, t = 2" in done.stdout
    assert "does not hold: theorem 4" in done.stdout


def test_the_formulas_of_wang_s_errors_are_what_reports_do() -> None:
    """Eq. 5 and 18 against reports that were drawn; seeded, within 5 %; a wrong one is further."""
    rng = np.random.default_rng(2)
    counts = np.array([500.0, 300.0, 200.0])
    shares = counts / counts.sum()
    way = randomized("Laplace", 2.0, 3)
    found = np.array([way.inverse @ reported(counts, way.matrix, rng) for _ in range(4_000)])
    noise = np.trace(way.noise(shares, 1_000))
    assert np.mean(np.sum((found - shares) ** 2, axis=1)) == pytest.approx(noise, rel=0.05)
    assert np.trace(way.dispersion(shares, 1_000)) > 1.05 * noise
    assert np.trace(randomized("k-ary", 2.0, 3).noise(shares, 1_000)) < 0.95 * noise
    answers = rng.choice(3, 200_000, p=shares)
    seen = (rng.random(answers.size)[:, None] > np.cumsum(way.matrix.T[answers], axis=1)).sum(1)
    # Bayes' guess: another person with the same report, drawn at random.
    order = np.lexsort((rng.random(seen.size), seen))
    guessed = np.empty_like(answers)
    guessed[order] = answers[np.roll(order, 1)]
    assert np.mean(guessed != answers) == pytest.approx(way.guessing_error(shares), rel=0.02)


def test_wang_s_comparisons_read_data_of_one_s_own(tmp_path: Path) -> None:
    """Two columns for figures 1–4, of more none is guessed; edges for figures 5 and 6."""
    two, edges = tmp_path / "two.csv", tmp_path / "edges.csv"
    rng = np.random.default_rng(3)
    two.write_text("BMI,age\n" + "".join(f"{a},{b}\n" for a, b in rng.integers(0, 3, (60, 2))))
    done = CliRunner().invoke(
        main, ["experiment", "wang-laplace", "--runs", "2", "--data", str(two)]
    )
    assert done.exit_code == 0, done.output
    assert "Figure 4: χ² of BMI and age" in done.stdout
    refused = CliRunner().invoke(
        main, ["experiment", "wang-laplace", "--data", str(little_adult(tmp_path))]
    )
    assert refused.exit_code == 2
    assert "about two attributes" in refused.output
    edges.write_text(
        "".join(f"p{place},p{(place + step) % 12}\n" for place in range(12) for step in (1, 2))
    )
    done = CliRunner().invoke(
        main, ["experiment", "wang-graphs", "--runs", "1", "--data", str(edges)]
    )
    assert done.exit_code == 0, done.output
    assert "Made up" not in done.stdout
    row = next(line.split() for line in done.stdout.splitlines() if line.startswith("truth"))
    assert row[1:3] == ["12", "24"]


def test_the_smooth_sensitivity_of_triangles_is_that_of_all_graphs_nearby() -> None:
    """On four people: max over graphs of e^(−β·distance) · local sensitivity, listed."""
    pairs = list(combinations(range(4), 2))
    truth = graph_of("abcd", [("a", "b"), ("b", "c")])

    def local(joined: np.ndarray) -> int:
        common = joined.astype(int) @ joined.astype(int)
        return max(3 * int(common[pair]) for pair in pairs)

    for epsilon in (0.5, 2.0, 30.0):
        beta = epsilon / (2 * np.log(2 / DELTA))
        best = 0.0
        for chosen in product((False, True), repeat=len(pairs)):
            joined = np.zeros((4, 4), np.bool_)
            for (one, other), there in zip(pairs, chosen, strict=True):
                joined[one, other] = joined[other, one] = there
            distance = int((joined != truth.joined).sum()) // 2
            best = max(best, float(np.exp(-beta * distance)) * local(joined))
        assert smooth_scale(truth, epsilon, 1) == pytest.approx(2 * best / epsilon)


def test_a_graph_drawn_from_reports_that_never_lie_is_the_truth() -> None:
    """The published reconstruction has the true number of edges, and finds them all."""
    truth = made_up(np.random.default_rng(1))
    assert (len(truth.names), truth.edges) == (185, 684)
    for ends in (1, 2):
        told = randomize_through(truth, warner(1 - 1e-9), ends=ends, unsafe_seed=1)
        again = instance(told, truth.edges, np.random.default_rng(2))
        assert np.array_equal(again.joined, truth.joined)
        noisy = randomize_through(truth, warner(0.6), ends=ends, unsafe_seed=1)
        assert instance(noisy, truth.edges, np.random.default_rng(2)).edges == truth.edges


def test_an_experiment_on_data_insists_on_it() -> None:
    """Without the file the command says which."""
    done = CliRunner().invoke(main, ["experiment", "kikuchi-tables"])
    assert done.exit_code == 2
    assert "--data" in done.output
    assert "Adult" in done.output


def test_a_file_that_is_no_population_is_refused(tmp_path: Path) -> None:
    """Rows of different lengths, and a file without columns."""
    path = tmp_path / "bad.csv"
    path.write_text("a,b\n1,2\n3\n")
    with pytest.raises(DataError, match="differ in length"):
        read_population(path)
    path.write_text("a\n1\n")
    with pytest.raises(DataError, match="two categorical columns"):
        read_population(path)
