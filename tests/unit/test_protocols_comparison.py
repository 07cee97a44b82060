"""Designs side by side: the costs are the certified ones, the errors those that come out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from deniable.bulk.keystream import unsafe_seeded
from deniable.cli import main
from deniable.estimation import estimate
from deniable.planning import plan
from deniable.planning.rehearsal import rehearse
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


@pytest.mark.parametrize(
    ("design", "options"),
    [
        ("ask-one", {"channel": "k-ary"}),
        ("ask-one", {"channel": "subset"}),
        ("views", {"channel": "two-coin"}),
        ("joint", {"channel": "subset"}),
        ("independent", {}),
    ],
)
def test_the_error_by_formula_is_the_error_that_comes_out(
    design: str, options: dict[str, object]
) -> None:
    """At even shares the unbiased estimate of a pair is as far off as the design says, ± 15 %."""
    asked = survey(Privacy(4.0, design, options), (2, 3, 2))  # type: ignore[arg-type]
    made = design_for(asked)
    rng = np.random.default_rng(3)
    squares = []
    for seed in range(40):
        answers = rng.integers(0, (2, 3, 2), (3_000, 3))
        joint = rehearse(made, answers, stream=unsafe_seeded(seed, 1), joint=True)
        found = estimate(joint, ["q0", "q1"], rng=rng, method="unbiased").estimate
        squares.append(np.mean((found - 1 / 6) ** 2))
    expected = plan(asked, 3_000).options[0].tables[0].error(3_000)
    assert math.sqrt(np.mean(squares)) == pytest.approx(expected, rel=0.15)


def test_an_option_states_all_three_levels() -> None:
    """Per answer, per respondent (all repeats) and per attribute are told apart."""
    found = plan(survey(Privacy(2.0, "independent", repeats=3)), 1000).options[0]
    assert found.answer == pytest.approx(2.0, abs=1e-6)
    assert found.respondent == pytest.approx(6.0, abs=1e-5)
    assert found.attribute == pytest.approx(0.5, abs=1e-6)
    assert found.people_per_view(1000) == 1000


def test_pairs_that_are_never_asked_are_never_known() -> None:
    """One attribute per respondent tells nothing about pairs."""
    found = plan(survey(Privacy(2.0, "ask-one", {"k": 1})), 1000).options[0]
    assert len(found.blind) == len(found.tables)
    assert math.isinf(found.worst_error(1000))
    assert found.worth(1000) == 0


def test_the_comparison_begins_with_the_survey_s_own_design_and_repeats_none() -> None:
    """Every design is listed once; one that cannot be had is a sentence."""
    made = plan(survey(Privacy(2.0, "rrba")), 1000)
    assert made.options[0].label == "rrba"
    own = plan(survey(Privacy(2.0, "rrba", {"k": 2, "block_size": 70, "floor": 0.2})), 1000)
    assert sorted({option.label for option in own.options}) == sorted(o.label for o in own.options)
    assert len({option.design.digest for option in made.options}) == len(made.options)
    assert not made.refused
    refused = plan(survey(Privacy(20.0, "views", {"k": 1}), (16,) * 8), 1000).refused
    assert any("joint" in sentence for sentence in refused)


def test_the_command_prints_the_design_within_80_columns(tmp_path: Path) -> None:
    """``deniable design`` names views, groups, cells and ε, and marks the survey's own."""
    file = tmp_path / "survey.toml"
    survey(Privacy(2.0, "views", {"k": 2})).dump(file)
    done = CliRunner().invoke(main, ["design", str(file), "--people", "5000", "--views"])
    assert done.exit_code == 0, done.output
    assert "views k=2 *" in done.output
    assert "ε per respondent  2.000" in done.output
    assert "view 0, about 1,667 people: q0 + q3; q1 + q2" in done.output
    assert max(map(len, done.output.splitlines())) <= 80
