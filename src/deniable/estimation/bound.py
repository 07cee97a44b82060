"""The Cramér–Rao bound: no unbiased estimate of a table from these reports is more precise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.channels import KAry, Matrix, TwoCoin
from deniable.channels.coin import WORD
from deniable.errors import EstimationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from deniable.channels import Channel

    Array = NDArray[np.float64]

MOST_REPORTS = 2**20


@dataclass(frozen=True, slots=True)
class Experiment:
    """How many people report on a table, and how: one block and view.

    Attributes:
        people: Their number, or expected number.
        channels: One for each group.
        axes: For each group, the table's axes that it asks, in the group's order.
    """

    people: float
    channels: tuple[Channel, ...]
    axes: tuple[tuple[int, ...], ...]


def cramer_rao(experiments: Iterable[Experiment], truth: Array) -> Array:
    """Return the smallest covariance matrix of an unbiased estimate at the true distribution.

    Over the flattened cells, within the shares that sum to 1: Z·(Zᵀ·I·Z)⁻¹·Zᵀ, with
    I = Σ n·Lᵀ diag(1/λ) L and Z spanning the differences of cells.

    Raises:
        EstimationError: The experiments together do not tell every cell from the others.
    """
    information = np.zeros((truth.size, truth.size))
    for experiment in experiments:
        likelihood = likelihood_of(experiment, truth.shape)
        seen = likelihood @ truth.reshape(-1)
        used = seen > 0
        rows = likelihood[used]
        information += experiment.people * (rows.T / seen[used]) @ rows
    differences = _differences(truth.size)
    inner = differences.T @ information @ differences
    scale = np.linalg.eigvalsh(inner)
    if scale[0] <= 1e-12 * max(scale[-1], 1e-300):
        problem = "the reports do not determine the table"
        raise EstimationError(problem, expected="a view that asks all its attributes together")
    bound: Array = differences @ np.linalg.solve(inner, differences.T)
    return bound


def channel_matrix(channel: Channel) -> Array:
    """Return P(y|x) as reports × cells, every report that can occur a row."""
    match channel:
        case TwoCoin(head=head, fake=weights):
            return _two_coins(head / WORD, np.array(weights) / WORD)
        case KAry(head=head, size=size):
            fake = np.array([channel.fake_weight(cell) for cell in range(size)]) / WORD
            return _two_coins(head / WORD, fake)
        case Matrix(rows=rows):
            return np.array(rows, dtype=np.float64).T / WORD
        case _:
            reports: list[list[float]] = []
            for report in channel.reports():
                if len(reports) * channel.size > MOST_REPORTS:
                    problem = "a channel of so many reports is not listed"
                    raise EstimationError(problem, expected="fewer cells")
                reports.append([float(channel.probability(report, x)) for x in range(channel.size)])
            return np.array(reports)


def _two_coins(truth: float, fake: Array) -> Array:
    result: Array = truth * np.eye(fake.size) + (1 - truth) * fake[:, None]
    return result


def likelihood_of(experiment: Experiment, shape: Sequence[int]) -> Array:
    """Return P(all groups' reports | cell of the table) as reports × cells."""
    product: Array = np.ones((1, 1))
    for channel in experiment.channels:
        product = np.asarray(np.kron(product, channel_matrix(channel)), dtype=np.float64)
    order = [axis for axes in experiment.axes for axis in axes]
    sizes = [shape[axis] for axis in order]
    cells = np.indices(shape).reshape(len(shape), math.prod(shape))
    columns = np.ravel_multi_index(tuple(cells[axis] for axis in order), sizes)
    result: Array = product[:, columns]
    return result


def _differences(cells: int) -> Array:
    """Return an orthonormal basis of the vectors that sum to 0."""
    full = np.eye(cells) - 1 / cells
    basis: Array = np.linalg.svd(full)[0][:, : cells - 1]
    return basis
