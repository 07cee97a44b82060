"""An agreement to nothing that can be checked is no agreement."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from deniable.device import Agreement
from deniable.errors import EpsilonError


@pytest.mark.parametrize("floor", ["x", None, -0.1, 1.1, math.nan, True, Decimal("NaN"), [0.1]])
def test_only_a_share_can_be_agreed_to_as_floor(floor: Any) -> None:  # noqa: ANN401 -- anything
    """What is no number from 0 to 1 is one sentence, not an error of Python's."""
    with pytest.raises(EpsilonError, match="floor must lie between 0 and 1"):
        Agreement(1.0, floor=floor)


@pytest.mark.parametrize("floor", [0, 1, 0.25, Decimal("0.25"), np.float32(0.25)])
def test_a_floor_may_be_any_kind_of_number(floor: Any) -> None:  # noqa: ANN401 -- anything
    """Zero and one included."""
    assert 0 <= Agreement(1.0, floor=floor).floor <= 1
