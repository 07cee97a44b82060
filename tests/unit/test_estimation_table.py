"""A table: its parts, its intervals, its distances, its looks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from statsmodels.stats.proportion import proportion_confint

from deniable.channels import k_ary
from deniable.errors import EstimationError, MissingExtraError
from deniable.estimation import METHODS, Axis, Batch, Evidence, Experiment, Table
from deniable.estimation.carrying import require_carried
from deniable.estimation.comparison import compare, jensen_shannon
from deniable.estimation.covariance import Curve, Dense, Dispersion
from deniable.estimation.interval import score_bounds
from deniable.estimation.presentation import remarks
from deniable.estimation.study import Study

TRUTH = np.array([[0.3, 0.2, 0.1], [0.05, 0.25, 0.1]])
PAIR = Study(
    ("sex", "cheated"),
    TRUTH,
    (Experiment(20_000, (k_ary(2.0, 2), k_ary(2.0, 3)), ((0,), (1,))),),
)


def rng(seed: int = 1) -> np.random.Generator:
    """Return dice that fall the same way every time."""
    return np.random.default_rng(seed)


def table(method: str = "unbiased") -> Table:
    """Estimate the pair."""
    found = METHODS[method].estimate(PAIR.draw(rng()), PAIR.names, rng=rng())
    return found.named({"sex": ("female", "male"), "cheated": ("no", "once", "often")})


def test_a_marginal_table_is_the_one_estimated_by_itself() -> None:
    """Summing the joint table gives the margin's own estimate, and nearly its own interval."""
    joint = table()
    alone = METHODS["unbiased"].estimate(PAIR.draw(rng()), ("cheated",), rng=rng())
    margin = joint.marginalize(["cheated"])
    np.testing.assert_allclose(margin.estimate, alone.estimate, atol=1e-12)
    np.testing.assert_allclose(margin.standard_error, alone.standard_error, rtol=1e-9)
    np.testing.assert_allclose(margin.interval().low, alone.interval().low, atol=1e-3)


def test_marginalizing_turns_the_axes_as_asked() -> None:
    """All attributes in another order is the transposed table with its errors."""
    turned = table().marginalize(["cheated", "sex"])
    np.testing.assert_allclose(turned.estimate, table().estimate.T)
    np.testing.assert_allclose(turned.standard_error, table().standard_error.T, rtol=1e-9)
    assert turned.names == ("cheated", "sex")


def test_a_condition_gives_the_shares_among_those_it_names() -> None:
    """The other attributes' shares sum to 1, and the heading says among whom."""
    among = table().condition({"sex": "male"})
    np.testing.assert_allclose(among.estimate, table().estimate[1] / table().estimate[1].sum())
    assert among.among == (("sex", "male"),)
    assert str(among).startswith("cheated among those of sex = male, 20,000 people, unbiased")
    assert np.all(among.interval().covers(TRUTH[1] / TRUTH[1].sum()))


def test_the_error_of_a_condition_is_that_of_repeated_estimates() -> None:
    """The delta method's standard error is the spread over 400 draws, to within a fifth."""
    dice = rng(3)
    found = []
    for _ in range(400):
        one = METHODS["unbiased"].estimate(PAIR.draw(dice), PAIR.names, rng=dice)
        found.append(one.condition({"sex": 1}).estimate)
    spread = np.std(found, axis=0)
    np.testing.assert_allclose(one.condition({"sex": 1}).standard_error, spread, rtol=0.25)


def test_a_condition_that_may_be_empty_has_an_unbounded_interval() -> None:
    """Fieller: with a denominator near 0 any share is possible, and the interval says so."""
    rare = Study(
        ("a", "b"),
        np.array([[0.49, 0.5], [0.005, 0.005]]),
        (Experiment(300, (k_ary(1.0, 4),), ((0, 1),)),),
    )
    for seed in range(40):
        one = METHODS["unbiased"].estimate(rare.draw(rng(seed)), rare.names, rng=rng())
        if 0 < one.estimate[1].sum() < 0.05:
            interval = one.condition({"a": 1}).interval()
            assert np.all(interval.low == 0)
            assert np.all(interval.high == 1)
            return
    pytest.fail("no draw had a small denominator")


def test_nobody_in_the_condition_is_an_error() -> None:
    """A condition of share 0 or less has no distribution."""
    axes = (Axis("a", ("x", "y")), Axis("b", ("u", "v")))
    empty = Table(axes, np.array([[0.5, 0.5], [0.0, 0.0]]), 10, "unbiased")
    with pytest.raises(EstimationError, match="nobody"):
        empty.condition({"a": "y"})


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda one: one.marginalize(["age"]), "no attribute 'age'"),
        (lambda one: one.marginalize([]), "different attributes"),
        (lambda one: one.marginalize(["sex", "sex"]), "different attributes"),
        (lambda one: one.condition({}), "fixes at least one"),
        (lambda one: one.condition({"sex": 0, "cheated": 0}), "leaves at least one"),
        (lambda one: one.condition({"sex": "other"}), "no such category"),
        (lambda one: one.interval(1.0), "between 0 and 1"),
        (lambda one: one.to_frame("excel"), "no data frame called"),
    ],
)
def test_what_a_table_cannot_do_is_a_sentence(wrong: object, sentence: str) -> None:
    """Each misuse is an EstimationError that says what is wrong."""
    assert callable(wrong)
    with pytest.raises(EstimationError, match=sentence):
        wrong(table())


def test_a_table_that_does_not_fit_its_axes_is_refused() -> None:
    """Shape and numbers are checked when a table is made."""
    axes = (Axis("a", ("x", "y")),)
    with pytest.raises(EstimationError, match="does not fit"):
        Table(axes, np.ones(3) / 3, 10, "unbiased")
    with pytest.raises(EstimationError, match="no number"):
        Table(axes, np.array([math.nan, 1.0]), 10, "unbiased")


def test_score_bounds_are_wilsons_for_plain_answers() -> None:
    """With Var(t) = t(1 − t)/n the bounds are those of statsmodels' Wilson interval."""
    share, people = np.array([0.0, 0.02, 0.5, 1.0]), 50
    ones = np.ones(4)
    low, high = score_bounds(share, Curve(0 * ones, ones / people, -ones / people), 1.959964)
    wanted = proportion_confint(share * people, people, method="wilson")
    np.testing.assert_allclose(low, wanted[0], atol=1e-6)
    np.testing.assert_allclose(high, wanted[1], atol=1e-6)


def test_simultaneous_intervals_are_wider() -> None:
    """Bonferroni widens every interval, and what is printed says what holds."""
    single, joint = table().interval(), table().interval(simultaneous=True)
    assert np.all(joint.width > single.width)
    assert joint.simultaneous
    said = " ".join(remarks(table(), joint))
    assert "All intervals hold at once with a probability of 95%." in said


def test_bad_luck_does_not_make_an_interval_narrower() -> None:
    """An estimate far below 0 has the interval of one at 0; above 1, that of one at 1."""
    ones = np.ones(4)
    curve = Curve(0.01 * ones, 0.01 * ones, -0.01 * ones)
    low, high = score_bounds(np.array([-3.0, 0.0, 1.0, 4.0]), curve, 1.96)
    np.testing.assert_allclose(low[0], low[1])
    np.testing.assert_allclose(high[0], high[1])
    np.testing.assert_allclose((low[3], high[3]), (low[2], high[2]))
    assert high[0] > 0.15
    assert low[3] < 0.85


def test_worth_is_the_number_of_people_when_nothing_is_randomized() -> None:
    """Plain answers are worth themselves, never more."""
    share = np.array([0.2, 0.8])
    matrix = (np.diag(share) - np.outer(share, share)) / 100
    plain = Table((Axis("a", ("x", "y")),), share, 100, "m", covariance=Dense(share, matrix, 100))
    np.testing.assert_allclose(plain.worth, 100)
    assert plain.total_worth == pytest.approx(100)


def test_worth_is_the_people_times_the_channels_efficiency() -> None:
    """For Warner's channel worth is n·π(1 − π)·p²/(λ(1 − λ))."""
    half = Study(("a",), np.array([0.5, 0.5]), (Experiment(40_000, (k_ary(1.0, 2),), ((0,),)),))
    one = METHODS["unbiased"].estimate(half.draw(rng()), ("a",), rng=rng())
    truth = math.tanh(0.5)
    np.testing.assert_allclose(one.worth, 40_000 * truth**2, rtol=0.01)


def test_a_table_that_is_worth_too_little_is_refused_with_the_number_needed() -> None:
    """The refusal names the people it would take; a good table passes."""
    require_carried(table())
    few = Study(("a",), TRUTH.reshape(-1), (Experiment(300, (k_ary(0.5, 6),), ((0,),)),))
    weak = METHODS["unbiased"].estimate(few.draw(rng()), ("a",), rng=rng())
    with pytest.raises(EstimationError, match=r"at least 30, which takes about [\d,]+ people"):
        require_carried(weak)


def test_every_distance_has_its_definition() -> None:
    """A case small enough to do by hand."""
    found = compare(np.array([0.6, 0.4]), np.array([0.5, 0.5]), 100)
    assert found.largest_cell_error == pytest.approx(0.1)
    assert found.mean_absolute_error == pytest.approx(0.1)
    assert found.mean_squared_error == pytest.approx(0.01)
    assert found.total_variation == pytest.approx(0.1)
    assert found.l2 == pytest.approx(math.sqrt(0.02))
    assert found.l2_counts == pytest.approx(100 * math.sqrt(0.02))
    assert found.expected_squared_error == pytest.approx(0.02)
    assert found.chi_squared == pytest.approx(100 * (0.01 / 0.5 + 0.01 / 0.5))
    assert found.jensen_shannon == pytest.approx(0.00502, rel=1e-2)
    assert found.jensen_shannon_distance == pytest.approx(math.sqrt(found.jensen_shannon))


def test_jensen_shannon_is_scipys() -> None:
    """Its root is SciPy's distance."""
    p, q = np.array([0.7, 0.2, 0.1, 0.0]), np.array([0.1, 0.3, 0.3, 0.3])
    assert math.sqrt(jensen_shannon(p, q)) == pytest.approx(float(jensenshannon(p, q)))


def test_a_reference_without_a_cell_has_infinite_chi_squared() -> None:
    """A cell that the reference excludes makes χ² infinite, not an error."""
    assert compare(np.array([0.5, 0.5]), np.array([1.0, 0.0]), 10).chi_squared == math.inf


def test_comparing_lines_the_attributes_up_by_name() -> None:
    """The order of another table's axes does not matter; other cells are an error."""
    one = table("maximum-likelihood")
    assert one.compare(one.marginalize(["cheated", "sex"])).total_variation == 0
    with pytest.raises(EstimationError, match="different cells"):
        one.compare(np.ones(3) / 3)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_for_each_cell(backend: str) -> None:
    """Six cells, with estimate, error, bounds, people, method and design."""
    found = table().to_frame(backend)  # type: ignore[arg-type]
    assert found.shape == (6, 11)
    columns = found.column_names if backend == "pyarrow" else list(found.columns)
    assert columns == [
        "sex", "cheated", "estimate", "se", "low", "high", "worth", "n", "level", "method",
        "design",
    ]  # fmt: skip


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame of a library that is not installed says what to install."""
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(MissingExtraError, match=r"deniable\[polars\]"):
        table().to_frame("polars")


def test_text_fits_80_columns() -> None:
    """However long the names, a printed table stays within the terminal."""
    long = table().named({"sex": ("a" * 60, "b"), "cheated": ("n" * 50, "o", "f")})
    lines = str(long.noting("a remark")).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("sex × cheated, 20,000 people, unbiased")
    assert any(line.startswith("The table is worth") for line in lines)


def test_labels_cut_to_fit_stay_apart() -> None:
    """Eight long labels beside each other leave the numbers whole and are told apart."""
    ways = 5
    truth = np.full((2,) * ways, 0.5**ways)
    names = tuple(f"attribute-number-{number}" for number in range(ways))
    channels = (k_ary(3.0, 2),) * ways
    wide = Study(names, truth, (Experiment(900, channels, tuple((w,) for w in range(ways))),))
    found = METHODS["unbiased"].estimate(wide.draw(rng()), names, rng=rng())
    lines = str(found.named(dict.fromkeys(names, ("married, apart", "married, along"))))
    rows = [line for line in lines.splitlines() if " – " in line]
    assert len({row[:43] for row in rows}) == len(rows) == 2**ways
    assert all(len(row) <= 80 and row.split()[-1].isdigit() for row in rows)


def test_remarks_are_wrapped_not_cut() -> None:
    """A long note is read to its end at 80 columns."""
    long = "a note " * 30 + "with an end"
    lines = str(table().noting(long)).splitlines()
    assert max(map(len, lines)) <= 80
    assert "with an end." in " ".join(lines)


def test_a_table_says_how_it_was_collected() -> None:
    """Channels, views, blocks and the most an answer cost, rounded up."""
    found = table().collected
    assert found is not None
    assert (found.kinds, len(found.views), len(found.blocks)) == (("k-ary",), 1, 1)
    assert 3.999 < found.epsilon <= 4.0
    assert "k-ary, 1 view, 1 block, ε per answer at most 4.000" in str(found)
    halves = (
        Experiment(500, (k_ary(1.0, 6),), ((0, 1),)),
        Experiment(500, (k_ary(1.0, 2),), ((0,),)),
    )
    two = Study(("sex", "cheated"), TRUTH, halves)
    seen = METHODS["maximum-likelihood"].estimate(two.draw(rng()), two.names, rng=rng()).collected
    assert seen is not None
    assert (len(seen.views), len(seen.blocks)) == (2, 1)


def test_html_escapes_names() -> None:
    """A category called like markup stays text in a notebook."""
    page = table().named({"sex": ("<b>", "male")})._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page


def test_a_large_table_knows_its_variances_without_a_matrix() -> None:
    """65,536 cells: variances and a marginal's covariance come axis by axis."""
    lens = k_ary(3.0, 16)
    shape = (16, 16, 16, 16)
    dice = rng()
    codes = [dice.integers(0, 16, 5000)[:, None] for _ in shape]
    groups = tuple((axis,) for axis in range(4))
    batch = Batch(groups, (lens,) * 4, tuple(codes), np.ones(5000, np.int64))
    evidence = Evidence(("a", "b", "c", "d"), shape, (batch,))
    joint = METHODS["unbiased"].estimate(evidence, ("a", "b", "c", "d"), rng=dice)
    assert isinstance(joint.covariance, Dispersion)
    alone = METHODS["unbiased"].estimate(evidence, ("b",), rng=dice)
    margin = joint.marginalize(["b"])
    np.testing.assert_allclose(margin.estimate, alone.estimate, atol=1e-9)
    np.testing.assert_allclose(margin.standard_error, alone.standard_error, rtol=1e-6)
    with pytest.raises(EstimationError, match="not laid out"):
        joint.covariance.dense()
