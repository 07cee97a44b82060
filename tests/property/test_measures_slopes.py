"""The slopes of measures are exact, and their forms agree with each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray  # noqa: TC002 -- hypothesis reads the types

from deniable.estimation.simplex import nearest_proper
from deniable.inference.catalogue import MEASURES
from deniable.inference.measure import Setting
from deniable.inference.replicas import nearest_proper_each

STEP = 1e-5


@st.composite
def tables(draw: st.DrawFn, *, square: bool = False) -> NDArray[np.float64]:
    """Draw a two-way table with no rare cell."""
    shape = (2, 2) if square else (draw(st.integers(2, 4)), draw(st.integers(2, 4)))
    cells = [draw(st.floats(0.2, 1.0)) for _ in range(math.prod(shape))]
    table = np.array(cells).reshape(shape)
    result: NDArray[np.float64] = table / table.sum()
    return result


def numeric(name: str, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the derivative along each difference of a cell and the last, by finite differences."""
    form = MEASURES[name].make(Setting(table.shape, 1000, 0.001))
    found = []
    for cell in range(table.size - 1):
        move = np.zeros(table.size)
        move[cell], move[-1] = STEP, -STEP
        moved = move.reshape(table.shape)
        rise = form.whole.value(table + moved) - form.whole.value(table - moved)
        found.append(float(rise) / (2 * STEP))
    return np.array(found)


@pytest.mark.parametrize("name", [name for name in MEASURES if MEASURES[name].asks != "two by two"])
@given(table=tables())
def test_slopes_of_tables_are_those_of_finite_differences(
    name: str, table: NDArray[np.float64]
) -> None:
    """Within the shares that sum to 1, the exact slope is the numeric one."""
    _compare(name, table)


@pytest.mark.parametrize("name", [name for name in MEASURES if MEASURES[name].asks == "two by two"])
@given(table=tables(square=True))
def test_slopes_of_two_answers_are_those_of_finite_differences(
    name: str, table: NDArray[np.float64]
) -> None:
    """Within the shares that sum to 1, the exact slope is the numeric one."""
    _compare(name, table)


def _compare(name: str, table: NDArray[np.float64]) -> None:
    form = MEASURES[name].make(Setting(table.shape, 1000, 0.001))
    if form.path is not None and name != "entropy":
        distance = form.path.distance(table[None], form.path.anchor(table))
        if distance[0] < 0.01:  # near independence a slope vanishes or jumps
            return
    if name == "entropy" and np.ptp(table) < 0.01:
        return
    exact = form.whole.slope(table).reshape(-1)
    expected = numeric(name, table)
    assert exact[:-1] - exact[-1] == pytest.approx(
        expected, rel=1e-4, abs=1e-4 * np.abs(exact).max()
    )


@given(table=tables(square=True))
def test_a_ratio_is_its_numerator_over_its_denominator(table: NDArray[np.float64]) -> None:
    """What Fieller's interval is about is the measure itself."""
    for measure in MEASURES.values():
        form = measure.make(Setting(table.shape, 1000, 0.001))
        if form.fraction is not None:
            above, below = (float(part.value(table)) for part in form.fraction)
            value = above / below
            expected = math.log(value) if form.carried == "log" else value
            assert float(form.whole.value(table)) == pytest.approx(expected)


@given(table=tables())
def test_many_tables_are_valued_like_each_by_itself(table: NDArray[np.float64]) -> None:
    """Leading axes are tables of their own."""
    other = table[::-1, ::-1]
    for measure in MEASURES.values():
        if measure.asks != "two by two":
            form = measure.make(Setting(table.shape, 1000, 0.001))
            both = form.whole.value(np.stack([table, other]))
            assert both == pytest.approx([float(form.whole.value(one)) for one in (table, other)])


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=8), st.lists(st.floats(-1, 1), min_size=8))
def test_projections_of_many_rows_are_those_of_each(
    first: list[float], second: list[float]
) -> None:
    """The projection row by row is the estimators' own."""
    rows = np.array([first, second[: len(first)]])
    found = nearest_proper_each(rows)
    assert found == pytest.approx(np.stack([nearest_proper(row) for row in rows]), abs=1e-12)
