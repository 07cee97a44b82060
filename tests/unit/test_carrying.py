"""When a table is too uncertain to be shown, and how many people it would take."""

from __future__ import annotations

import re

import numpy as np
import pytest

from deniable.channels import k_ary
from deniable.errors import EstimationError
from deniable.estimation import METHODS
from deniable.estimation.carrying import require_carried
from deniable.estimation.evidence import evidence_from_reports


def people_needed(share: float, people: int) -> float:
    """Return how many people the refusal names, where a share of the reports said yes."""
    channel = k_ary(1.0, 2)
    reports = (np.arange(people) < round(share * people)).astype(np.int64)
    evidence = evidence_from_reports(["a"], [2], [channel], [reports])
    table = METHODS["clipped"].estimate(evidence, ("a",), rng=np.random.default_rng(1))
    with pytest.raises(EstimationError) as caught:
        require_carried(table)
    found = re.search(r"about ([\d,]+) people", str(caught.value))
    assert found is not None
    return float(found[1].replace(",", ""))


@pytest.mark.parametrize("share", [0.25, 0.3, 0.5])
def test_an_estimate_at_the_edge_asks_for_hundreds_not_for_millions(share: float) -> None:
    """Of 60 people a share looks like 0 by chance; one worth nothing is no base to scale from."""
    assert 100 < people_needed(share, 60) < 2_000


def test_what_is_asked_for_is_enough() -> None:
    """With as many people and the same shares the table is shown."""
    needed = round(people_needed(0.4, 60))
    channel = k_ary(1.0, 2)
    reports = (np.arange(needed) < round(0.4 * needed)).astype(np.int64)
    evidence = evidence_from_reports(["a"], [2], [channel], [reports])
    require_carried(METHODS["clipped"].estimate(evidence, ("a",), rng=np.random.default_rng(1)))


@pytest.mark.parametrize("least", [float("nan"), -3.0, float("inf")])
def test_what_a_table_must_be_worth_is_a_number(least: float) -> None:
    """Anything else is refused in a sentence."""
    channel = k_ary(1.0, 2)
    evidence = evidence_from_reports(["a"], [2], [channel], [np.arange(60) % 2])
    table = METHODS["clipped"].estimate(evidence, ("a",), rng=np.random.default_rng(1))
    with pytest.raises(EstimationError, match="such as 30"):
        require_carried(table, least)
