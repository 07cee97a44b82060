"""Simulated populations are distributed as they say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from deniable.bulk import simulate
from deniable.errors import DataError

PEOPLE = 200_000
FALSE_ALARM = 1e-10

TABLE = np.array([[[1, 0, 3], [4, 5, 6]], [[2, 2, 2], [0, 0, 1]]], float)


def surprise(population: simulate.Population) -> float:
    """Draw people and ask how surprising their frequencies are under the stated joint."""
    people = population.draw(PEOPLE, rng=np.random.default_rng(9))
    seen = simulate.frequencies(people, population.names, population.sizes) * PEOPLE
    truth = population.joint()
    assert seen[truth == 0].sum() == 0
    expected = truth[truth > 0] * PEOPLE
    return float(stats.chisquare(seen[truth > 0], expected * seen.sum() / expected.sum()).pvalue)


POPULATIONS = {
    "independent": simulate.independent({"a": [0.2, 0.8], "b": [0.5, 0.25, 0.25]}),
    "table": simulate.from_table(["a", "b", "c"], TABLE),
    "chain": simulate.chain({"a": 3, "b": 4, "c": 2}, 0.7, rng=np.random.default_rng(1)),
    "collider": simulate.Population(
        (
            simulate.Node("a", (), np.array([0.3, 0.7])),
            simulate.Node("b", (), np.array([0.1, 0.2, 0.7])),
            simulate.Node("c", ("b", "a"), np.full((3, 2, 2), [0.1, 0.9])),
            simulate.Node("d", ("a", "c"), np.array([[[1, 0], [0, 1]], [[0.5, 0.5], [0, 1.0]]])),
        )
    ),
}


@pytest.mark.parametrize("name", POPULATIONS)
def test_people_are_drawn_from_the_stated_joint(name: str) -> None:
    """Frequencies fit the joint distribution; the draw is seeded, so it never fails by chance."""
    assert surprise(POPULATIONS[name]) > FALSE_ALARM


def test_a_table_comes_back_as_the_joint_it_was() -> None:
    """The chain rule loses nothing, empty cells and empty rows included."""
    found = simulate.from_table(["a", "b", "c"], TABLE).joint()
    assert np.allclose(found, TABLE / TABLE.sum())
    assert np.allclose(POPULATIONS["collider"].joint().sum(), 1)


def test_the_same_rng_draws_the_same_people() -> None:
    """Simulation is repeatable; it is no coin."""
    one, two = (POPULATIONS["chain"].draw(50, rng=np.random.default_rng(5)) for _ in range(2))
    assert one == two


def test_resampled_rows_are_rows_of_the_table() -> None:
    """Rows stay whole, and each comes about as often as any."""
    table = pa.table({"a": [1, 2, 3], "b": ["x", "y", "z"]})
    drawn = simulate.resample(table, 30_000, rng=np.random.default_rng(2)).to_pylist()
    counts = [drawn.count(row) for row in table.to_pylist()]
    assert sum(counts) == 30_000
    assert min(counts) > 9_500
    with pytest.raises(DataError, match="nobody"):
        simulate.resample(table.slice(0, 0), 1, rng=np.random.default_rng(2))


@pytest.mark.parametrize(
    ("nodes", "problem"),
    [
        ([("a", (), [0.5, 0.6])], "no distribution"),
        ([("a", (), [1.5, -0.5])], "no distribution"),
        ([("a", (), [0.5, 0.5]), ("a", (), [1.0, 0.0])], "twice"),
        ([("a", ("b",), [[0.5, 0.5]])], "before what it hangs on"),
        ([("a", (), [0.5, 0.5]), ("b", ("a",), [0.5, 0.5])], "do not fit"),
    ],
)
def test_what_is_no_population_is_refused(
    nodes: list[tuple[str, tuple[str, ...], list[float]]], problem: str
) -> None:
    """One sentence says what is wrong."""
    with pytest.raises(DataError, match=problem):
        simulate.Population(tuple(simulate.Node(n, p, np.array(s)) for n, p, s in nodes))
    with pytest.raises(DataError, match="an axis for each"):
        simulate.from_table(["a"], TABLE)
