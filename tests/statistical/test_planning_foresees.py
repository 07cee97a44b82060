"""What a plan foresees is what comes out, for every design; a wrong formula is caught.

Each design is simulated with people whose answers are known. The mean squared error over
the one foreseen has a mean of 1; it is looked at in standard errors of its own. A ratio of
more than 7 such errors comes by chance with odds below 1e-10, and there are 24 of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from deniable.planning import check, plan, prior_of
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from deniable.planning import Check, Plan
    from deniable.schema.privacy import DesignName

SIZES = (2, 3, 2)
ERRORS = 7.0
ROUNDS = 200
WITHIN = 0.03
TRUE = 0.15
OPTIONS: list[tuple[DesignName, dict[str, Any]]] = [
    ("ask-one", {"k": 2, "channel": "k-ary"}),
    ("ask-one", {"k": 3, "channel": "subset"}),
    ("ask-one", {"groups": [["q0", "q1", "q2"], ["q0", "q1"], ["q1", "q2"]]}),
    ("views", {"k": 2}),
    ("independent", {}),
    ("joint", {"channel": "k-ary"}),
    ("joint", {"channel": "subset"}),
    ("clusters", {"clusters": [["q0", "q1"]]}),
    ("rrba", {"k": 2, "block_size": 200}),
]


def survey(design: DesignName, options: dict[str, Any], epsilon: float) -> Survey:
    """Return a small survey."""
    attributes = tuple(
        Attribute.nominal(f"q{place}", [f"c{cell}" for cell in range(size)])
        for place, size in enumerate(SIZES)
    )
    return Survey("example", Schema(attributes), Privacy(epsilon, design, options))


def ratio(
    design: DesignName, options: dict[str, Any], *, uneven: bool, rounds: int, wrong: float = 1.0
) -> tuple[float, float]:
    """Return simulated over foreseen error and its own error; foreseen at another ε if wrong."""
    rng = np.random.default_rng(6)
    asked = survey(design, options, 3.0)
    shares = {
        name: rng.dirichlet(np.full(n, 3.0))
        for name, n in zip(asked.schema.names, SIZES, strict=True)
    }
    guess = prior_of(shares, asked.schema) if uneven else None
    made = plan(asked, 2_000, prior=guess, rng=rng)
    found = check(made.looking_at(made.options[0].label), rng=rng, rounds=rounds)
    if wrong == 1.0:
        return found.ratio
    believed = plan(asked, 2_000, epsilon=3.0 * wrong, prior=guess, rng=rng).options[0]
    names = {table.names for table in believed.tables}
    foreseen = np.mean([t.error(2_000) ** 2 for t in believed.tables])
    truly = np.mean([t.predicted**2 for t in found.tables if t.names in names])
    factor = float(np.sqrt(truly / foreseen))
    return found.ratio[0] * factor, found.ratio[1] * factor


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize(("design", "options"), OPTIONS)
def test_the_error_foreseen_comes_out(
    design: DesignName,
    options: dict[str, Any],
    uneven: bool,  # noqa: FBT001 -- a parameter of a test
) -> None:
    """Within 7 standard errors of the simulation, for even and uneven shares."""
    found, error = ratio(design, options, uneven=uneven, rounds=ROUNDS)
    assert abs(found - 1) < ERRORS * error + (WITHIN if design == "rrba" else 0)
    assert error < 0.03


def test_a_wrong_formula_is_caught() -> None:
    """Formulas for an ε larger by half than the design's miss by more than chance allows."""
    found, error = ratio("ask-one", {"k": 2}, uneven=False, rounds=2 * ROUNDS, wrong=1.5)
    assert abs(found - 1) > ERRORS * error


@pytest.mark.prove
@pytest.mark.parametrize(("design", "options"), OPTIONS)
def test_the_error_foreseen_is_within_three_per_cent(
    design: DesignName, options: dict[str, Any]
) -> None:
    """With many rounds, within 3 % of the simulation."""
    found, error = ratio(design, options, uneven=True, rounds=3_000)
    assert error < WITHIN / 4
    assert abs(found - 1) < WITHIN


def noticed(design: DesignName, believed: float) -> tuple[float, float]:
    """Return power foreseen at one association and the share of tests that noticed another."""
    asked = Survey(
        "example",
        Schema(
            tuple(
                Attribute.nominal(f"q{place}", [f"c{cell}" for cell in range(size)])
                for place, size in enumerate((2, 3))
            )
        ),
        Privacy(3.0, design),
    )
    wanted = plan(asked, association=TRUE, power=0.6)
    people = wanted.options[0].people_for_power(0.6, TRUE, 0.05)
    made = plan(asked, people, association=TRUE).looking_at(wanted.options[0].label)
    found = check(made, rng=np.random.default_rng(7), rounds=ROUNDS).power
    assert found is not None
    (pair,) = made.options[0].pairs
    return made.options[0].power(pair, people, believed, 0.05), found[1]


@pytest.mark.parametrize("design", ["ask-one", "independent"])
def test_the_power_foreseen_comes_out(design: DesignName) -> None:
    """Within 7 standard errors of the share of simulated tests; of another V it would not be."""
    foreseen, found = noticed(design, TRUE)
    assert foreseen == pytest.approx(0.6, abs=0.01)
    error = (0.6 * 0.4 / ROUNDS) ** 0.5
    assert abs(found - foreseen) < ERRORS * error
    wrong, found = noticed(design, 2 * TRUE)
    assert abs(found - wrong) > ERRORS * error


STAGED = [((2, 2), 1.0, 4_000, 0.12), ((2, 4), 1.0, 6_000, 0.15)]
"""Shapes, ε, people, and a V that is noticed about as often as not."""


def staged(
    shape: tuple[int, ...], epsilon: float, people: int, association: float, rounds: int
) -> tuple[Plan, Check]:
    """Return a plan that looks at a two-stage survey, and its simulation."""
    attributes = tuple(
        Attribute.nominal(f"q{place}", [f"c{cell}" for cell in range(size)])
        for place, size in enumerate(shape)
    )
    options = {"block_size": round(0.15 * people), "channel": "k-ary"}
    asked = Survey("example", Schema(attributes), Privacy(epsilon, "two-stage", options))
    rng = np.random.default_rng(8)
    made = plan(asked, people, association=association, rng=rng)
    looked = made.looking_at(made.options[0].label)
    return looked, check(looked, rng=rng, rounds=rounds)


@pytest.mark.parametrize(("shape", "epsilon", "people", "association"), STAGED)
def test_what_is_foreseen_of_two_stages_comes_out(
    shape: tuple[int, ...], epsilon: float, people: int, association: float
) -> None:
    """Error, within 3 % besides, and power within 7 standard errors, for each shape."""
    _, found = staged(shape, epsilon, people, association, ROUNDS)
    ratio_, error = found.ratio
    assert abs(ratio_ - 1) < ERRORS * error + WITHIN
    assert found.power is not None
    foreseen, noticed_ = found.power
    loose = (foreseen * (1 - foreseen) / ROUNDS) ** 0.5
    assert abs(noticed_ - foreseen) < ERRORS * loose


def test_two_stages_taken_for_one_are_caught() -> None:
    """The error of one stage through the first channel misses by more than chance allows."""
    looked, found = staged(*STAGED[0], ROUNDS // 2)
    factor = looked.chosen.error(found.people) / looked.option("ask-one k=2").error(found.people)
    ratio_, error = (factor * one for one in found.ratio)
    assert abs(ratio_ - 1) > ERRORS * error + WITHIN


@pytest.mark.prove
@pytest.mark.parametrize(("shape", "epsilon", "people", "association"), STAGED)
def test_the_error_of_two_stages_is_within_three_per_cent(
    shape: tuple[int, ...], epsilon: float, people: int, association: float
) -> None:
    """With many rounds, within 3 % of the simulation and the chance left in it."""
    _, found = staged(shape, epsilon, people, association, 2_000)
    assert abs(found.ratio[0] - 1) < WITHIN + 2 * found.ratio[1]
