"""The default estimator is never much worse than the simple ones, and mostly much better.

A small guard of what ``./run bench accuracy`` measures in full. Every seed is fixed, so that
nothing here fails by chance; each test shows beside it that a plausible wrong choice is caught.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from deniable.channels import k_ary, subset
from deniable.estimation import METHODS, fit_whole_joint
from deniable.estimation.distinct import distinct_rows
from deniable.estimation.evidence import Evidence, evidence_from_reports
from deniable.estimation.observation import observe
from deniable.estimation.roll import Roll

SEEDS = (1, 2, 3)
SIZES = (3, 2, 4, 2, 3)


def people(kind: str, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw answers that have nothing to do with each other, or all with one hidden trait."""
    trait = rng.integers(0, 6, count) if kind == "alike" else np.zeros(count, int)
    columns = []
    for size in SIZES:
        steps = np.cumsum(rng.dirichlet(np.full(size, 0.4), 6), axis=1)[trait, :-1]
        columns.append((rng.random((count, 1)) > steps).sum(axis=1))
    return np.stack(columns, axis=1)


def evidence_of(answers: np.ndarray, epsilon: float, rng: np.random.Generator) -> Evidence:
    """Randomize attribute by attribute with k-ary channels, in floating point."""
    reports = []
    for column, size in zip(answers.T, SIZES, strict=True):
        keep = (np.exp(epsilon) - 1) / (np.exp(epsilon) + size - 1)
        lies = rng.integers(0, size, len(column))
        reports.append(np.where(rng.random(len(column)) < keep, column, lies))
    names = [f"a{place}" for place in range(len(SIZES))]
    return evidence_from_reports(names, SIZES, [k_ary(epsilon, s) for s in SIZES], reports)


def errors(kind: str, count: int, epsilon: float, *methods: str) -> list[float]:
    """Return the mean total variation of all tables of two and three attributes, by method."""
    found: dict[str, list[float]] = {method: [] for method in methods}
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        answers = people(kind, count, rng)
        evidence = evidence_of(answers, epsilon, rng)
        for method in methods:
            give = METHODS[method].prepare(evidence, rng=np.random.default_rng(seed))
            for width in (2, 3):
                for table in combinations(range(len(SIZES)), width):
                    shape = [SIZES[place] for place in table]
                    cells = np.ravel_multi_index(tuple(answers[:, table].T), shape)
                    truth = np.bincount(cells, minlength=int(np.prod(shape))) / count
                    seen = give([f"a{place}" for place in table]).estimate
                    found[method].append(float(np.abs(seen.reshape(-1) - truth).sum() / 2))
    return [float(np.mean(found[method])) for method in methods]


@pytest.mark.parametrize(("count", "epsilon"), [(1000, 0.5), (5000, 1.0), (3000, 4.0)])
def test_unrelated_attributes_cost_nothing(count: int, epsilon: float) -> None:
    """Where independence is the truth the default is within 5 % of the better simple method."""
    default, independent, projected = errors(
        "unrelated", count, epsilon, "default", "rr-independent", "projected"
    )
    assert default <= 1.05 * min(independent, projected)
    if epsilon <= 1:  # following the reports wherever they lead is caught
        assert projected > 1.05 * default
    else:  # and so is forgetting that the people counted are themselves a sample
        assert independent > 1.05 * default


def test_a_hidden_trait_is_found() -> None:
    """Where people differ in one trait, the default leaves both simple methods far behind."""
    default, independent, projected = errors(
        "alike", 20_000, 1.0, "default", "rr-independent", "projected"
    )
    assert default < 0.75 * min(independent, projected)


def test_the_same_seed_gives_the_same_tables_whatever_the_threads() -> None:
    """A fit is reproducible from its seed."""
    rng = np.random.default_rng(4)
    evidence = evidence_of(people("alike", 2000, rng), 2.0, rng)
    one, other = (
        fit_whole_joint(evidence, rng=np.random.default_rng(7), threads=threads)
        for threads in (1, 2)
    )
    assert np.array_equal(one.table(["a0", "a2", "a4"]), other.table(["a0", "a2", "a4"]))


def test_reports_read_one_by_one_are_summed_as_written() -> None:
    """Of a roll, λ and its transpose are the sums over all cells, for two groups of sets."""
    sizes, rng = (14, 13), np.random.default_rng(5)
    channels = [subset(1.0, size, 4) for size in sizes]
    reports = [
        np.sort(rng.permuted(np.tile(np.arange(size), (1500, 1)), axis=1)[:, :4], axis=1)
        for size in sizes
    ]
    evidence = evidence_from_reports(["a", "b"], sizes, channels, reports)
    (roll,) = observe(evidence, ["b", "a"]).sights
    assert isinstance(roll, Roll)
    table, weights = rng.random((13, 14)), rng.random(len(roll.counts))
    first, second = (
        lens.likelihood[places] for lens, places in zip(roll.lenses, roll.places, strict=True)
    )
    np.testing.assert_allclose(roll.see(table), np.einsum("ya,yb,ba->y", first, second, table))
    np.testing.assert_allclose(
        roll.trace(weights, (13, 14)), np.einsum("y,ya,yb->ba", weights, first, second)
    )


def test_rows_are_told_apart_as_numpy_does() -> None:
    """Whether they fit into one number or not."""
    rng = np.random.default_rng(6)
    for high in (5, 2**40):
        rows = rng.choice(rng.integers(0, high, 6), (50, 3))
        found, places = distinct_rows(rows)
        expected = np.unique(rows, axis=0)
        assert np.array_equal(np.unique(found, axis=0), expected)
        assert len(found) == len(expected)
        assert np.array_equal(found[places], rows)


def test_wide_rows_that_mix_to_the_same_number_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What rows are mixed to only saves time: with a mixture of nothing they still differ."""
    monkeypatch.setattr("deniable.estimation.distinct.SPREAD", np.uint64(0))
    rows = np.random.default_rng(8).choice([1, 2**40], (60, 4))
    found, places = distinct_rows(rows)
    assert np.array_equal(found, np.unique(rows, axis=0))
    assert np.array_equal(found[places], rows)
