"""A climb settles even where its second step must be taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.estimation.ascent import Ascent
from deniable.estimation.likelihood import Expectation

if TYPE_CHECKING:
    from collections.abc import Iterator


class Hills:
    """A likelihood that says what it was told to say, step after step."""

    offsets = (0, 2)

    def __init__(self, heights: list[float]) -> None:
        self._heights: Iterator[float] = iter(heights)

    def expect(self, weight: np.ndarray, theta: np.ndarray, people: object) -> Expectation:
        """Return the next height."""
        del people
        return Expectation(weight, theta, next(self._heights), 0.0, 0.0)


def test_a_second_step_that_falls_is_taken_back_and_the_climb_goes_on() -> None:
    """Each step after the first overreaches; the one that fell is no camp, and the last is."""
    hills: Any = Hills([0.0, 2.0, 1.0, 3.0, 3.0, 9.0])
    people: Any = None
    climb = Ascent(hills, np.array([1.0]), np.array([[0.4], [0.6]]), people)
    climb.advance(1)
    camp = climb.settle(10)
    assert [one.fitted for one in climb.camps] == [0.0, 2.0, 3.0, 3.0]
    assert camp is climb.camps[-1]


def test_a_climb_whose_very_second_step_falls_still_settles() -> None:
    """There are then no two camps to compare until a third step was made."""
    hills: Any = Hills([0.0, -1.0, 1.0, 1.0])
    people: Any = None
    climb = Ascent(hills, np.array([1.0]), np.array([[0.4], [0.6]]), people)
    assert climb.settle(10).fitted == 1.0
    assert [one.fitted for one in climb.camps] == [0.0, 1.0, 1.0]
