"""What holds for every plan, whatever the sizes, the truth and the level."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.planning import plan, prior_of
from deniable.planning.power import (
    mean_power,
    noncentrality_for,
    people_for_power,
    power_of,
    unit_noncentrality,
)
from deniable.schema import Attribute, Privacy, Schema, Survey

SIZES = st.lists(st.integers(2, 5), min_size=2, max_size=4)
LEVELS = st.floats(0.2, 6.0)
FEW = settings(max_examples=20, deadline=None)


def survey(sizes: list[int], epsilon: float) -> Survey:
    """Return a survey of attributes of some sizes."""
    attributes = tuple(
        Attribute.nominal(f"q{place}", [f"c{cell}" for cell in range(size)])
        for place, size in enumerate(sizes)
    )
    return Survey("example", Schema(attributes), Privacy(epsilon))


@FEW
@given(SIZES, LEVELS, st.integers(0, 2**32 - 1))
def test_the_mean_variance_is_the_mean_of_the_variances(
    sizes: list[int], epsilon: float, seed: int
) -> None:
    """The closed sum over the cells equals their own variances, one by one, at any truth."""
    asked = survey(sizes, epsilon)
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(math.prod(sizes))).reshape(sizes)
    made = plan(asked, 1000, prior=prior_of({asked.schema.names: truth}, asked.schema))
    for option in made.options:
        for table in option.tables:
            if table.glimpses:
                assert table.variance == pytest.approx(table.variances.mean(), rel=1e-9)
                assert table.largest_variance >= table.variance * (1 - 1e-9)


@FEW
@given(SIZES, LEVELS)
def test_even_shares_given_as_a_prior_change_nothing(sizes: list[int], epsilon: float) -> None:
    """The formulas for any truth, at the even one, are the closed ones: errors and power."""
    asked = survey(sizes, epsilon)
    even = prior_of(
        {name: np.ones(n) for name, n in zip(asked.schema.names, sizes, strict=True)}, asked.schema
    )
    closed, general = plan(asked, 1000), plan(asked, 1000, prior=even)
    for one, other in zip(closed.options, general.options, strict=True):
        for table, same in zip(one.tables, other.tables, strict=True):
            if not table.glimpses:
                continue
            assert same.error(1000) == pytest.approx(table.error(1000), rel=1e-9)
            assert other.unit(same, 0.1) == pytest.approx(unit_noncentrality(table, 0.1), rel=1e-6)


@FEW
@given(SIZES, LEVELS, st.floats(0.01, 0.3))
def test_the_people_needed_are_enough_and_no_more(
    sizes: list[int], epsilon: float, width: float
) -> None:
    """With the number of people found every interval is as narrow as wanted; with 1 % fewer not."""
    option = plan(survey(sizes, epsilon), width=width).recommended
    needed = option.people_for_width(width, 0.95)
    assert option.width(needed, 0.95) <= width * (1 + 1e-9)
    assert option.width(0.99 * needed, 0.95) > width


@FEW
@given(st.floats(0.1, 0.99), st.integers(1, 200))
def test_the_noncentrality_for_a_power_gives_it(power: float, freedom: int) -> None:
    """``noncentrality_for`` is the inverse of ``power_of``."""
    assert power_of(noncentrality_for(power, freedom), freedom) == pytest.approx(power, abs=1e-6)


@FEW
@given(
    st.lists(st.floats(1e-4, 0.5), min_size=1, max_size=4), st.integers(1, 30), st.floats(0.2, 0.95)
)
def test_the_people_for_a_power_are_just_enough_on_average(
    units: list[float], freedom: int, power: float
) -> None:
    """Over the courses a survey may take the mean power is reached, and not with 1 % fewer."""
    needed = people_for_power(units, freedom, power)
    assert mean_power(units, needed, freedom) >= power - 1e-9
    assert mean_power(units, 0.99 * needed - 1, freedom) < power


@FEW
@given(SIZES, LEVELS)
def test_more_people_and_more_epsilon_never_hurt(sizes: list[int], epsilon: float) -> None:
    """Errors fall with n as 1/√n, and with ε; so does what a liar can do."""
    few, more = plan(survey(sizes, epsilon), 1000), plan(survey(sizes, epsilon * 1.2), 1000)
    for one, other in zip(few.options, more.options, strict=False):
        if one.label == other.label and not one.blind and not one.is_classic:
            assert one.error(4000) == pytest.approx(one.error(1000) / 2)
            assert other.error(1000) <= one.error(1000) * (1 + 1e-9)


@FEW
@given(SIZES, LEVELS)
def test_the_order_of_attributes_in_a_table_does_not_matter(
    sizes: list[int], epsilon: float
) -> None:
    """A table and the same table transposed are known as well."""
    asked = survey(sizes, epsilon)
    names = list(asked.schema.names)
    turned = names[::-1]
    one, other = (plan(asked, 1000, tables=[table]) for table in (names, turned))
    for option in one.options:
        same = other.option(option.label)
        if not option.blind:
            assert option.error(1000) == pytest.approx(same.error(1000), rel=1e-9)
