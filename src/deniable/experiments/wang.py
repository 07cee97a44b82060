"""Wang, Wu & Hu's two ways to randomize one answer: k-ary, and Laplace noise that is rounded.

The people are made up: YesiWell is not public. There are as many as in the source, 248, with
an LDL level of six and a total cholesterol of three that rises with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from deniable.channels import epsilon_of, k_ary, rounded_laplace
from deniable.errors import DataError
from deniable.estimation.bound import channel_matrix
from deniable.experiments.population import Population, read_population

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from deniable.channels import Channel
    from deniable.experiments.experiment import Setting

    Array = NDArray[np.float64]

Way: TypeAlias = Literal["k-ary", "Laplace"]

WAYS: Final[tuple[Way, ...]] = ("k-ary", "Laplace")
BUILD: Final[dict[Way, Callable[[float, int], Channel]]] = {
    "k-ary": k_ary,
    "Laplace": rounded_laplace,
}

PEOPLE: Final = 248
LEVELS: Final = (0.11, 0.22, 0.27, 0.20, 0.13, 0.07)
"""Made-up shares of LDL's six levels."""

RISE: Final = 1.3
"""How fast the odds of a higher total cholesterol rise from one level of LDL to the next."""


@dataclass(frozen=True, slots=True, eq=False)
class Randomized:
    """One attribute and how it is randomized.

    Attributes:
        matrix: P(report | answer), a column for each answer (Wang eq. 4, 13).
        epsilon: The true level, rounded up.
    """

    matrix: Array
    epsilon: float

    @property
    def inverse(self) -> Array:
        """Return P⁻¹ (eq. 17)."""
        inverse: Array = np.asarray(np.linalg.inv(self.matrix), np.float64)
        return inverse

    @property
    def diagonal(self) -> float:
        """Return the sum of the diagonal, which Results 1–4 maximize."""
        return float(np.trace(self.matrix))

    def guessing_error(self, shares: Array) -> float:
        """Return the mean over people of 1 − Pr(x → x̂) (eq. 5, 12, 14).

        The guess x̂ is drawn from what is likely after the report: Pr(x = v → x̂ = v) =
        Σ_u P(u | v)·P(v | u).
        """
        joint = self.matrix * shares
        return float(1 - np.sum(joint**2 / joint.sum(axis=1, keepdims=True)))

    def dispersion(self, shares: Array, people: int) -> Array:
        """Return P⁻¹(diag λ − λλᵀ)P⁻ᵀ/(n − 1) at the true shares (eq. 18)."""
        return dispersion(self.inverse, self.matrix @ shares, people)

    def noise(self, shares: Array, people: int) -> Array:
        """Return the part of it that the coins have: the dispersion about these people's shares.

        P⁻¹·Σ_v π_v(diag p_v − p_v·p_vᵀ)·P⁻ᵀ/n, p_v the column of the answer v.
        """
        spread = np.diag(self.matrix @ shares) - (self.matrix * shares) @ self.matrix.T
        result: Array = self.inverse @ spread @ self.inverse.T / people
        return result


def randomized(way: Way, epsilon: float, size: int) -> Randomized:
    """Return the optimal matrix of a way (Results 1–4), in exact integers."""
    channel = BUILD[way](epsilon, size)
    return Randomized(channel_matrix(channel), epsilon_of(channel))


def together(first: Randomized, second: Randomized) -> Randomized:
    """Return two attributes that are randomized one by one (eq. 22). Their levels add up."""
    matrix = np.asarray(np.kron(first.matrix, second.matrix), np.float64)
    return Randomized(matrix, first.epsilon + second.epsilon)


def dispersion(inverse: Array, reported: Array, people: int) -> Array:
    """Return eq. 18, the dispersion of π̂ = P⁻¹λ̂."""
    spread = np.diag(reported) - np.outer(reported, reported)
    result: Array = inverse @ spread @ inverse.T / (people - 1)
    return result


def reported(counts: Array, matrix: Array, rng: np.random.Generator) -> Array:
    """Return the shares of the reports of so many people with each answer."""
    drawn = sum(
        rng.multinomial(int(count), column) for count, column in zip(counts, matrix.T, strict=True)
    )
    result: Array = drawn / counts.sum()
    return result


def people_of(setting: Setting) -> Population:
    """Return the people of a file, or made-up ones."""
    if setting.data is None:
        return made_up()
    found = read_population(setting.data)
    if len(found.sizes) != 2:  # noqa: PLR2004 -- LDL and TC
        problem = "this experiment is about two attributes"
        expected = "a CSV file of two columns whose categories sort into their order"
        raise DataError(problem, given=f"{len(found.sizes)} columns", expected=expected)
    return found


def made_up() -> Population:
    """Return 248 people with an LDL level and a total cholesterol, the same each time."""
    level = np.arange(len(LEVELS)) - (len(LEVELS) - 1) / 2
    odds = np.exp(RISE * np.multiply.outer(level, np.arange(3) - 1.0))
    table = np.array(LEVELS)[:, None] * odds / odds.sum(axis=1, keepdims=True)
    counts = whole(table.reshape(-1) * PEOPLE)
    cells = np.repeat(np.arange(counts.size), counts)
    answers = np.stack(np.unravel_index(cells, table.shape), axis=1)
    return Population(("LDL", "TC"), table.shape, answers.astype(np.int64))


def whole(shares: Array) -> NDArray[np.int64]:
    """Round numbers to integers with the same sum, by largest remainders.

    >>> whole(np.array([1.5, 0.75, 0.75])).tolist()
    [1, 1, 1]
    """
    found = np.floor(shares).astype(np.int64)
    missing = round(float(shares.sum())) - int(found.sum())
    found[np.argsort(found - shares, kind="stable")[:missing]] += 1
    return found


def mean_and_spread(values: Array) -> str:
    """Write a mean and the standard deviation of what it is the mean of."""
    return f"{np.mean(values):.3f} ± {np.std(values):.3f}"
